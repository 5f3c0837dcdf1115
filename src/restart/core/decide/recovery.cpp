// What is done about an incident, from its opening to its close.

#include "base/units.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/former_hosts.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/learn/learn.hpp"
#include "restart/core/repair/repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace restart {
namespace {

HostState& culprit(StepContext& ctx, const Incident& incident) {
    return ctx.state.hosts[incident.host];
}

// What is done about its jobs: "requeue 2 jobs". Without their names: not everyone who may see what happens
// to a host may see all its jobs.
std::string moves(const Incident& incident) {
    std::size_t all = 0, inside = 0;
    for (const auto& affected : incident.jobs) {
        if (!affected.to_move()) continue;
        ++all;
        if (affected.goal == JobGoal::inside) ++inside;
    }
    const auto count = [](std::size_t jobs) { return fmt::format("{} job{}", jobs, jobs == 1 ? "" : "s"); };
    std::string text;
    if (all > inside) text = "requeue " + count(all - inside);
    if (inside > 0)
        text += fmt::format("{}start {} again inside {}", text.empty() ? "" : " and ", count(inside),
                            inside == 1 ? "its allocation" : "their allocations");
    return text;
}

// Whether a drain or a down is still missing, as far as the resource manager can show it.
bool culprit_in_use(const StepContext& ctx, const Incident& incident, const HostState& host) {
    if (!host.node || host_in_flight(ctx.state, incident.host)) return false;
    if (host.lost && unreachable(ctx.state, host) && !host.node->down) return true;
    return !owned_by_others(host) && !(owned_by_us(host) && host.node->drain);
}

// Whether a job stays because moving it would cost more.
bool stays(const Incident& incident) {
    return std::any_of(incident.jobs.begin(), incident.jobs.end(),
                       [](const AffectedJob& affected) { return affected.weighed; });
}

// While the gate is shut, what would be done is only noted, once.
void withhold(StepContext& ctx, Incident& incident, const Shut& shut) {
    const auto noted = std::exchange(incident.withheld, {});
    const auto keep = [&](std::string what, std::optional<base::JobId> job) {
        keep_back(ctx, incident, noted, {std::move(what), job, shut.key, shut.why}, {});
    };
    for (auto& affected : incident.jobs) {
        if (!affected.to_move()) continue;
        keep(affected.goal == JobGoal::inside
                 ? fmt::format("start job {} again inside its allocation", affected.shown())
                 : "requeue job " + affected.shown(),
             affected.id);
        affected.asked = affected.save_by = {}; // asked again later: what it saves now is old by then
    }
    const auto& host = culprit(ctx, incident);
    if (culprit_in_use(ctx, incident, host))
        keep((host.lost ? "set down and drain " : "drain ") + incident.host, {});
    incident.phase = incident.withheld.empty() ? Phase::moving : Phase::withheld;
}

// Whether jobs get no time to save.
bool at_once(const StepContext& ctx, const HostState& host) {
    const auto asking = leave_findings(ctx.state, host);
    return counts_as_lost(host) || std::any_of(asking.begin(), asking.end(), [](const Finding* finding) {
               return finding->severity == Severity::fatal;
           });
}

void announce(StepContext& ctx, Incident& incident) {
    const auto jobs = moves(incident);
    const auto& host = culprit(ctx, incident);
    if (counts_as_lost(host))
        return ctx.note(NoteKind::decision, incident, {},
                        fmt::format("{} is lost: {}", incident.host,
                                    jobs.empty() ? "no job is to be requeued" : jobs + " without it"));
    ctx.note(NoteKind::decision, incident, {},
             jobs.empty()
                 ? fmt::format("drain {}{}", incident.host,
                               stays(incident) ? "; its jobs stay until they end" : "")
                 : fmt::format("{} drain {} and {} without it",
                               at_once(ctx, host) ? "at once" : "let save, then", incident.host, jobs));
}

// Its requeue excludes the culprit; for a common cause all hosts that have it.
std::vector<std::string> culprits_of(StepContext& ctx, JobState& job, const Incident& incident) {
    if (incident.kind != IncidentKind::common_cause) return exclusion_of(ctx, job, incident.host);
    std::vector<std::string> exclude;
    for (const auto& host : hosts_of(incident))
        for (auto& name : exclusion_of(ctx, job, host))
            exclude.push_back(std::move(name));
    return exclude;
}

} // namespace

void move_job(StepContext& ctx, Incident& incident, AffectedJob& affected) {
    const bool inside = affected.goal == JobGoal::inside && start_inside(ctx, incident, affected);
    if (affected.goal == JobGoal::stay) return;
    affected.stopped = !incident.host.empty() && counts_as_lost(culprit(ctx, incident))
                           ? std::max(incident.fault, affected.started)
                           : ctx.now;
    affected.last = ctx.state.jobs.at(affected.id).commit;
    if (!inside) requeue_affected(ctx, incident, affected);
}

bool still_there(const StepContext& ctx, const AffectedJob& affected) {
    const auto found = ctx.state.jobs.find(affected.id);
    return found != ctx.state.jobs.end() && affected.to_move();
}

