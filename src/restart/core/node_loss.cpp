// Silence, its second witness, and the guard against blaming hosts for the network's or our own fault.

#include "base/units.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// At least this many agents, and more than half of all, must be late for a mass silence.
constexpr std::size_t least_mass = 3;

struct Quiet {
    std::size_t agents = 0; // heard since they were last believed lost
    std::size_t late = 0;   // of them, those overdue
    bool mass() const { return late >= least_mass && 2 * late > agents; }
};

// A host is late well before it is silent, so that the first of many to reach the limit is not blamed alone.
Quiet count_quiet(const Turn& turn) {
    const auto late = std::max(turn.policy.silent / 2, turn.policy.report_interval * 3 / 2);
    Quiet quiet;
    for (const auto& [name, host] : turn.state.hosts) {
        if (!host.last_report || host.lost) continue;
        ++quiet.agents;
        if (turn.now - *host.last_report >= late) ++quiet.late;
    }
    return quiet;
}

// What else says that the host has gone; empty: nothing. A witness counts only when it spoke up around or
// after the last report: a link that was down, or a slurmd that was dead, before proves nothing new. Once a
// suspicion was dropped, an unanswered ping of slurmctld is no longer enough: the agent alone may be dead.
std::string witness(const Turn& turn, const HostState& host) {
    const auto since = *host.last_report - turn.policy.witness_wait;
    if (host.node && host.mute_since && *host.mute_since >= since && (!host.doubted || host.node->automatic))
        return fmt::format("the resource manager says {}", host.node->state);
    if (host.dark_since && *host.dark_since >= since)
        return fmt::format("all {} links are down in the fabric", host.links.links_total);
    return {};
}

Incident* mass_incident(State& state) {
    for (auto& [number, incident] : state.incidents)
        if (incident.kind == IncidentKind::mass_silence) return &incident;
    return nullptr;
}

// True while most agents are silent.
bool mass_silence(Turn& turn) {
    const auto quiet = count_quiet(turn);
    auto* open = mass_incident(turn.state);
    if (quiet.mass()) {
        if (open == nullptr) {
            auto& incident = open_incident(turn, IncidentKind::mass_silence, Phase::watching, {},
                                           "most agents are silent", turn.now);
            turn.note(NoteKind::signal, incident, 0,
                      fmt::format("{} of {} agents fell silent at once", quiet.late, quiet.agents));
            turn.note(NoteKind::decision, incident, 0,
                      "this is the network or restartd, not the hosts: nothing is drained or requeued");
        }
        return true;
    }
    if (open != nullptr) {
        turn.note(NoteKind::outcome, *open, 0,
                  fmt::format("{} of {} agents report again", quiet.agents - quiet.late, quiet.agents));
        turn.state.incidents.erase(open->number);
        give_grace(turn); // the last of them to return are not to be blamed
        return true;
    }
    return false;
}

Incident* find_incident(State& state, std::string_view host) {
    const auto* found = state.incident_of(host);
    return found == nullptr ? nullptr : &state.incidents.at(found->number);
}

void confirm(Turn& turn, Incident& incident, HostState& host, const std::string& seen) {
    const auto silent = base::human_duration(turn.now - *host.last_report);
    turn.note(NoteKind::signal, incident, 0, fmt::format("second witness: {}", seen));
    incident.kind = IncidentKind::node_loss;
    incident.what = fmt::format("host lost: agent silent for {}, {}", silent, seen);
    incident.fault = *host.last_report;
    host.lost = true;
    move_from_lost(turn, incident);
}

void check_host(Turn& turn, const std::string& name, HostState& host) {
    const auto quiet = turn.now - *host.last_report;
    auto* incident = find_incident(turn.state, name);
    const bool suspected = incident != nullptr && incident->phase == Phase::suspected;
    if (quiet < turn.policy.silent) {
        if (!suspected) return;
        turn.note(NoteKind::outcome, *incident, 0, "reports again: suspicion dropped");
        turn.state.incidents.erase(incident->number);
        return;
    }
    const auto seen = witness(turn, host);
    if (host.doubted && seen.empty()) return;
    if (incident == nullptr) {
        incident = &open_incident(turn, IncidentKind::node_loss, Phase::suspected, name, "agent silent",
                                  *host.last_report);
        turn.note(NoteKind::signal, *incident, 0,
                  fmt::format("agent silent for {}", base::human_duration(quiet)));
    }
    if (!seen.empty()) {
        confirm(turn, *incident, host, seen);
    } else if (incident->phase == Phase::suspected &&
               quiet >= turn.policy.silent + turn.policy.witness_wait) {
        turn.note(NoteKind::outcome, *incident, 0,
                  fmt::format("no second witness in {}: suspicion dropped, the agent alone may have died",
                              base::human_duration(turn.policy.witness_wait)));
        host.doubted = true;
        turn.state.incidents.erase(incident->number);
    }
}

} // namespace

void give_grace(Turn& turn) {
    turn.state.grace_until = turn.now + 2 * turn.policy.silent;
    for (auto& [name, host] : turn.state.hosts)
        if (host.last_report && !host.lost) host.last_report = turn.now;
}

void keep_grace(Turn& turn) {
    // The clock went back, or this daemon stood still: reports may wait unread.
    const auto gap = turn.now - turn.state.last_tick;
    if (turn.state.last_tick != base::Time{} && (gap < base::Duration::zero() || gap > turn.policy.silent))
        give_grace(turn);
    turn.state.last_tick = turn.now;
}

void check_silence(Turn& turn) {
    if (turn.now < turn.state.grace_until || !turn.state.rm_read) return;
    if (mass_silence(turn)) return;
    for (auto& [name, host] : turn.state.hosts)
        if (host.last_report && !host.lost) check_host(turn, name, host);
}

} // namespace restart
