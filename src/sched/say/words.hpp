// Phrases shared by sentences about placements.
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
// For `count` names, of which only those shown are requested: name_of(place).
std::string listed(std::size_t count, const std::function<std::string(std::size_t)>& name_of);

// Text from outside as part of a sentence, or of a comment whose parts are separated by ';': truncated to
// `most` bytes with "...", with ';' replaced by ',' and control characters by blanks.
std::string as_phrase(std::string_view text, std::size_t most);
inline constexpr std::size_t longest_shown = 400; // bytes of our text in a job's record

} // namespace sched
