// Jobs of which the resource manager has no record any more.
#include "world.hpp"

using restart::JobPhase;

void World::forget_job(base::JobId id, restart::RmFailure failure, restart::Forgotten how) {
    auto& job = jobs_.at(id);
    fail_job(id, failure.code);
    if (failure.nodes.empty()) failure.nodes = job.rm.failure ? job.rm.failure->nodes : job.rm.nodes;
    failure.ended = now_;
    job.rm.nodes.clear();
    job.rm.phase = JobPhase::ended;
    job.rm.failure = std::move(failure);
    job.rm.forgotten = std::move(how);
    job.fails_at.reset();
    job.run.reset();
}

// The old job is no longer listed as soon as the new one is.
std::optional<base::Error> World::carry_out(const restart::SubmitAgain& action) {
    const auto former = jobs_.extract(action.job.id);
    if (!former) return {}; // it was done
    const auto id = base::JobId(next_job_++);
    auto& job = jobs_[id];
    job.rm = former.mapped().rm;
    job.rm.id = id;
    job.rm.name = to_string(id);
    job.rm.phase = JobPhase::pending;
    job.rm.nodes.clear();
    job.rm.failure.reset();
    job.rm.forgotten.reset();
    job.rm.restarts = 0;
    job.rm.begin = now_;
    job.rm.again = restart::FormerStart{action.job.id, action.job.epoch};
    job.held = action.hold;
    exclude(job, action.exclude);
    return {};
}
