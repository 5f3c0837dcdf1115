// Jobs that failed on their own. What a host did to them belongs to the host's incident (jobs.cpp); the other
// failures are theirs, and they are restarted as --restart-on says, until they make no progress any more.

#include "base/units.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/facts/former_hosts.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace restart {
namespace {

std::string exit_of(const RmFailure& failure) {
    return failure.code > 128 ? fmt::format("signal {}", failure.code - 128)
                              : fmt::format("exit status {}", failure.code);
}

// A cause that the host shares with others is not found yet, or is not certain.
bool may_share_a_cause(const StepContext& ctx, const std::string& name, const HostState& host) {
    const auto& incidents = ctx.state.incidents;
    return std::any_of(host.findings.begin(), host.findings.end(),
                       [&](const Finding& finding) { return awaits_company(ctx, host, finding); }) ||
           std::any_of(incidents.begin(), incidents.end(), [&](const auto& entry) {
               return entry.second.kind == IncidentKind::common_cause &&
                      entry.second.phase == Phase::suspected && has_host(entry.second, name);
           });
}

// Whether its hosts have had time to show a fault: each has reported since, or was given up.
bool hosts_have_spoken(const StepContext& ctx, const JobState& job) {
    const auto since = job.left.value_or(job.rm.failure->ended);
    if (ctx.now >= since + ctx.policy.silent + ctx.policy.witness_wait) return true;
    const auto& nodes = nodes_of(job);
    return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& name) {
        const auto host = ctx.state.hosts.find(name);
        if (host == ctx.state.hosts.end() || !host->second.last_report) return true;
        const auto* incident = ctx.state.incident_of(name);
        if (incident != nullptr && incident->phase == Phase::suspected) return false;
        if (may_share_a_cause(ctx, name, host->second)) return false;
        return *host->second.last_report > since;
    });
}

// Whether an incident of a host already includes it.
bool is_anothers(const StepContext& ctx, base::JobId id, std::uint32_t epoch) {
    return std::any_of(ctx.state.incidents.begin(), ctx.state.incidents.end(), [&](const auto& entry) {
        return std::any_of(entry.second.jobs.begin(), entry.second.jobs.end(), [&](const AffectedJob& job) {
            return job.id == id && job.epoch == epoch && job.goal != JobGoal::stay;
        });
    });
}

// Notes once for each start what the gate holds back.
void note_withheld(StepContext& ctx, JobState& job, std::string text) {
    if (std::exchange(job.withheld_epoch, job.rm.restarts) != job.rm.restarts)
        ctx.note_job(NoteKind::decision, job.rm, std::move(text));
}

void judge_failure(StepContext& ctx, base::JobId id, JobState& job) {
    const auto epoch = job.rm.restarts;
    const auto exit = exit_of(*job.rm.failure);
    const auto name = name_of(job.rm);
    if (!job.rm.restart_on.matches(job.rm.failure->code)) {
        job.judged_epoch = epoch;
        return ctx.note_job(NoteKind::decision, job.rm,
                            fmt::format("job {} failed by itself ({}) and is not started again "
                                        "(--restart-on={})",
                                        name, exit, sched::to_string(job.rm.restart_on)));
    }
    if (const auto why = why_not_again(ctx.policy, job.rm); !why.empty()) {
        job.judged_epoch = epoch;
        return ctx.note_job(
            NoteKind::decision, job.rm,
            fmt::format("job {} failed by itself ({}) and cannot be started again: {}", name, exit, why));
    }
    if (const auto shut = gate(ctx.state, ctx.policy, ctx.now, std::string_view()))
        return note_withheld(
            ctx, job,
            fmt::format("job {} failed by itself ({}): would requeue it ({})", name, exit, shut->key));
    job.judged_epoch = epoch;
    auto& incident =
        open_incident(ctx, IncidentKind::job_failure, Phase::moving, {}, exit, job.rm.failure->ended);
    auto affected = affected_of(id, job, epoch);
    affected.stopped = std::max(job.rm.failure->ended, job.ran_since);
    affected.last = job.commit;
    const auto why = crash_loop(job, ctx.policy);
    affected.goal = why.empty() ? JobGoal::elsewhere : JobGoal::held;
    incident.jobs.push_back(affected);
    ctx.note(NoteKind::signal, incident, id, fmt::format("job {} failed by itself: {}", name, exit));
    if (why.empty()) {
        ++job.crashes.futile;
        ++job.crashes.all;
        ctx.note(NoteKind::decision, incident, id,
                 fmt::format("job {} is started again {} (--restart-on={}): failure {} without a newer "
                             "checkpoint",
                             name, from_where(job), sched::to_string(job.rm.restart_on), job.crashes.futile));
    } else {
        job.crashes = {}; // starts from zero when its user has released it
        ctx.note(NoteKind::decision, incident, id, fmt::format("job {} is held: {}", name, why));
    }
    count_requeue(job, epoch);
    auto& placed = incident.jobs.back();
    RequeueJob requeue{target_of(placed, incident),
                       {},
                       !why.empty(),
                       true,
                       why.empty() ? requeued_comment(incident, job) : held_comment(incident, why),
                       hosts_of_start(job, epoch)};
    start_requeue(ctx, incident, job.rm, std::move(requeue));
    if (!why.empty()) notify_user(ctx, incident, placed, fmt::format("this job is held: {}", why));
}

