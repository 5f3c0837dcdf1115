// The job with which restartd checks an idle host (core/idle_check.hpp): the parts common to all.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace restart {

constexpr std::string_view check_job_name = "railyard-check";

// For a level of railcheck: a preflight's name (spank_rail(8)), and more minutes than it takes at most.
struct CheckDepth {
    std::string_view word;
    std::uint32_t minutes;
};

constexpr CheckDepth check_depth(std::uint64_t level) {
    constexpr std::array<CheckDepth, 4> depths{{{"off", 1}, {"quick", 5}, {"full", 5}, {"deep", 30}}};
    return depths.at(static_cast<std::size_t>(std::min<std::uint64_t>(level, depths.size() - 1)));
}

} // namespace restart
