// What is done about an incident, from its opening to its close.

#include "base/units.hpp"
#include "restart/core/health.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// Reasons stay short enough for sinfo -R.
constexpr std::size_t most_reason = 160;

HostState& culprit(Turn& turn, const Incident& incident) {
    return turn.state.hosts[incident.host];
}

std::string reason_of(const Incident& incident) {
    return printable(tagged(incident.id(), incident.what), most_reason);
}

bool to_move(const HurtJob& hurt) {
    return hurt.recover && !hurt.settled && !hurt.stopped;
}

std::string list_jobs(const Incident& incident) {
    std::string list;
    for (const auto& hurt : incident.jobs)
        if (to_move(hurt)) list += fmt::format("{}{}", list.empty() ? "" : ", ", hurt.id);
    return list;
}

// Nothing is done in observe-only mode but to say what would be.
void observe(Turn& turn, Incident& incident, std::string_view host_action) {
    const auto jobs = list_jobs(incident);
    for (auto& hurt : incident.jobs)
        if (to_move(hurt))
            turn.note(NoteKind::decision, incident, hurt.id,
                      fmt::format("would requeue job {} (observe_only)", hurt.id));
    turn.note(NoteKind::decision, incident, 0,
              fmt::format("would {} {} (observe_only)", host_action, incident.host));
    for (auto& hurt : incident.jobs)
        hurt.settled = true;
    incident.drain_decided = incident.down_decided = true;
    incident.phase = Phase::verifying;
}

void drain_culprit(Turn& turn, Incident& incident) {
    if (std::exchange(incident.drain_decided, true)) return;
    const auto& host = culprit(turn, incident);
    const auto not_drained = [&](std::string_view why) {
        turn.note(NoteKind::decision, incident, 0, fmt::format("{} is not drained: {}", incident.host, why));
    };
    if (!host.node) return not_drained("the resource manager does not know it");
    if (ours(host)) return not_drained("it is already: " + host.node->reason);
    if (anothers(host)) return not_drained("another has done so: " + host.node->reason);
    if (const auto bound = drain_bound(turn, host); !bound.empty()) return not_drained(bound);
    Action action;
    action.kind = ActionKind::drain_host;
    action.host = incident.host;
    action.reason = reason_of(incident);
    give(turn, incident, std::move(action));
}

// A dead host is set down so that its jobs end now, and drained so that it does not come back by itself. Its
// down is part of the recovery, which no bound stops; its drain is not.
void down_culprit(Turn& turn, Incident& incident) {
    if (std::exchange(incident.down_decided, true)) return;
    const auto& host = culprit(turn, incident);
    if (!host.node) return;
    const bool drained = ours(host) || anothers(host);
    if (drained && !incident.drain_decided)
        turn.note(NoteKind::decision, incident, 0,
                  fmt::format("{} is not drained: {}: {}", incident.host,
                              ours(host) ? "it is already" : "another has done so", host.node->reason));
    std::string bound;
    if (!drained && !incident.drain_decided) bound = drain_bound(turn, host);
    if (!bound.empty())
        turn.note(NoteKind::decision, incident, 0,
                  fmt::format("{} is set down but not drained: {}", incident.host, bound));
    Action action;
    action.kind = ActionKind::down_host;
    action.host = incident.host;
    action.drain = !drained && !incident.drain_decided && bound.empty();
    if (!drained) action.reason = reason_of(incident);
    incident.drain_decided = true;
    if (!host.node->down || action.drain) give(turn, incident, std::move(action));
}

void move_job(Turn& turn, Incident& incident, HurtJob& hurt) {
    auto& job = turn.state.jobs.at(hurt.id);
    hurt.stopped =
        incident.kind == IncidentKind::node_loss ? std::max(incident.fault, hurt.started) : turn.now;
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
    action.epoch = hurt.epoch;
    action.exclude = {incident.host};
    action.hold = hurt.hold;
    give(turn, incident, std::move(action));
}

// A job that is to move and has not ended meanwhile.
bool still_there(const Turn& turn, const HurtJob& hurt) {
    const auto found = turn.state.jobs.find(hurt.id);
    return found != turn.state.jobs.end() && to_move(hurt);
}

void move_rest(Turn& turn, Incident& incident) {
    for (auto& hurt : incident.jobs)
        if (still_there(turn, hurt)) move_job(turn, incident, hurt);
}

void ask_to_save(Turn& turn, Incident& incident, HurtJob& hurt, const JobState& job) {
    hurt.asked = turn.now;
    hurt.save_by = save_deadline(job, turn.now, turn.policy);
    hurt.last = job.commit;
    turn.note(NoteKind::action, incident, hurt.id,
              fmt::format("job {} is asked to save within {}", hurt.id,
                          base::human_duration(*hurt.save_by - turn.now)));
}

