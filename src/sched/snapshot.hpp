// The state of every host at the moment of a decision.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

enum class HostState : std::uint8_t {
    free,    // may be given to the job
    busy,    // taken by other jobs
    drained, // an administrator or restartd keeps jobs away
    down     // does not answer
};

struct Snapshot {
    // By host index of the fabric; hosts the resource manager does not know are `down`.
    std::vector<HostState> states;
    // Health 0 (avoid) … 1 (sound) by host index; empty: all 1.
    std::vector<float> health;

    // Every host free.
    static Snapshot all_free(const topo::Fabric& fabric);
};

// Lines "HOST STATE [HEALTH]" with Slurm's state words (man sinfo, NODE STATE CODES), as
// `sinfo -h -N -o "%N %T"` prints them: case does not matter; suffix flags (* ~ # ! % $ @ ^ - +) are
// understood; '#' at a line's start is a comment. A host listed twice (two partitions) keeps the worse state.
// Hosts unknown to the fabric are named in `unknown`, not an error.
// Errors (Code::input): "NAME:LINE: …" for a line without a state, an unknown word or a health outside 0…1.
base::Expected<Snapshot> parse_state(std::string_view text, std::string_view name, const topo::Fabric& fabric,
                                     std::vector<std::string>* unknown = nullptr);

} // namespace sched
