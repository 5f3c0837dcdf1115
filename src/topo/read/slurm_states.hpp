// What Slurm says of its hosts, one a line: "HOST STATE [HEALTH]".
#pragma once

#include "base/expected.hpp"
#include "base/host_state.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace topo {

// Slurm's state words (man sinfo, NODE STATE CODES), long and compact, in any case, with suffix flags
// (* ~ # ! % $ @ ^ - +) and further words after '+' ("IDLE+DRAIN"): the worst of what is said. Nothing for an
// unknown word.
std::optional<base::HostState> parse_slurm_state(std::string_view text);

struct StateLine {
    std::vector<std::string> hosts; // a host list is expanded
    base::HostState state = base::HostState::down;
    std::optional<float> health; // 0 (avoid) … 1 (sound)
};

// Each line in turn, as `sinfo -h -N -o "%N %T"` prints them; '#' at a line's start is a comment. Errors
// (Code::input): "NAME:LINE: …" for a line without a state, an unknown word or a health outside 0…1; lines
// before it were handed over.
base::Expected<void> each_state_line(std::string_view text, std::string_view name,
                                     const std::function<void(StateLine)>& line);

} // namespace topo
