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

// What a fabric holds with every host free.
struct Capacity {
    std::vector<std::vector<std::uint32_t>> units; // [pod][unit]: hosts

    static Capacity of(const topo::Fabric& fabric);

    // The largest gang of ranks in groups of `segment` hosts (0: no groups) that the largest part of a span
    // holds with so many spares beside it, spares included.
    std::uint32_t most(Span span, std::uint32_t segment, std::uint32_t spares) const;
};

struct Submission {
    std::vector<std::string_view> variables; // "RAIL_SPAN=unit", …: the job-control environment
    std::string_view admin_comment;
    std::uint32_t nodes = 1;     // the least it asks for,
    std::uint32_t most = 0;      // and the most; 0: exactly `nodes`
    bool batch = true;           // sbatch; false: salloc or srun
    std::optional<bool> requeue; // --requeue, --no-requeue, or neither
};

struct Accepted {
    Hints hints;
    std::string admin_comment; // what to store
    bool set_requeue = false;  // the job must become requeuable
    std::string note;          // for the user; empty: none
};

// Errors (Code::usage for what contradicts itself; Code::unfit for what this fabric can never hold) are for
// the user. Without `capacity` (no fabric is known) nothing is too large.
base::Expected<Accepted> judge(const Submission& submission, const std::optional<Capacity>& capacity);

// Whether a job with `hints` may have from `nodes` to `most` nodes (0: exactly `nodes`). Errors as above.
base::Expected<void> judge_nodes(const Hints& hints, std::uint32_t nodes, std::uint32_t most,
                                 const std::optional<Capacity>& capacity);

} // namespace sched
