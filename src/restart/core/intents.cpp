// Actions from their giving to their end: outcomes, further tries, and what a snapshot tells about those
// that were given before a restart of the daemon.

#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

const HostState* host_of(const State& state, const Action& action) {
    const auto found = state.hosts.find(action.host);
    return found == state.hosts.end() ? nullptr : &found->second;
}

constexpr std::uint32_t most_refusals = 5; // tries of an action that fails for another reason than absence

// Applies `change` to each intent of the open incidents.
template <class Change> void each_intent(Turn& turn, Change change) {
    for (auto& [number, incident] : turn.state.incidents)
        for (auto& intent : incident.intents)
            change(incident, intent);
}

// Refused for good: whatever still asks for it waits so long before it asks again.
constexpr base::Duration refused_pause{600'000};

void tell_not_done(Turn& turn, const Incident& incident, const Intent& intent, std::string_view why) {
    turn.note(NoteKind::action, incident, intent.action.job,
              fmt::format("{}: not done: {}", describe(intent.action), why));
}

void fail(Turn& turn, const Incident& incident, Intent& intent, std::string_view why) {
    intent.progress = Progress::failed;
    intent.next_try = turn.now + refused_pause;
    tell_not_done(turn, incident, intent, why);
    // What was refused is left to people: the job's list stays as it is.
    const auto job = turn.state.jobs.find(intent.action.job);
    if (intent.action.kind != ActionKind::keep_off || job == turn.state.jobs.end()) return;
    auto& list = intent.action.readmit.empty() ? job->second.hurt_by : job->second.kept_off;
    std::erase_if(list, [&](const std::string& host) { return host == intent.action.host; });
}

// Its turn came too late. Nothing was done; what holds by then decides anew.
void drop(Turn& turn, Incident& incident, Intent& intent, std::string_view why) {
    intent.progress = Progress::overtaken;
    tell_not_done(turn, incident, intent, why);
    if (intent.action.kind == ActionKind::requeue_job) uncount_requeue(turn, incident, intent.action);
}

void give_again(Turn& turn, Incident& incident, Intent& intent) {
    if (const auto why = overtaken(turn.state, turn.policy, intent.action); !why.empty())
        return drop(turn, incident, intent, why);
    intent.progress = Progress::given;
    turn.emit(intent.action);
}

// Whether the snapshot shows that an action was done.
bool happened(const Turn& turn, const Action& action) {
    const auto* host = host_of(turn.state, action);
    const bool seen = host != nullptr && host->node.has_value();
    const auto job = turn.state.jobs.find(action.job);
    const auto excluded = [&] {
        return std::all_of(action.exclude.begin(), action.exclude.end(),
                           [&](const auto& name) { return has_name(job->second.rm.excluded, name); });
    };
    switch (action.kind) {
    case ActionKind::drain_host:
        return seen && ours(*host) && owner_of(host->node->reason) == owner_of(action.reason);
    case ActionKind::down_host: return seen && host->node->down && (!action.drain || ours(*host));
    case ActionKind::resume_host: return seen && !host->node->drain;
    case ActionKind::requeue_job:
        return job != turn.state.jobs.end() && job->second.rm.restarts > action.epoch && excluded();
    case ActionKind::keep_off:
        return job != turn.state.jobs.end() && excluded() &&
               std::none_of(action.readmit.begin(), action.readmit.end(),
                            [&](const auto& name) { return has_name(job->second.rm.excluded, name); });
    case ActionKind::tell_job: return false; // restart/rm tells nothing twice
    case ActionKind::update_job: break;
    }
    return job != turn.state.jobs.end() && (job->second.rm.phase == JobPhase::running || excluded());
}

// Whether what a drain is for holds. A person's does by being asked for.
bool still_asked(const State& state, const HostState& host, const Action& action) {
    return owner_of(action.reason).starts_with("user:") || fault_holds(state, host);
}

} // namespace

std::string overtaken(const State& state, const Policy& policy, const Action& action) {
    if (policy.observe_only) return "observe_only was set";
    const auto* host = host_of(state, action);
    const auto is_anothers = [&] { return "another has drained it: " + host->node->reason; };
    switch (action.kind) {
    case ActionKind::drain_host:
        if (host == nullptr || !host->node) return "the resource manager does not know the host";
        if (anothers(*host)) return is_anothers();
        return still_asked(state, *host, action) ? std::string() : "what asked for it is over";
    case ActionKind::down_host:
        if (host == nullptr || !host->node) return "the resource manager does not know the host";
        if (!host->lost || host->generation != action.generation) return "its agent reports again";
        if (!gone(*host)) return "it was put back into use";
        if (!unheard(*host)) return "the resource manager hears it again";
        return action.drain && anothers(*host) ? is_anothers() : std::string();
    case ActionKind::resume_host:
        if (host != nullptr && host->lost) return "its agent does not report";
        return host != nullptr && anothers(*host) ? is_anothers() : std::string();
    case ActionKind::keep_off: return exclusion_overtaken(state, action);
    case ActionKind::requeue_job:
    case ActionKind::update_job:
    case ActionKind::tell_job: break;
    }
    const auto job = state.jobs.find(action.job);
    if (job == state.jobs.end()) return "the job has ended";
    // Still in the start that was to be left: it may stay there when its host is well again.
    const bool stays = action.kind == ActionKind::requeue_job && job->second.rm.restarts == action.epoch &&
                       has_name(job->second.rm.nodes, action.host);
    return stays && host != nullptr && !fault_holds(state, *host) ? "what asked for it is over"
                                                                  : std::string();
}

void give(Turn& turn, Incident& incident, Action action) {
    // What came to nothing before is told; it need not be kept.
    std::erase_if(incident.intents, [&](const Intent& old) {
        return old.progress >= Progress::failed && old.seen && old.action.kind == action.kind &&
               old.action.job == action.job && old.action.host == action.host;
    });
    if (const auto* host = host_of(turn.state, action)) action.generation = host->generation;
    action.id = fmt::format("{}/{}", incident.id(), incident.next_action++);
    turn.emit(action);
    incident.intents.push_back({std::move(action), Progress::given, {}, 0, false});
}

void take_outcome(Turn& turn, const ActionDone& done) {
    each_intent(turn, [&](Incident& incident, Intent& intent) {
        if (intent.action.id != done.action || intent.settled()) return;
        if (done.overtaken)
            return drop(turn, incident, intent, done.error ? done.error->text : std::string());
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
