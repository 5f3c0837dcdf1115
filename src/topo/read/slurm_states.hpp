// Slurm's host states, one per line: "HOST STATE [HEALTH]".
#pragma once

#include "base/expected.hpp"
#include "base/host_state.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace topo {

// Slurm's state words (man sinfo, NODE STATE CODES), long and compact, in any case, with suffix flags (* ~ #
// ! % $ @ ^ - +) and additional words after '+' ("IDLE+DRAIN"): the worst of them. Nothing for an unknown
// word.
std::optional<base::HostState> parse_slurm_state(std::string_view text);

struct StateLine {
    std::vector<std::string> hosts; // a host list is expanded
    base::HostState state = base::HostState::down;
    std::optional<float> health; // 0 (avoid) … 1 (healthy)
};

// Each line in turn, in the format of `sinfo -h -N -o "%N %T"`; lines that start with '#' are comments.
// Errors (Code::input): "NAME:LINE: …" for a line without a state, an unknown word or a health outside 0…1;
// the lines before it have been passed on.
base::Expected<void> each_state_line(std::string_view text, std::string_view name,
                                     const std::function<void(StateLine)>& line);

} // namespace topo
