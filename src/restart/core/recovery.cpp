// What is done about an incident, from its opening to its close.

#include "base/units.hpp"
#include "restart/core/health.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace restart {
namespace {

HostState& culprit(Turn& turn, const Incident& incident) {
    return turn.state.hosts[incident.host];
}

bool to_move(const HurtJob& hurt) {
    return hurt.recover && !hurt.settled && !hurt.stopped;
}

std::string list_jobs(const Incident& incident) {
    std::string list;
    for (const auto& hurt : incident.jobs)
        if (to_move(hurt)) list += fmt::format("{}{}", list.empty() ? "" : ", ", hurt.shown());
    return list;
}

// Nothing is done in observe-only mode but to say what would be, once.
void observe(Turn& turn, Incident& incident) {
    for (auto& hurt : incident.jobs)
        if (to_move(hurt) && !std::exchange(hurt.observed, true))
            turn.note(NoteKind::decision, incident, hurt.id,
                      fmt::format("would requeue job {} (observe_only)", hurt.shown()));
    if (!std::exchange(incident.observed, true))
        turn.note(NoteKind::decision, incident, 0,
                  fmt::format("would {} {} (observe_only)",
                              culprit(turn, incident).lost ? "set down and drain" : "drain", incident.host));
    incident.phase = Phase::verifying;
}

// Whether jobs get no time to save.
bool at_once(const Turn& turn, const HostState& host) {
    const auto asking = leave_findings(turn.state, host);
    return gone(host) || std::any_of(asking.begin(), asking.end(), [](const Finding* finding) {
               return finding->severity == Severity::fatal;
           });
}

void announce(Turn& turn, Incident& incident) {
    const auto jobs = list_jobs(incident);
    const auto& host = culprit(turn, incident);
    if (gone(host))
        return turn.note(NoteKind::decision, incident, 0,
                         fmt::format("{} is lost: {}", incident.host,
                                     jobs.empty() ? "no job is to be requeued"
                                                  : fmt::format("requeue job {} without it", jobs)));
    turn.note(NoteKind::decision, incident, 0,
              jobs.empty()
                  ? fmt::format("drain {}", incident.host)
                  : fmt::format("{} drain {} and requeue job {} without it",
                                at_once(turn, host) ? "at once" : "let save, then", incident.host, jobs));
}

void move_job(Turn& turn, Incident& incident, HurtJob& hurt) {
    auto& job = turn.state.jobs.at(hurt.id);
    hurt.stopped = gone(culprit(turn, incident)) ? std::max(incident.fault, hurt.started) : turn.now;
    hurt.last = job.commit;
    // Two culprits of one start both ask for its requeue, each with its exclusion; it happens, and counts,
    // once.
    if (job.requeued_epoch != hurt.epoch) {
        ++job.requeues;
        ++job.fruitless;
        job.requeued_epoch = hurt.epoch;
    }
    Action action;
    action.kind =
        job.rm.restarts > hurt.epoch && !hurt.hold ? ActionKind::update_job : ActionKind::requeue_job;
    action.host = incident.host;
    action.job = hurt.id;
    action.job_name = hurt.name;
    action.epoch = hurt.epoch;
    action.exclude = exclusion_of(turn, job, incident.host);
    action.hold = hurt.hold;
    give(turn, incident, std::move(action));
}

// A job that is to move and has not ended meanwhile.
bool still_there(const Turn& turn, const HurtJob& hurt) {
    const auto found = turn.state.jobs.find(hurt.id);
    return found != turn.state.jobs.end() && to_move(hurt);
}

void ask_to_save(Turn& turn, Incident& incident, HurtJob& hurt, const JobState& job) {
    hurt.asked = turn.now;
    hurt.save_by = save_deadline(job, turn.now, turn.policy);
    hurt.last = job.commit;
    turn.note(NoteKind::action, incident, hurt.id,
              fmt::format("job {} is asked to save within {}", hurt.shown(),
                          base::human_duration(*hurt.save_by - turn.now)));
}

// Whether the job need not be waited for any longer.
bool saved(Turn& turn, Incident& incident, const HurtJob& hurt) {
    const auto& job = turn.state.jobs.at(hurt.id);
    if (job.rm.restarts > hurt.epoch) return true; // another has requeued it
    if (job.commit && job.commit != hurt.last) {
        turn.note(NoteKind::outcome, incident, hurt.id,
                  fmt::format("job {} saved step {} after {}", hurt.shown(), job.commit->step,
                              base::human_duration(turn.now - *hurt.asked)));
        return true;
    }
    if (turn.now < *hurt.save_by) return false;
    turn.note(NoteKind::outcome, incident, hurt.id,
              fmt::format("job {} did not save in {}", hurt.shown(),
                          base::human_duration(*hurt.save_by - *hurt.asked)));
    return true;
}

// What is still to be done about a fault that holds.
void pursue(Turn& turn, Incident& incident) {
    const bool hurry = at_once(turn, culprit(turn, incident));
    std::vector<HurtJob*> ready;
    bool waiting = false, moved = false;
    for (auto& hurt : incident.jobs) {
        moved = moved || hurt.stopped;
        if (!still_there(turn, hurt)) continue;
        const auto& job = turn.state.jobs.at(hurt.id);
        if (!hurry && !hurt.asked && job.speaks) ask_to_save(turn, incident, hurt, job);
        if (!hurry && hurt.asked && !saved(turn, incident, hurt))
            waiting = true;
        else
            ready.push_back(&hurt);
    }
    // New jobs are kept away before the old ones leave, which may begin again at once.
    if (!waiting || moved || !ready.empty()) keep_out(turn, incident);
    for (auto* hurt : ready)
        move_job(turn, incident, *hurt);
    incident.phase = waiting ? Phase::saving : Phase::moving;
}

// The fault is over, or a person uses the host all the same: what was not done yet is not done.
void let_go(Turn& turn, Incident& incident) {
    const bool cleared = !is_faulty(turn.state, culprit(turn, incident));
    const auto why = cleared ? std::string("cleared") : incident.host + " was put back into use";
    bool moved = false, spared = false;
    for (const auto& hurt : incident.jobs) {
        moved = moved || hurt.stopped;
        if (!to_move(hurt) || hurt.observed) continue;
        spared = true;
        if (turn.state.jobs.contains(hurt.id))
            turn.note(NoteKind::outcome, incident, hurt.id,
                      fmt::format("job {} goes on where it runs: {}", hurt.shown(), why));
    }
    std::erase_if(incident.jobs, [](const HurtJob& hurt) { return to_move(hurt) || !hurt.left.empty(); });
    if (spared && !moved)
        turn.note(NoteKind::outcome, incident, 0, why + " before any job was moved: nothing is done");
}

// What was only observed is weighed anew when it may be acted on.
void forget_observed(Turn& turn, Incident& incident) {
    std::erase_if(incident.jobs, [](const HurtJob& hurt) { return hurt.observed && !hurt.stopped; });
    incident.observed = false;
    gather_jobs(turn, incident);
}

void look_after(Turn& turn, Incident& incident) {
    gather_jobs(turn, incident);
    if (turn.policy.observe_only) return observe(turn, incident);
    if (incident.observed) {
        forget_observed(turn, incident);
        turn.note(NoteKind::decision, incident, 0, "observe_only is off, and this still holds");
        announce(turn, incident);
    }
    pursue(turn, incident);
}

std::string closing(Turn& turn, const Incident& incident) {
    const auto& host = culprit(turn, incident);
    const bool drained_here =
        std::any_of(incident.intents.begin(), incident.intents.end(), [](const Intent& intent) {
            const auto& action = intent.action;
            return intent.progress == Progress::done &&
                   (action.kind == ActionKind::drain_host || action.drain);
        });
    if (ours(host)) return fmt::format("closed; {} stays out of use until it is resumed", incident.host);
    if (anothers(host))
        return fmt::format("closed; {} is kept out of use by another: {}", incident.host, host.node->reason);
    if (drained_here)
        return fmt::format("closed; {} was resumed meanwhile by another, which stands", incident.host);
    return "closed";
}

bool all_settled(const Incident& incident) {
    return std::all_of(incident.intents.begin(), incident.intents.end(),
                       [](const Intent& i) { return i.settled(); });
}

// Nothing is left to be seen of what was done.
bool all_seen(const Incident& incident) {
    const auto done_with = [](const HurtJob& hurt) {
        return hurt.settled || hurt.observed || !hurt.left.empty();
    };
    return all_settled(incident) &&
           std::all_of(incident.intents.begin(), incident.intents.end(),
                       [](const Intent& i) { return i.seen; }) &&
           std::all_of(incident.jobs.begin(), incident.jobs.end(), done_with);
}

// A person's wish, or a change of exclusions: its actions are all there is to it.
bool carry_through(Turn& turn, Incident& incident) {
    incident.phase = all_settled(incident) ? Phase::verifying : Phase::moving;
    if (!all_seen(incident)) return true;
    if (incident.kind == IncidentKind::operator_wish) turn.note(NoteKind::outcome, incident, 0, "closed");
    return false;
}

} // namespace

