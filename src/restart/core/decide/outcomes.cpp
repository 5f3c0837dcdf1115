// What happened to the jobs that a fault affected.

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/learn/learn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// A requeued job that is still pending after this long is noted, and its user notified.
constexpr base::Duration long_wait{60'000};

// Work of a start that a fault ended.
struct Work {
    base::Duration lost{}, kept{};
};

Work work_of(const AffectedJob& affected) {
    const auto none = base::Duration::zero();
    const auto stopped = *affected.stopped;
    if (!affected.last || affected.last->committed < affected.started)
        return {std::max(stopped - affected.started, none), none};
    // A checkpoint that was written in parallel with the work contains the state from before that.
    const auto kept = affected.last->committed - base::duration_from_seconds(affected.last->beside_s());
    return {std::max(stopped - kept, none), std::max(kept - affected.started, none)};
}

void settle_running(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job) {
    affected.settled = true;
    const auto nodes = base::fold_hostlist(job.rm.nodes);
    if (has_name(job.rm.nodes, incident.host)) {
        ctx.note(NoteKind::outcome, incident, affected.id,
                 fmt::format("job {} runs on {} again, with {}", affected.shown(), nodes, incident.host));
        return;
    }
    const auto began = std::clamp(job.rm.start, *affected.stopped, std::max(*affected.stopped, ctx.now));
    learn_restart(ctx, incident, *affected.stopped, began);
    const auto lost = work_of(affected).lost + (began - *affected.stopped);
    ctx.state.jobs.at(affected.id).lost_host_seconds +=
        static_cast<std::uint64_t>(lost.count()) * job.rm.node_count / 1000;
    ctx.state.jobs.at(affected.id).requeue_took = began - *affected.stopped;
    ctx.note(NoteKind::outcome, incident, affected.id,
             fmt::format("job {} is RUNNING on {} (restart {}), {} after it stopped; {}", affected.shown(),
                         nodes, job.rm.restarts, base::human_duration(began - *affected.stopped),
                         lost_and_kept(affected)));
}

// A job whose processes took long to end is delayed by the resource manager once they have ended (Slurm:
// until its old credential has expired), after the requeue had set it to begin at once.
bool postponed(const StepContext& ctx, const Incident& incident, const AffectedJob& affected,
               const JobState& job) {
    constexpr std::ptrdiff_t most_changes = 5;
    const auto& intents = incident.intents;
    const auto of_job = [&](const Intent& intent) { return job_of(intent.action) == affected.id; };
    return affected.goal != JobGoal::held && !gate(ctx.state, ctx.policy, ctx.now, incident.host) &&
           job.rm.begin > ctx.now + base::Duration(1'000) &&
           std::none_of(intents.begin(), intents.end(),
                        [&](const Intent& i) { return of_job(i) && !(i.settled() && i.seen); }) &&
           std::count_if(intents.begin(), intents.end(), of_job) < most_changes;
}

// A later start of it has ended or failed, which belongs to another incident.
bool ended_again(const RmJob& job, const AffectedJob& affected) {
    return (job.phase == JobPhase::ended && job.restarts > affected.epoch) ||
           (job.unlaunched && job.restarts > affected.epoch + 1);
}

// It ended while its requeue was under way, and the fault was not the cause.
bool ended_well(const Incident& incident, const AffectedJob& affected, const RmJob& job) {
    const auto* requeue = requeue_of(incident, affected);
    return job.phase == JobPhase::ended && job.failure->code == 0 && !job.failure->unknown &&
           job.restarts == affected.epoch && requeue != nullptr && requeue->progress == Progress::failed &&
           requeue->seen;
}

// For readers who look up either of the two.
void note_submitted(StepContext& ctx, Incident& incident, AffectedJob& affected, const RmJob& next,
                    bool held_for_user) {
    affected.settled = true;
    const auto name = name_of(next);
    const auto held =
        held_for_user ? fmt::format(", which is held: nobody knows whether its user had cancelled job {0}; "
                                    "release job {1} to start it, cancel job {1} to drop it",
                                    affected.shown(), name)
        : affected.goal == JobGoal::held ? ", which is held: release it when its fault is found"
                                         : std::string();
    ctx.note(NoteKind::outcome, incident, affected.id,
             fmt::format("job {} was submitted again as job {}{}", affected.shown(), name, held));
    ctx.note(NoteKind::outcome, incident, next.id,
             fmt::format("job {} is job {} submitted again, whose record was gone{}", name, affected.shown(),
                         held));
}

void settle_job(StepContext& ctx, Incident& incident, AffectedJob& affected) {
    const auto* order = requeue_of(incident, affected);
    if (const auto* again = order == nullptr ? nullptr : as<SubmitAgain>(order->action))
        if (const auto* next = submitted_for(ctx.state, affected.id, affected.epoch))
            return note_submitted(ctx, incident, affected, *next,
                                  again->hold && affected.goal != JobGoal::held);
    const auto found = ctx.state.jobs.find(affected.id);
    const auto* now = found == ctx.state.jobs.end() ? nullptr : &found->second.rm;
    if (now == nullptr || ended_again(*now, affected) || ended_well(incident, affected, *now)) {
        affected.settled = true;
        const bool failed = now != nullptr && (now->phase != JobPhase::ended || now->failure->code != 0);
        ctx.note(NoteKind::outcome, incident, affected.id,
                 fmt::format("job {} {}", affected.shown(), failed ? "failed once more" : "has ended"));
        return;
    }
    if (!affected.stopped) return; // it may still save
    const auto& job = found->second;
    if (affected.goal == JobGoal::inside) return settle_inside(ctx, incident, affected, job);
    const auto* requeue = requeue_of(incident, affected);
    if (requeue == nullptr) return;
    if (affected.goal == JobGoal::held ? requeue->settled() : requeue->progress == Progress::failed) {
        if (!requeue->seen) return; // it may have failed because the job has just ended
        // Some resource managers know the outcome of a leaving job only seconds later.
        if (requeue->progress == Progress::failed && job.rm.phase == JobPhase::completing &&
            job.rm.restarts == affected.epoch)
            return;
        affected.settled = true;
        ctx.note(NoteKind::outcome, incident, affected.id,
                 fmt::format("job {} {}", affected.shown(),
                             requeue->progress == Progress::failed
                                 ? "was not requeued: an administrator must see to it"
                                 : "is held: release it when its fault is found"));
        if (requeue->progress == Progress::failed)
            notify_user(ctx, incident, affected,
                        "this job could not be requeued: an administrator must see to it");
        return;
    }
    if (job.rm.phase == JobPhase::running && job.rm.restarts > affected.epoch)
        return settle_running(ctx, incident, affected, job);
    if (job.rm.phase != JobPhase::pending) return;
    if (postponed(ctx, incident, affected, job)) {
        UpdateJob update{target_of(affected, incident), exclusion_of(ctx, found->second, incident.host), {}};
        start_action(ctx, incident, std::move(update));
    }
    // Since when it has been waiting: the requeue itself may have had to wait for the resource manager.
    const auto since = std::max(*affected.stopped, job.left.value_or(*affected.stopped));
    if (!affected.noted_waiting && ctx.now - since >= long_wait) {
        affected.noted_waiting = true;
        ctx.note(NoteKind::outcome, incident, affected.id,
                 fmt::format("job {} still waits: {}", affected.shown(), job.rm.why));
        notify_user(ctx, incident, affected,
                    fmt::format("this job was requeued and still waited a minute later: {}", job.rm.why));
    }
}

} // namespace

std::string lost_and_kept(const AffectedJob& affected) {
    const auto work = work_of(affected);
    if (*affected.stopped <= affected.started) return "lost nothing: it had not begun";
    const auto lost = base::human_duration(work.lost);
    if (affected.last && affected.last->committed >= affected.started)
        return fmt::format("lost {} of work, kept {} (checkpoint of step {})", lost,
                           base::human_duration(work.kept), affected.last->step);
    return affected.last
               ? fmt::format("lost {} of work, all since its start from step {}", lost, affected.last->step)
               : fmt::format(
                     "lost up to {} of work: its checkpoints, if it has any, are not known to Railyard: "
                     "--ckpt-kind",
                     lost);
}

// Each notification costs the resource manager a call before
// the recovery continues, so they are limited: a host with a thousand small jobs must not delay the others.
void notify_user(StepContext& ctx, Incident& incident, const AffectedJob& affected, std::string_view text) {
    constexpr std::ptrdiff_t most_notified = 50;
    const auto& intents = incident.intents;
    const auto job = ctx.state.jobs.find(affected.id);
    const bool has_record = job == ctx.state.jobs.end() || !job->second.rm.forgotten;
    if (!has_record || gate(ctx.state, ctx.policy, ctx.now, incident.host) ||
        std::count_if(intents.begin(), intents.end(), [](const Intent& intent) {
            return as<NotifyJob>(intent.action) != nullptr;
        }) >= most_notified)
        return;
    const auto cause = incident.kind == IncidentKind::job_failure || incident.kind == IncidentKind::preflight
                           ? incident.what
                       : incident.kind == IncidentKind::node_loss ? incident.host + " was lost"
                       : incident.host.empty()                    ? incident.cause + " has a fault"
                                                                  : incident.host + " has a fault";
    NotifyJob notice{target_of(affected, incident),
                     state_text(fmt::format("{}: {}: {}", incident.id(), cause, text), 300)};
    start_action(ctx, incident, std::move(notice));
}

JobTarget target_of(const AffectedJob& affected, const Incident& incident) {
    return target(affected.id, affected.name, affected.epoch,
                  affected.on.empty() ? incident.host : affected.on.front());
}

const Intent* requeue_of(const Incident& incident, const AffectedJob& affected) {
    const auto found =
        std::find_if(incident.intents.rbegin(), incident.intents.rend(), [&](const Intent& intent) {
            const auto* job = target_of(intent.action);
            return restarts(intent.action) && job->id == affected.id && job->epoch == affected.epoch;
        });
    return found == incident.intents.rend() ? nullptr : &*found;
}

void settle_jobs(StepContext& ctx, Incident& incident) {
    for (auto& affected : incident.jobs)
        if (!affected.settled && affected.goal != JobGoal::stay) settle_job(ctx, incident, affected);
}

} // namespace restart
