// Words that sentences about placements share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// "1 node", "4 nodes".
std::string plural(std::uint64_t count, std::string_view noun);

// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names);

} // namespace sched