// A job that its hosts could not start (a prolog failed, a launch was refused) is held by the resource
// manager, whatever the reason, after the first failed prolog or too many failed launches. By then the hosts
// are out of use, and it may go to others; but if these fail as well, the hosts are not the cause.
void judge_launch(StepContext& ctx, base::JobId id, JobState& job) {
    constexpr std::uint32_t most_launches = 3;
    const auto epoch = job.rm.restarts;
    const auto name = name_of(job.rm);
    if (const auto shut = gate(ctx.state, ctx.policy, ctx.now, std::string_view()))
        return note_withheld(ctx, job,
                             fmt::format("job {} could not be started ({}): would release it ({})", name,
                                         job.rm.why, shut->key));
    job.judged_epoch = epoch;
    auto& incident = open_incident(ctx, IncidentKind::job_failure, Phase::moving, {},
                                   "could not be started: " + job.rm.why, ctx.now);
    auto affected = affected_of(id, job, epoch - 1);
    affected.started = ctx.now;
    affected.stopped = ctx.now;
    const bool again = job.unlaunched < most_launches;
    affected.goal = again ? JobGoal::elsewhere : JobGoal::stay;
    incident.jobs.push_back(affected);
    ctx.note(NoteKind::signal, incident, id,
             fmt::format("job {} could not be started: {}", name, job.rm.why));
    if (again) {
        ++job.unlaunched;
        ctx.note(NoteKind::decision, incident, id,
                 fmt::format("job {} is released, to start elsewhere", name));
        const auto comment =
            fmt::format("released after a start that failed ({}: {})", incident.id(), job.rm.why);
        start_action(ctx, incident, UpdateJob{target_of(affected, incident), {}, comment, true});
        return;
    }
    const auto why = fmt::format("{} starts in a row failed: look at the hosts' prolog and at the log of {}",
                                 job.unlaunched + 1, ctx.policy.words.controller);
    job.unlaunched = 0; // cleared here, too
    ctx.note(NoteKind::decision, incident, id, fmt::format("job {} stays held: {}", name, why));
    notify_user(ctx, incident, affected, "this job stays held: " + why);
}

} // namespace

std::string crash_loop(const JobState& job, const Policy& policy) {
    const auto& [futile, all, progress] = job.crashes;
    const auto& own = job.rm.restart_max;
    const auto of = [&](std::string_view key, std::uint64_t bound) {
        return own ? fmt::format("--restart-max={}", *own) : fmt::format("{} = {}", key, bound);
    };
    const std::uint64_t no_progress = own ? *own : policy.no_progress;
    const std::uint64_t most = own ? *own : policy.max_requeues;
    if (no_progress != 0 && futile >= no_progress)
        return fmt::format("it failed by itself {} times without a newer checkpoint ({})", futile + 1,
                           of("no_progress", no_progress));
    if (most != 0 && all >= most)
        return fmt::format("it failed by itself {} times in little time ({})", all + 1,
                           of("max_requeues", most));
    return {};
}

// Each takes the resource manager a moment, and faults of hosts must not wait behind the tasks of a broken
// array: the others follow at a later snapshot.
void decide_failures(StepContext& ctx) {
    constexpr std::ptrdiff_t most_at_once = 4;
    const auto under_way = [&] {
        return std::count_if(ctx.state.incidents.begin(), ctx.state.incidents.end(), [](const auto& entry) {
            const auto& intents = entry.second.intents;
            return entry.second.kind == IncidentKind::job_failure &&
                   std::any_of(intents.begin(), intents.end(), [](const Intent& i) { return !i.settled(); });
        });
    };
    auto room = most_at_once - under_way();
    for (auto& [id, job] : ctx.state.jobs) {
        if (room <= 0) return;
        const auto before = ctx.state.next_incident;
        if (job.judged_epoch == job.rm.restarts || job_in_flight(ctx.state, id)) continue;
        if (job.rm.phase == JobPhase::ended && job.rm.failure->is_its_own() &&
            !is_anothers(ctx, id, job.rm.restarts) && hosts_have_spoken(ctx, job))
            judge_failure(ctx, id, job);
        else if (job.rm.phase == JobPhase::pending && job.rm.unlaunched && job.rm.restart == true &&
                 job.rm.restarts > 0)
            judge_launch(ctx, id, job);
        if (ctx.state.next_incident != before) --room;
    }
}

} // namespace restart
