// Jobs whose own checks, before their script began, found hosts to be left and no spares for them
// (railrun(1), --preflight): they are requeued without these hosts. It is only their users' report: it moves
// this job alone, drains nothing, and counts neither as a restart nor as a failure of the job.

#include "base/hostlist.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/facts/former_hosts.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace restart {
namespace {

constexpr std::uint32_t most_times = 3; // in a row: then the hosts are not the cause
// A job that still waits after this may have its hosts again: its next preflight checks them again.
constexpr base::Duration kept_off{600'000};

// Why it is not requeued and starts where it is; empty: it is requeued.
std::string why_not(const StepContext& ctx, const JobState& job) {
    if (!job.rm.requeue || job.rm.interactive) return "it may not be requeued (--no-requeue)";
    if (!job.rm.components.empty()) return "it is a heterogeneous job";
    std::vector<std::string> wanted;
    for (const auto& host : job.preflight->without)
        if (has_name(job.rm.required, host)) wanted.push_back(host);
    if (!wanted.empty())
        return fmt::format("its user asks for {} by name (--nodelist)", base::fold_hostlist(wanted));
    if (job.preflight->times >= most_times)
        return fmt::format("it was requeued {} times in a row for its preflight", job.preflight->times);
    if (const auto shut = gate(ctx.state, ctx.policy, ctx.now, std::string_view())) return shut->why;
    return {};
}

void requeue(StepContext& ctx, base::JobId id, JobState& job) {
    auto& preflight = *job.preflight;
    const auto hosts = base::fold_hostlist(preflight.without);
    auto& incident = open_incident(ctx, IncidentKind::preflight, Phase::moving, {},
                                   "preflight: " + preflight.why, ctx.now);
    auto affected = affected_of(id, job, job.rm.restarts);
    affected.goal = JobGoal::elsewhere;
    affected.stopped = affected.started = std::max(ctx.now, job.ran_since); // no work of it is lost
    affected.last = job.commit;
    incident.jobs.push_back(affected);
    ctx.note(NoteKind::decision, incident, id,
             fmt::format("job {} is requeued without {} before it has begun: its preflight says {}",
                         name_of(job.rm), hosts, preflight.why));
    preflight.requeued = ctx.now;
    ++preflight.times;
    std::vector<std::string> exclude;
    for (const auto& host : preflight.without)
        for (auto& name : exclusion_of(ctx, job, host))
            exclude.push_back(std::move(name));
    start_action(ctx, incident,
                 RequeueJob{target_of(incident.jobs.back(), incident), std::move(exclude), false, false,
                            fmt::format("requeued without {}: its preflight ({})", hosts, incident.id()),
                            hosts_of_start(job, job.rm.restarts)});
}

} // namespace

bool preflight_keeps_off(const JobState& job, std::string_view host, base::Time now) {
    const auto& preflight = job.preflight;
    return preflight && preflight->requeued && now - *preflight->requeued < kept_off &&
           has_name(preflight->without, host);
}

void decide_preflights(StepContext& ctx) {
    for (auto& [id, job] : ctx.state.jobs) {
        auto& preflight = job.preflight;
        if (!preflight || !preflight->asks || preflight->requeued || preflight->stays ||
            preflight->epoch != job.rm.restarts || job.rm.phase != JobPhase::running ||
            job_in_flight(ctx.state, id))
            continue;
        auto why = why_not(ctx, job);
        if (why.empty()) {
            requeue(ctx, id, job);
            continue;
        }
        ctx.note_job(NoteKind::decision, job.rm,
                     fmt::format("job {} starts with {} in spite of its preflight: {}", name_of(job.rm),
                                 base::fold_hostlist(preflight->without), why));
        preflight->stays = std::move(why);
    }
}

} // namespace restart
