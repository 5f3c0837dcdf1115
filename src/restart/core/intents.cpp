// Actions from their giving to their end: outcomes, further tries, and what a snapshot tells about those
// that were given before a restart of the daemon.

#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

constexpr std::uint32_t most_refusals = 5; // tries of an action that fails for another reason than absence

// Applies `change` to each intent of the open incidents.
template <class Change> void each_intent(Turn& turn, Change change) {
    for (auto& [number, incident] : turn.state.incidents)
        for (auto& intent : incident.intents)
            change(incident, intent);
}

void fail(Turn& turn, const Incident& incident, Intent& intent, std::string_view why) {
    intent.progress = Progress::failed;
    turn.note(NoteKind::action, incident, intent.action.job,
              fmt::format("{}: not done: {}", describe(intent.action), why));
}

const HostState* host_of(const Turn& turn, const Action& action) {
    const auto found = turn.state.hosts.find(action.host);
    return found == turn.state.hosts.end() ? nullptr : &found->second;
}

// Why an action that waited is no longer to be done; empty: it still is.
std::string overtaken(const Turn& turn, const Action& action) {
    if (turn.policy.observe_only) return "observe_only was set";
    const auto* host = host_of(turn, action);
    switch (action.kind) {
    case ActionKind::drain_host:
        if (host == nullptr || !host->node) return "the resource manager does not know the host";
        if (anothers(*host)) return "another has drained it: " + host->node->reason;
        return {};
    case ActionKind::down_host:
        if (host == nullptr || !host->node) return "the resource manager does not know the host";
        if (!host->lost) return "its agent reports again";
        if (action.drain && anothers(*host)) return "another has drained it: " + host->node->reason;
        return {};
    case ActionKind::resume_host:
        if (host != nullptr && anothers(*host)) return "another has drained it: " + host->node->reason;
        return {};
    case ActionKind::requeue_job:
    case ActionKind::update_job: break;
    }
    return turn.state.jobs.contains(action.job) ? std::string() : "the job has ended";
}

void give_again(Turn& turn, const Incident& incident, Intent& intent) {
    if (const auto why = overtaken(turn, intent.action); !why.empty())
        return fail(turn, incident, intent, why);
    intent.progress = Progress::given;
    turn.emit(intent.action);
}

// Whether the snapshot shows that an action was done.
bool happened(const Turn& turn, const Action& action) {
    const auto* host = host_of(turn, action);
    const bool seen = host != nullptr && host->node.has_value();
    const auto job = turn.state.jobs.find(action.job);
    const auto excluded = [&] {
        const auto& list = job->second.rm.excluded;
        return std::all_of(action.exclude.begin(), action.exclude.end(), [&](const auto& name) {
            return std::find(list.begin(), list.end(), name) != list.end();
        });
    };
    switch (action.kind) {
    case ActionKind::drain_host:
        return seen && ours(*host) && owner_of(host->node->reason) == owner_of(action.reason);
    case ActionKind::down_host: return seen && host->node->down && (!action.drain || ours(*host));
    case ActionKind::resume_host: return seen && !host->node->drain;
    case ActionKind::requeue_job:
        return job != turn.state.jobs.end() && job->second.rm.restarts > action.epoch && excluded();
    case ActionKind::update_job: break;
    }
    return job != turn.state.jobs.end() && (job->second.rm.phase == JobPhase::running || excluded());
}

} // namespace

void give(Turn& turn, Incident& incident, Action action) {
    action.id = fmt::format("{}/{}", incident.id(), incident.next_action++);
    turn.emit(action);
    incident.intents.push_back({std::move(action), Progress::given, {}, 0, false});
}

void take_outcome(Turn& turn, const ActionDone& done) {
    each_intent(turn, [&](Incident& incident, Intent& intent) {
        if (intent.action.id != done.action || intent.settled()) return;
        if (!done.error) {
            intent.progress = Progress::done;
            turn.note(NoteKind::action, incident, intent.action.job, describe(intent.action));
            return;
        }
        const bool away = done.error->code == base::Code::unavailable;
        if (away) turn.state.rm_answers = false;
        ++intent.tries;
        if (!away && (done.error->code == base::Code::not_found || done.error->code == base::Code::denied ||
                      intent.tries >= most_refusals))
            return fail(turn, incident, intent, done.error->text);
        const auto wait =
            std::min(turn.policy.retry_most, base::Duration(1'000) * (1 << std::min(intent.tries - 1, 16u)));
        intent.progress = Progress::waiting;
        intent.next_try = turn.now + wait;
        turn.changed();
        if (intent.tries == 1)
            turn.note(NoteKind::action, incident, intent.action.job,
                      fmt::format("{}: {}; tried again", describe(intent.action), done.error->text));
    });
}

void doubt_given(Turn& turn) {
    each_intent(turn, [&](Incident&, Intent& intent) {
        if (intent.progress == Progress::given) intent.progress = Progress::doubtful;
    });
    turn.changed();
}

void reconcile(Turn& turn) {
    each_intent(turn, [&](Incident& incident, Intent& intent) {
        if (intent.settled()) intent.seen = true;
        if (intent.progress != Progress::doubtful) return;
        if (!happened(turn, intent.action)) return give_again(turn, incident, intent);
        intent.progress = Progress::done;
        intent.seen = true;
        turn.note(NoteKind::action, incident, intent.action.job,
                  describe(intent.action) + ": was done before restartd was restarted");
    });
}

void retry_waiting(Turn& turn, bool all_now) {
    each_intent(turn, [&](Incident& incident, Intent& intent) {
        if (intent.progress == Progress::waiting && (all_now || turn.now >= intent.next_try))
            give_again(turn, incident, intent);
    });
}

} // namespace restart
