// Slurm's host lists: "n[001-003,007],login" and the names they stand for (slurm.conf(5), hostlist).
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace base {

// The names in the order written. One bracket pair a name, as Slurm has it for nodes; widths are kept.
// Errors (Code::input): unbalanced brackets, empty names or ranges, a range that runs backwards, more than
// 1,048,576 names. An empty text is an empty list.
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