// Whether the job need not be waited for any longer.
bool saved(Turn& turn, Incident& incident, const HurtJob& hurt) {
    const auto& job = turn.state.jobs.at(hurt.id);
    if (job.rm.restarts > hurt.epoch) return true; // another has requeued it
    if (job.commit && job.commit != hurt.last) {
        turn.note(NoteKind::outcome, incident, hurt.id,
                  fmt::format("job {} saved step {} after {}", hurt.id, job.commit->step,
                              base::human_duration(turn.now - *hurt.asked)));
        return true;
    }
    if (turn.now < *hurt.save_by) return false;
    turn.note(
        NoteKind::outcome, incident, hurt.id,
        fmt::format("job {} did not save in {}", hurt.id, base::human_duration(*hurt.save_by - *hurt.asked)));
    return true;
}

bool cleared(Turn& turn, const Incident& incident) {
    const auto& findings = culprit(turn, incident).findings;
    return std::none_of(findings.begin(), findings.end(), [&](const Finding& finding) {
        return std::find(incident.rules.begin(), incident.rules.end(), key_of(finding)) !=
               incident.rules.end();
    });
}

// Jobs that asked for time to save move one by one; true while any is waited for.
bool advance_saving(Turn& turn, Incident& incident) {
    gather_jobs(turn, incident);
    bool waiting = false, moved = false;
    for (auto& hurt : incident.jobs) {
        if (hurt.stopped) moved = true;
        if (!still_there(turn, hurt)) continue;
        const auto& job = turn.state.jobs.at(hurt.id);
        if (!hurt.asked && job.speaks) ask_to_save(turn, incident, hurt, job);
        if (hurt.asked && !saved(turn, incident, hurt)) {
            waiting = true;
            continue;
        }
        drain_culprit(turn, incident);
        move_job(turn, incident, hurt);
        moved = true;
    }
    if (waiting && !moved && cleared(turn, incident)) {
        turn.note(NoteKind::outcome, incident, 0, "cleared before any job was moved: nothing is done");
        for (auto& hurt : incident.jobs)
            hurt.settled = true;
        incident.drain_decided = true;
        incident.phase = Phase::verifying;
    } else if (!waiting) {
        drain_culprit(turn, incident);
        incident.phase = Phase::moving;
    }
    return waiting;
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

void move_from_lost(Turn& turn, Incident& incident) {
    incident.phase = Phase::moving;
    gather_jobs(turn, incident);
    if (turn.policy.observe_only) return observe(turn, incident, "set down and drain");
    const auto jobs = list_jobs(incident);
    turn.note(NoteKind::decision, incident, 0,
              fmt::format("{} is lost: {}", incident.host,
                          jobs.empty() ? "no job is to be requeued"
                                       : fmt::format("requeue job {} without it", jobs)));
    down_culprit(turn, incident);
    move_rest(turn, incident);
}

void move_from_bad(Turn& turn, Incident& incident, bool at_once) {
    gather_jobs(turn, incident);
    if (turn.policy.observe_only) return observe(turn, incident, "drain");
    const auto jobs = list_jobs(incident);
    turn.note(NoteKind::decision, incident, 0,
              jobs.empty() ? fmt::format("drain {}", incident.host)
                           : fmt::format("{} drain {} and requeue job {} without it",
                                         at_once ? "at once" : "let save, then", incident.host, jobs));
    if (!at_once) {
        advance_saving(turn, incident);
        return;
    }
    incident.phase = Phase::moving;
    drain_culprit(turn, incident);
    move_rest(turn, incident);
}

bool advance(Turn& turn, Incident& incident) {
    if (incident.phase == Phase::suspected || incident.phase == Phase::watching) return true;
    const bool wish = incident.kind == IncidentKind::operator_wish;
    // The mode was switched on while this was under way.
    if (turn.policy.observe_only && !wish && incident.phase != Phase::verifying) observe(turn, incident, "drain");
    if (incident.phase == Phase::saving) {
        settle_jobs(turn, incident);
        if (advance_saving(turn, incident)) return true;
    }
    // A job that began on the host before its drain took effect.
    if (!wish && incident.phase == Phase::moving) {
        gather_jobs(turn, incident);
        move_rest(turn, incident);
    }
    settle_jobs(turn, incident);
    if (!std::all_of(incident.intents.begin(), incident.intents.end(),
                     [](const Intent& i) { return i.settled(); }))
        return true;
    incident.phase = Phase::verifying;
    const bool over =
        std::all_of(incident.jobs.begin(), incident.jobs.end(), [](const HurtJob& j) { return j.settled; }) &&
        std::all_of(incident.intents.begin(), incident.intents.end(), [](const Intent& i) { return i.seen; });
    if (!over) return true;
    turn.note(NoteKind::outcome, incident, 0, wish ? "closed" : closing(turn, incident));
    if (!wish)
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
