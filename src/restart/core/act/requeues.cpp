#include "restart/core/act/act.hpp"

#include <algorithm>
#include <utility>

namespace restart {

void count_requeue(JobState& job, std::uint32_t epoch) {
    if (job.requeued_epoch == epoch) return;
    ++job.requeues;
    job.requeued_epoch = epoch;
}

// A job whose end is unknown waits for its user, who may have cancelled it.
void start_requeue(StepContext& ctx, Incident& incident, const RmJob& job, RequeueJob requeue) {
    if (!job.forgotten) return start_action(ctx, incident, std::move(requeue));
    const bool hold = requeue.hold || (job.failure && job.failure->unknown);
    start_action(
        ctx, incident,
        SubmitAgain{std::move(requeue.job), std::move(requeue.exclude), hold, std::move(requeue.comment)});
}

const RmJob* submitted_for(const State& state, base::JobId job, std::uint32_t epoch) {
    const FormerStart start{job, epoch};
    const auto found = std::find_if(state.jobs.begin(), state.jobs.end(),
                                    [&](const auto& entry) { return entry.second.rm.again == start; });
    return found == state.jobs.end() ? nullptr : &found->second.rm;
}

void uncount_requeue(StepContext& ctx, Incident& incident, const Action& action) {
    const auto* job = target_of(action);
    if (job == nullptr) return;
    std::erase_if(incident.jobs, [&](const AffectedJob& affected) {
        return affected.id == job->id && affected.epoch == job->epoch && !affected.settled;
    });
    const auto found = ctx.state.jobs.find(job->id);
    if (found == ctx.state.jobs.end() || found->second.requeued_epoch != job->epoch) return;
    for (const auto& [number, other] : ctx.state.incidents)
        for (const auto& intent : other.intents) {
            const auto* requeue = as<RequeueJob>(intent.action);
            if (requeue != nullptr && requeue->job.id == job->id && requeue->job.epoch == job->epoch &&
                intent.progress != Progress::obsolete)
                return; // another culprit still requires it
        }
    auto& counted = found->second;
    counted.requeued_epoch.reset();
    if (counted.requeues > 0) --counted.requeues;
    if (!job->host.empty()) return; // else it was requeued for its own failure
    counted.judged_epoch.reset();
    const auto* requeue = as<RequeueJob>(action);
    const auto* again = as<SubmitAgain>(action);
    const bool starts = (requeue != nullptr && !requeue->hold) || (again != nullptr && !again->hold);
    if (starts && counted.crashes.all > 0) {
        --counted.crashes.all;
        if (counted.crashes.futile > 0) --counted.crashes.futile;
    }
}

} // namespace restart