Incident& open_incident(Turn& turn, IncidentKind kind, Phase phase, std::string host, std::string what,
                        base::Time fault) {
    const auto number = turn.state.next_incident++;
    auto& incident = turn.state.incidents[number];
    incident.number = number;
    incident.kind = kind;
    incident.phase = phase;
    incident.host = std::move(host);
    incident.what = printable(what, 512);
    incident.opened = turn.now;
    incident.fault = std::min(fault, turn.now);
    turn.changed();
    return incident;
}

void begin_recovery(Turn& turn, Incident& incident) {
    forget_observed(turn, incident);
    if (turn.policy.observe_only) return observe(turn, incident);
    announce(turn, incident);
    pursue(turn, incident);
}

bool advance(Turn& turn, Incident& incident) {
    if (incident.phase == Phase::suspected || incident.phase == Phase::watching) return true;
    if (!is_fault(incident.kind)) return carry_through(turn, incident);
    const bool holds = fault_holds(turn.state, culprit(turn, incident));
    if (holds)
        look_after(turn, incident);
    else
        let_go(turn, incident);
    settle_jobs(turn, incident);
    if (!all_settled(incident)) return true;
    if (!holds || incident.phase == Phase::moving) incident.phase = Phase::verifying;
    if (!all_seen(incident) || (holds && !kept_clear(turn.state, incident.host))) return true;
    turn.note(NoteKind::outcome, incident, 0, closing(turn, incident));
    if (const auto host = turn.state.hosts.find(incident.host); host != turn.state.hosts.end())
        remember_fault(host->second, turn.now);
    return false;
}

void advance_all(Turn& turn) {
    auto& open = turn.state.incidents;
    for (auto at = open.begin(); at != open.end();)
        at = advance(turn, at->second) ? std::next(at) : open.erase(at);
}

} // namespace restart
