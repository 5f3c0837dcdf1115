// Slurm's host lists: "n[001-003,007],login" and the names they stand for (slurm.conf(5), hostlist).
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace base {

// The names in the order written, widths kept: "r[0-1]n[0-1]" is r0n0, r0n1, r1n0, r1n1, as in Slurm. Errors
// (Code::input): brackets unbalanced or more than 8 pairs, empty names or ranges, one that runs backwards,
// more than 1,048,576 names or 255 characters beside brackets. An empty text is an empty list.
Expected<std::vector<std::string>> expand_hostlist(std::string_view text);

// The shortest list in the given order: neighbours that count up by one with the same prefix and width are
// folded. expand_hostlist(fold_hostlist(x)) == x.
std::string fold_hostlist(const std::vector<std::string>& names);

// The shortest list of all: in natural order, and each name once.
std::string fold_sorted(std::vector<std::string> names);

// "n2" before "n10": digits compare as numbers, everything else byte by byte. A strict weak order in which
// only equal strings are equivalent.
bool natural_less(std::string_view a, std::string_view b);

} // namespace base