void ask_to_save(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job) {
    affected.asked = ctx.now;
    affected.save_by = save_deadline(job, ctx.now, ctx.policy);
    affected.last = job.commit;
    ctx.note(NoteKind::action, incident, affected.id,
             fmt::format("job {} is asked to save within {}", affected.shown(),
                         base::human_duration(*affected.save_by - ctx.now)));
}

bool saved(StepContext& ctx, Incident& incident, const AffectedJob& affected) {
    const auto& job = ctx.state.jobs.at(affected.id);
    if (job.rm.restarts > affected.epoch) return true; // another has requeued it
    if (job.rm.phase == JobPhase::ended) return true;  // it failed in the meantime
    if (job.commit && job.commit != affected.last) {
        ctx.note(NoteKind::outcome, incident, affected.id,
                 fmt::format("job {} saved step {} after {}", affected.shown(), job.commit->step,
                             base::human_duration(ctx.now - *affected.asked)));
        return true;
    }
    if (ctx.now < *affected.save_by) return false;
    ctx.note(NoteKind::outcome, incident, affected.id,
             fmt::format("job {} did not save in {}", affected.shown(),
                         base::human_duration(*affected.save_by - *affected.asked)));
    return true;
}

// Whether the results of all actions have been seen.
bool all_seen(const Incident& incident) {
    const auto done_with = [](const AffectedJob& affected) {
        return affected.settled || affected.goal == JobGoal::stay || (affected.to_move() && !affected.asked);
    };
    return all_settled(incident) &&
           std::all_of(incident.intents.begin(), incident.intents.end(),
                       [](const Intent& i) { return i.seen; }) &&
           std::all_of(incident.jobs.begin(), incident.jobs.end(), done_with);
}

