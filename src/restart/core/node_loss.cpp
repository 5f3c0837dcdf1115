// Silence, its second witness, and the guard against blaming hosts for the network's or our own fault.

#include "base/units.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// At least this many agents, and half of all, must be silent for a mass silence.
constexpr std::size_t least_mass = 3;
// The resource manager's verdict comes minutes after the silence, and hosts may lose the network one by one:
// so long those that it alone called lost count as silent, unless a person has taken them out of use.
constexpr base::Duration mass_memory = std::chrono::hours(24);

struct Quiet {
    std::size_t agents = 0; // heard since they were last known to be lost
    std::size_t late = 0;   // of them, those overdue
    bool mass() const { return late >= least_mass && 2 * late >= agents; }
};

// For how long the agent is silent. What came before a pause of this daemon is not counted.
base::Duration silence(const Turn& turn, const HostState& host) {
    return turn.now - std::max(*host.last_report, turn.state.grace_from);
}

// The fabric has not confirmed the loss, nor has a person.
bool doubtful_loss(const Turn& turn, const HostState& host) {
    return host.unsure && !host.dark_since && !anothers(host) && turn.now - *host.last_report < mass_memory;
}

// A host is late well before it is silent, so that the first of many to reach the limit is not blamed alone.
Quiet count_quiet(const Turn& turn) {
    const auto late = std::max(turn.policy.silent / 2, turn.policy.report_interval * 3 / 2);
    Quiet quiet;
    for (const auto& [name, host] : turn.state.hosts) {
        if (!host.last_report || (host.lost && !doubtful_loss(turn, host))) continue;
        ++quiet.agents;
        if (silence(turn, host) >= late) ++quiet.late;
    }
    return quiet;
}

bool spoke_up(const Turn& turn, const HostState& host, const std::optional<base::Time>& since) {
    return since && *since >= *host.last_report - turn.policy.witness_wait;
}

// The resource manager has not merely had no answer to one ping: it has given the host up.
bool given_up(const RmNode& node) {
    return node.automatic || (node.down && node.not_responding);
}

// What else says that the host has gone; empty: nothing. A witness counts only when it spoke up around or
// after the last report: a link that was down, or a slurmd that was dead, before proves nothing new. Once a
// suspicion was dropped, an unanswered ping of slurmctld is no longer enough: the agent alone may be dead.
std::string witness(const Turn& turn, const HostState& host) {
    if (spoke_up(turn, host, host.dark_since))
        return fmt::format("all {} links are down in the fabric", host.links.links_total);
    if (host.node && spoke_up(turn, host, host.mute_since) && (!host.doubted || given_up(*host.node)))
        return fmt::format("the resource manager says {}", host.node->state);
    return {};
}

// Who may still confirm a loss that nobody did in time.
std::string late_witnesses(const State& state) {
    std::string text;
    if (!state.rm_config)
        text = "when the resource manager gives it up";
    else if (const auto timeout = state.rm_config->slurmd_timeout; timeout > base::Duration::zero())
        text = fmt::format("when the resource manager gives it up, {} after its last answer",
                           base::human_duration(timeout));
    if (state.swept) text += fmt::format("{}when the fabric loses its links", text.empty() ? "" : ", or ");
    return text.empty() ? "nothing else watches it" : "taken up again " + text;
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
                      fmt::format("{} of {} agents are silent", quiet.late, quiet.agents));
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
    host.unsure = !host.dark_since;
    begin_recovery(turn, incident);
}

// A lost host that came back into use without its agent, and is missed again.
void check_lost(Turn& turn, const std::string& name, HostState& host) {
    if (!gone(host) || kept_clear(turn.state, name) || find_incident(turn.state, name) != nullptr) return;
    if (const auto seen = witness(turn, host); !seen.empty())
        confirm(
            turn,
            open_incident(turn, IncidentKind::node_loss, Phase::moving, name, "host lost", *host.last_report),
            host, seen);
}

void check_host(Turn& turn, const std::string& name, HostState& host) {
    const auto quiet = silence(turn, host);
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
    if (!seen.empty()) return confirm(turn, *incident, host, seen);
    if (quiet < turn.policy.silent + turn.policy.witness_wait) return;
    host.doubted = true;
    if (incident->phase != Phase::suspected) return;
    turn.note(NoteKind::outcome, *incident, 0,
              fmt::format("no second witness in {}: suspicion dropped, the agent alone may have died; {}",
                          base::human_duration(turn.policy.witness_wait), late_witnesses(turn.state)));
    turn.state.incidents.erase(incident->number);
}

} // namespace

void give_grace(Turn& turn) {
    turn.state.grace_from = turn.now;
    turn.state.grace_until = turn.now + 2 * turn.policy.silent;
    for (auto& [name, host] : turn.state.hosts) // a clock that was set back leaves reports in the future
        if (host.last_report) host.last_report = std::min(*host.last_report, turn.now);
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
        if (host.last_report) host.lost ? check_lost(turn, name, host) : check_host(turn, name, host);
}

} // namespace restart
