#include "restart/rm/slurm_free.hpp"

#include "restart/core/facts/kept_out.hpp"
#include "restart/rm/slurm_reading.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {

using base::Code;
using base::Error;

base::Expected<void> can_be_freed(const RmNode& node, const FreeHost& action,
                                  std::span<const job_info_t> jobs) {
    if (!is_our_drain(node))
        return Error{Code::denied,
                     fmt::format("{} is not drained by Railyard any more: {}", node.name, node.reason)};
    for (const auto& raw : jobs) {
        const auto word = raw.job_state & JOB_STATE_BASE;
        const bool there =
            word == JOB_RUNNING || word == JOB_SUSPENDED || (raw.job_state & JOB_COMPLETING) != 0;
        if (!there) continue;
        const auto nodes = names_of(raw.nodes);
        if (std::find(nodes.begin(), nodes.end(), node.name) == nodes.end()) continue;
        const auto job = read_job(raw);
        const bool named = std::find(action.jobs.begin(), action.jobs.end(), job.id) != action.jobs.end();
        if (named && job.no_kill && job.phase == JobPhase::running && nodes.size() > 1) continue;
        return Error{Code::denied, fmt::format("job {} is on {} and would end", job.name, node.name)};
    }
    return {};
}

} // namespace restart
