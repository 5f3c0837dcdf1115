// Words that sentences about placements share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// "1 node", "4 nodes".
std::string plural(std::uint64_t count, std::string_view noun);

// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names);
// Of so many names, of which only those that are shown are asked for: name_of(place).
std::string listed(std::size_t count, const std::function<std::string(std::size_t)>& name_of);

// Text from outside as a part of a sentence or of a comment whose parts are separated by ';': cut at that
// many bytes with "...", ',' for ';' and blanks for control characters.
std::string as_phrase(std::string_view text, std::size_t most);
inline constexpr std::size_t longest_shown = 400; // bytes of what we say in a job's record

} // namespace sched
