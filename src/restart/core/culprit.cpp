// Keeping the culprit out of use: when it is to be drained or set down, and when that is reached.

#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// Reasons stay short enough for sinfo -R.
constexpr std::size_t most_reason = 160;

std::string reason_of(const Incident& incident) {
    return printable(tagged(incident.id(), incident.what), most_reason);
}

bool about_host(const Action& action) {
    return action.job == 0;
}

// Says why the culprit is not drained, when that is another reason than before.
void tell_once(Turn& turn, Incident& incident, std::string_view reason, std::string text) {
    if (incident.told == reason) return;
    incident.told = reason;
    turn.note(NoteKind::decision, incident, 0, std::move(text));
}

// Refused for good before: not asked again at once.
bool put_off(const Turn& turn, const Incident& incident) {
    return std::any_of(incident.intents.begin(), incident.intents.end(), [&](const Intent& intent) {
        return about_host(intent.action) && intent.progress == Progress::failed && turn.now < intent.next_try;
    });
}

// Whether nothing forbids a drain now; else it was told why not. `but` is what is done all the same.
bool may_drain(Turn& turn, Incident& incident, const HostState& host, std::string_view but) {
    const auto not_drained = [&](std::string_view reason, std::string_view why) {
        tell_once(turn, incident, reason, fmt::format("{} is {}not drained: {}", incident.host, but, why));
        return false;
    };
    if (anothers(host)) return not_drained("another", "another has done so: " + host.node->reason);
    if (ours(host) && host.node->drain) {
        if (owner_of(host.node->reason) == incident.id()) return false;
        return not_drained("ours", "it is already: " + host.node->reason);
    }
    if (const auto bound = drain_bound(turn, host)) return not_drained(bound->key, bound->why);
    if (!incident.told.empty())
        turn.note(NoteKind::decision, incident, 0,
                  fmt::format("{} is drained now: what kept it from that is over", incident.host));
    incident.told.clear();
    return true;
}

// A dead host is set down so that its jobs end now, and drained so that it does not come back by itself. Its
// down is part of the recovery, which no bound stops; its drain is not.
void set_down(Turn& turn, Incident& incident, const HostState& host) {
    if (!unheard(host)) return; // the resource manager hears it: only its agent is away by now
    Action action;
    action.kind = ActionKind::down_host;
    action.host = incident.host;
    action.drain = may_drain(turn, incident, host, host.node->down ? "" : "set down but ");
    if (!host.node->drain && !anothers(host)) action.reason = reason_of(incident);
    if (!host.node->down || action.drain) give(turn, incident, std::move(action));
}

} // namespace

void keep_out(Turn& turn, Incident& incident) {
    const auto& host = turn.state.hosts[incident.host];
    if (host_in_flight(turn.state, incident.host) || put_off(turn, incident)) return;
    if (!host.node)
        return tell_once(
            turn, incident, "unknown",
            fmt::format("{} is not drained: the resource manager does not know it", incident.host));
    if (host.lost) return set_down(turn, incident, host);
    if (!may_drain(turn, incident, host, "")) return;
    Action action;
    action.kind = ActionKind::drain_host;
    action.host = incident.host;
    action.reason = reason_of(incident);
    give(turn, incident, std::move(action));
}

bool host_in_flight(const State& state, std::string_view host) {
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (about_host(intent.action) && intent.action.host == host && intent.in_flight()) return true;
    return false;
}

bool kept_out(const State& state, std::string_view name) {
    const auto found = state.hosts.find(name);
    bool out = found != state.hosts.end() && found->second.node &&
               (found->second.node->drain || anothers(found->second));
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents) {
            const auto& action = intent.action;
            if (!about_host(action) || action.host != name || !intent.in_flight()) continue;
            if (action.kind == ActionKind::resume_host) return false;
            out = out || action.kind == ActionKind::drain_host || action.drain;
        }
    return out;
}

bool kept_clear(const State& state, std::string_view name) {
    const auto found = state.hosts.find(name);
    if (found == state.hosts.end() || !found->second.node) return true; // there is nothing to keep
    const auto& host = found->second;
    const bool out = host.lost ? !unheard(host) || (host.node->down && (host.node->drain || anothers(host)))
                               : ours(host) || anothers(host);
    return out && std::none_of(state.jobs.begin(), state.jobs.end(),
                               [&](const auto& entry) { return has_name(entry.second.rm.nodes, name); });
}

} // namespace restart
