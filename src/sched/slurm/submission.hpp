// What becomes of a job's flags when it is submitted or changed: refused with a sentence, or accepted and
// written into admin_comment (hints.hpp). Pure.
#pragma once

#include "base/expected.hpp"
#include "sched/hints.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// The largest gangs a fabric holds, with every host free.
struct Limits {
    std::uint32_t unit = 0, pod = 0,
                  fabric = 0; // hosts in the largest unit, in the largest pod, in all units

    static Limits of(const topo::Fabric& fabric);
};

struct Submission {
    std::vector<std::string_view> variables; // "RAIL_SPAN=unit", …: the job-control environment
    std::string_view admin_comment;
    std::uint32_t nodes = 1;     // the least it asks for
    bool batch = true;           // sbatch; false: salloc or srun
    std::optional<bool> requeue; // --requeue, --no-requeue, or neither
};

struct Accepted {
    Hints hints;
    std::string admin_comment; // what to store
    bool set_requeue = false;  // the job must become requeuable
    std::string note;          // for the user; empty: none
};

// Errors (Code::usage; Code::unfit for a span that can never hold the job) are for the user. Without
// `limits` (no fabric is known) no span is too small.
base::Expected<Accepted> judge(const Submission& submission, const std::optional<Limits>& limits);

// A change of a job that has `hints` to `nodes` nodes at least. Errors as above.
base::Expected<void> judge_nodes(const Hints& hints, std::uint32_t nodes,
                                 const std::optional<Limits>& limits);

} // namespace sched