namespace {

// What remains to be done about a fault that holds.
void pursue(StepContext& ctx, Incident& incident) {
    if (const auto shut = gate(ctx.state, ctx.policy, ctx.now, incident.host))
        return withhold(ctx, incident, *shut);
    incident.withheld.clear();
    const bool hurry = at_once(ctx, culprit(ctx, incident));
    std::vector<AffectedJob*> ready;
    bool waiting = false, moved = false;
    for (auto& affected : incident.jobs) {
        moved = moved || affected.stopped;
        if (!still_there(ctx, affected)) continue;
        const auto& job = ctx.state.jobs.at(affected.id);
        if (!hurry && !affected.asked && job.connected) ask_to_save(ctx, incident, affected, job);
        if (!hurry && affected.asked && !saved(ctx, incident, affected))
            waiting = true;
        else
            ready.push_back(&affected);
    }
    // The host is drained before its jobs leave, because they may restart at once.
    if (!waiting || moved || !ready.empty()) drain_culprit(ctx, incident);
    for (auto* affected : ready)
        move_job(ctx, incident, *affected);
    incident.phase = waiting ? Phase::saving : Phase::moving;
}

// Some programs end when they have saved as they were asked to: until its time for that has passed it is not
// known whether the job goes on.
bool may_end(const StepContext& ctx, const AffectedJob& affected) {
    const auto job = ctx.state.jobs.find(affected.id);
    return affected.to_move() && affected.asked && ctx.now < *affected.save_by &&
           job != ctx.state.jobs.end() && job->second.rm.restarts == affected.epoch;
}

// What it has ended for is over, but it would be lost.
void start_what_has_ended(StepContext& ctx, Incident& incident) {
    if (gate(ctx.state, ctx.policy, ctx.now, incident.host)) return;
    for (auto& affected : incident.jobs)
        if (may_end(ctx, affected) && ctx.state.jobs.at(affected.id).rm.phase == JobPhase::ended)
            move_job(ctx, incident, affected);
}

// The fault is over, or a person has overruled it: what has not been done yet is dropped.
void let_go(StepContext& ctx, Incident& incident) {
    const bool cleared = !is_faulty(ctx.state, culprit(ctx, incident));
    const auto* cause = explained_by(ctx.state, incident.host);
    const auto why = cleared            ? std::string("cleared")
                     : cause != nullptr ? "the cause is " + cause->cause
                                        : incident.host + " was put back into use";
    const bool explained = cause != nullptr && !cleared; // that incident asks and moves its jobs itself
    if (!explained) start_what_has_ended(ctx, incident);
    const auto waits = [&](const AffectedJob& affected) { return !explained && may_end(ctx, affected); };
    bool moved = false, spared = false;
    for (const auto& affected : incident.jobs) {
        moved = moved || affected.stopped;
        if (!affected.to_move() || waits(affected)) continue;
        spared = true;
        if (const auto job = ctx.state.jobs.find(affected.id);
            job != ctx.state.jobs.end() && job->second.rm.phase != JobPhase::ended)
            ctx.note(NoteKind::outcome, incident, affected.id,
                     fmt::format("job {} goes on where it runs: {}", affected.shown(), why));
    }
    const bool wait = std::any_of(incident.jobs.begin(), incident.jobs.end(), waits);
    std::erase_if(incident.jobs, [&](const AffectedJob& affected) {
        return (affected.to_move() && !waits(affected)) || affected.goal == JobGoal::stay;
    });
    if (spared && !moved && !wait)
        ctx.note(NoteKind::outcome, incident, {}, why + " before any job was moved: nothing is done");
}

void look_after(StepContext& ctx, Incident& incident) {
    const bool withheld = incident.phase == Phase::withheld;
    gather_jobs(ctx, incident);
    if (withheld && !gate(ctx.state, ctx.policy, ctx.now, incident.host)) {
        const auto key = incident.withheld.empty() ? "observe_only" : incident.withheld.front().key;
        ctx.note(NoteKind::decision, incident, {}, key + " is off, and this still holds");
        announce(ctx, incident);
    }
    pursue(ctx, incident);
}

std::string closing(StepContext& ctx, const Incident& incident) {
    const auto& host = culprit(ctx, incident);
    const bool drained_here =
        std::any_of(incident.intents.begin(), incident.intents.end(), [](const Intent& intent) {
            return intent.progress == Progress::done && drains(intent.action);
        });
    if (const auto* cause = explained_by(ctx.state, incident.host); cause != nullptr && owned_by_us(host))
        return fmt::format("closed; {} stays drained until {} is over", incident.host, cause->id());
    if (owned_by_us(host))
        return fmt::format("closed; {} stays out of use until its repair or railctl resume gives it back",
                           incident.host);
    if (owned_by_others(host))
        return fmt::format("closed; {} is kept out of use by {}: {}", incident.host, other_owner(host),
                           host.node->reason);
    if (drained_here)
        return fmt::format("closed; {} was resumed meanwhile by another, which stands", incident.host);
    return "closed";
}

// An operator's request, a change of exclusions or a job's own failure: it consists of its actions only.
bool carry_through(StepContext& ctx, Incident& incident) {
    settle_jobs(ctx, incident);
    incident.phase = all_settled(incident) ? Phase::verifying : Phase::moving;
    if (!all_seen(incident)) return true;
    if (incident.kind != IncidentKind::exclusion) ctx.note(NoteKind::outcome, incident, {}, "closed");
    return false;
}

// At a new fault, or a more severe one.
void begin_recovery(StepContext& ctx, Incident& incident) {
    gather_jobs(ctx, incident);
    if (!gate(ctx.state, ctx.policy, ctx.now, incident.host)) announce(ctx, incident);
    pursue(ctx, incident);
}

// False: it is over and may be removed.
bool advance(StepContext& ctx, Incident& incident) {
    if (incident.kind == IncidentKind::common_cause) return advance_cause(ctx, incident);
    if (incident.kind == IncidentKind::repair) return advance_repair(ctx, incident);
    if (incident.phase == Phase::suspected || incident.phase == Phase::watching) return true;
    if (incident.kind == IncidentKind::mass_silence) return true; // detection ends it
    if (!is_fault(incident.kind)) return carry_through(ctx, incident);
    const bool holds = fault_holds(ctx.state, culprit(ctx, incident));
    if (holds)
        look_after(ctx, incident);
    else
        let_go(ctx, incident);
    settle_jobs(ctx, incident);
    if (!all_settled(incident)) return true;
    if (!holds || incident.phase == Phase::moving) incident.phase = Phase::verifying;
    if (!all_seen(incident) || (holds && !drained_and_empty(ctx.state, incident.host))) return true;
    if (holds && awaits_word_of_jobs(ctx.state, incident)) return true;
    ctx.note(NoteKind::outcome, incident, {}, closing(ctx, incident));
    return false;
}

} // namespace

void requeue_affected(StepContext& ctx, Incident& incident, AffectedJob& affected) {
    auto& job = ctx.state.jobs.at(affected.id);
    count_requeue(job, affected.epoch);
    auto target = target_of(affected, incident);
    auto exclude = culprits_of(ctx, job, incident);
    const bool hold = affected.goal == JobGoal::held;
    const bool ended = job.rm.phase == JobPhase::ended;
    auto comment = requeued_comment(incident, job);
    auto had = hosts_of_start(job, affected.epoch);
    if (job.rm.restarts > affected.epoch && !hold)
        start_action(
            ctx, incident,
            UpdateJob{std::move(target), std::move(exclude), std::move(comment), false, std::move(had)});
    else
        start_requeue(ctx, incident, job.rm,
                      RequeueJob{std::move(target), std::move(exclude), hold, ended, std::move(comment),
                                 std::move(had)});
}

void decide_fresh(StepContext& ctx) {
    for (auto& [number, incident] : ctx.state.incidents)
        if (std::exchange(incident.fresh, false)) {
            note_fault(ctx, incident);
            learn_fault(ctx, incident);
            begin_recovery(ctx, incident);
        }
}

void decide_all(StepContext& ctx) {
    auto& open = ctx.state.incidents;
    for (auto at = open.begin(); at != open.end();)
        at = advance(ctx, at->second) ? std::next(at) : open.erase(at);
}

} // namespace restart
