// What happens to a job's flags when it is submitted or changed: they are rejected with a sentence, or
// accepted and written into admin_comment (hints.hpp). Pure.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/capacity.hpp"
#include "sched/ask/hints.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

struct Submission {
    std::vector<std::string_view> variables; // "RAIL_SPAN=unit", …: the job-control environment
    std::string_view admin_comment;
    std::uint32_t nodes = 1;     // the minimum that it requests,
    std::uint32_t most = 0;      // and the maximum; 0: exactly `nodes`
    bool batch = true;           // sbatch; false: salloc or srun
    std::optional<bool> requeue; // --requeue, --no-requeue, or neither
    bool no_kill = false;        // --no-kill
    // Slurm's own options of the same meaning, for jobs whose nodes are chosen by Railyard.
    std::uint32_t segment = 0;    // --segment; 0: none
    bool spread_segments = false; // --spread-segments
    // --exclusive=topo if Slurm has no topology.conf: Slurm accepts it, but keeps no node free for it.
    bool exclusive_topo_of_nothing = false;
};

struct Accepted {
    Hints hints;
    std::string admin_comment; // what to store
    bool set_requeue = false;  // the job must become requeuable
    std::string note;          // for the user; empty: none
};

// Errors (Code::usage for contradictions; Code::unfit for what this fabric can never hold) are for the user.
// Without `capacity` (no fabric is known) nothing is too large.
base::Expected<Accepted> judge(const Submission& submission, const std::optional<Capacity>& capacity);

} // namespace sched
