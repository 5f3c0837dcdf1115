// Slurm's host lists: "n[001-003,007],login" and the names they represent (slurm.conf(5), hostlist).
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace base {

// Expands the list in the order written, keeping widths: "r[0-1]n[0-1]" is r0n0, r0n1, r1n0, r1n1, as in
// Slurm. Errors (Code::input): brackets unbalanced or more than 8 pairs, empty names or ranges, a descending
// range, more than 1,048,576 names or 255 characters outside brackets. An empty text is an empty list.
Expected<std::vector<std::string>> expand_hostlist(std::string_view text);

// The shortest list in this order: neighbours of one prefix and width that count up by one are folded.
// expand_hostlist(fold_hostlist(x)) == x.
std::string fold_hostlist(const std::vector<std::string>& names);

// The shortest list possible: in natural order, each name once.
std::string fold_sorted(std::vector<std::string> names);

// "n2" before "n10": digits compare as numbers, everything else byte by byte. A strict weak order in which
// only identical strings are equivalent.
bool natural_less(std::string_view a, std::string_view b);

} // namespace base
