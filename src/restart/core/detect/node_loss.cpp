// The loss of a host: its silence, and the second source that confirms it.

#include "base/units.hpp"
#include "restart/core/detect/darkness.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/peers.hpp"
#include "restart/core/detect/silence.hpp"
#include "restart/core/facts/bounds.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

// The resource manager has declared the host down; more than one unanswered ping.
bool declared_down(const RmNode& node) {
    return node.automatic || (node.down && node.not_responding);
}

// Whether an unanswered ping can only mean this host. It takes the same path as the reports. If others fell
// silent at the same moment, their network may have failed; for a host whose agent had died before, it is not
// known yet whether others will follow.
bool pings_alone(const StepContext& ctx, const HostState& host, const Silence& silence) {
    if (ctx.now < host.together_until) return false;
    const auto since = *host.unresponsive_since;
    if (!silence.group.empty() && since >= silence.since) return false;
    return since - heard_from(host) <= ctx.policy.together() || ctx.now - since >= 2 * ctx.policy.silent;
}

// What else confirms that the host is lost; empty: nothing. Evidence counts only if it changed around or
// after the last report: a link or a daemon that was down before proves nothing. An unanswered ping of the
// resource manager is enough only until a suspicion was dropped, for then only the agent may be dead. For
// hosts that fell silent together even its judgement counts only after a time in which a network would have
// been repaired, and over all hosts only within the bound on such losses. A host that accepts connections and
// answers none, while no others fell silent with it, does not have a network problem: nothing runs there any
// more. What peers see may contradict both of these (peers.hpp).
std::string witness(StepContext& ctx, const std::string& name, const HostState& host,
                    const Silence& silence) {
    if (dark_since_report(ctx, host))
        return fmt::format("all {} links are down in the fabric", host.links.links_total);
    if (silence.group.empty() && ctx.now >= host.together_until && host.mute_since &&
        *host.mute_since >= heard_from(host) && !peers_object(ctx, name, host, *host.mute_since, false))
        return "it takes connections, and neither its agent nor the resource manager's daemon there answers";
    const auto& since = host.unresponsive_since;
    if (!host.node || !since) return {};
    const auto after = [&](base::Time sign) { return *since >= sign - ctx.policy.witness_wait; };
    const bool judged = declared_down(*host.node) && after(*host.last_report) &&
                        (ctx.now >= host.together_until || silence_of(ctx, host) >= ctx.policy.group_wait);
    const bool unanswered = !host.suspicion_dropped && after(heard_from(host)) &&
                            pings_alone(ctx, host, silence) &&
                            (judged || !peers_object(ctx, name, host, *since, true));
    if (!judged && !unanswered) return {};
    if (const auto bound = bound_on_down(ctx.state, ctx.policy, ctx.now, host)) {
        note_crossing(ctx, *bound, "no further silent host is taken for lost but by the fabric");
        return {};
    }
    return fmt::format("the resource manager says {}", host.node->state);
}

// Whether the resource manager has answered for long enough to have noticed a loss.
bool was_asked(const StepContext& ctx) {
    return ctx.state.rm_answers && ctx.now - ctx.state.rm_answers_since >= ctx.policy.witness_wait;
}

// Which sources may still confirm a loss that was not confirmed in time.
std::string late_witnesses(const State& state) {
    std::string text;
    const auto timeout =
        state.rm_config ? state.rm_config->declares_down_after : std::optional<base::Duration>();
    if (!timeout)
        text = "when the resource manager gives it up";
    else if (*timeout > base::Duration::zero())
        text = fmt::format("when the resource manager gives it up, {} after its last answer",
                           base::human_duration(*timeout));
    if (state.swept) text += fmt::format("{}when the fabric loses its links", text.empty() ? "" : ", or ");
    return text.empty() ? "nothing else watches it" : "taken up again " + text;
}

Incident* mass_incident(State& state) {
    for (auto& [number, incident] : state.incidents)
        if (incident.kind == IncidentKind::mass_silence) return &incident;
    return nullptr;
}

// What peers report about the members of a group that they were asked to look at: once all have answered, and
// when it changes.
void tell_of_peers(StepContext& ctx, const Incident& incident, const Silence& silence) {
    std::size_t reached = 0, dark = 0;
    bool fresh = false;
    for (auto& [name, looks] : ctx.state.looks) {
        if (!silence.holds(name)) continue;
        const auto word = peers_word(ctx, name, ctx.state.hosts.at(name));
        if (!word.is_whole()) return;
        const auto view = word.view();
        if (view == PeerView::none) continue;
        if (view == PeerView::reached) ++reached;
        if (word.is_dark()) ++dark;
        fresh = fresh || view != looks.noted;
        looks.noted = view;
    }
    if (!fresh) return;
    ctx.note(NoteKind::signal, incident, {},
             fmt::format("of those that other hosts looked at {} are reached and {} are not{}", reached, dark,
                         dark == 0      ? ": they live, and their way to restartd is broken"
                         : reached == 0 ? ": their network is broken, or they are"
                                        : ""));
}

// For a host that is silent alone.
void tell_of_peers(StepContext& ctx, const std::string& name, const Incident* incident,
                   const PeersWord& word) {
    const auto view = word.view();
    const auto looks = ctx.state.looks.find(name);
    if (view == PeerView::none || looks == ctx.state.looks.end() || looks->second.noted == view) return;
    if (view != PeerView::reached && !word.is_whole()) return; // so that the note names them all
    looks->second.noted = view;
    if (incident != nullptr)
        ctx.note(NoteKind::signal, *incident, {}, describe(word));
    else
        ctx.note_host(NoteKind::signal, name, describe(word));
}

// When all of them have had time to become silent, so that the note names them all.
void tell_of_group(StepContext& ctx, const Silence& silence) {
    if (silence.certain < least_group ||
        std::none_of(silence.group.begin(), silence.group.end(), [&](const std::string& name) {
            return silence_of(ctx, ctx.state.hosts.at(name)) >= 2 * ctx.policy.silent;
        }))
        return;
    auto& incident = open_incident(ctx, IncidentKind::mass_silence, Phase::watching, {},
                                   "agents fell silent together", ctx.now);
    ctx.note(NoteKind::signal, incident, {},
             fmt::format("{} of {} agents are silent: {}", silence.group.size(), silence.agents,
                         describe_group(ctx.state, silence.group)));
    ctx.note(NoteKind::decision, incident, {},
             fmt::format(
                 "this is the network or restartd, not the hosts: none of them is taken for lost but by the "
                 "fabric, or when the resource manager has given it up and it is silent for {}",
                 base::human_duration(ctx.policy.group_wait)));
}

// Once, when the first of them has been silent long enough to be judged alone again.
void tell_of_end(StepContext& ctx, Incident& incident, const Silence& silence) {
    const bool over = std::any_of(silence.group.begin(), silence.group.end(), [&](const std::string& name) {
        return silence_of(ctx, ctx.state.hosts.at(name)) >= ctx.policy.group_wait;
    });
    if (!over || incident.phase != Phase::watching) return;
    incident.phase = Phase::verifying;
    ctx.note(NoteKind::decision, incident, {},
             fmt::format(
                 "{} agents are still silent: each of their hosts is judged alone once it is silent for {}; "
                 "look at the network",
                 silence.group.size(), base::human_duration(ctx.policy.group_wait)));
}

// True when the silence of a group has just ended: no host is suspected then.
bool follow_group(StepContext& ctx, const Silence& silence) {
    auto* open = mass_incident(ctx.state);
    if (!silence.group.empty()) {
        if (open == nullptr)
            tell_of_group(ctx, silence);
        else
            tell_of_end(ctx, *open, silence);
        if (open = mass_incident(ctx.state); open != nullptr) tell_of_peers(ctx, *open, silence);
        return false;
    }
    if (open == nullptr) return false;
    ctx.note(
        NoteKind::outcome, *open, {},
        silence.dark > 0
            ? fmt::format("the links of {} silent hosts are down as well: these hosts are lost", silence.dark)
            : fmt::format("{} of {} agents report again", silence.agents - silence.late.size(),
                          silence.agents));
    ctx.state.incidents.erase(open->number);
    if (silence.dark > 0) return false;
    start_grace(ctx); // the last of them to return must not be suspected
    return true;
}

Incident* find_incident(State& state, std::string_view host) {
    const auto* found = state.incident_of(host);
    return found == nullptr ? nullptr : &state.incidents.at(found->number);
}

void confirm(StepContext& ctx, Incident& incident, HostState& host, const std::string& seen) {
    const auto silent = base::human_duration(ctx.now - *host.last_report);
    ctx.note(NoteKind::signal, incident, {}, fmt::format("second witness: {}", seen));
    incident.kind = IncidentKind::node_loss;
    incident.what = fmt::format("host lost: {}agent silent for {}, {}",
                                has_departed(host) ? "shut down in order, " : "", silent, seen);
    if (has_departed(host)) host.departure->incident = incident.number;
    incident.fault = *host.last_report;
    host.lost = true;
    host.rm_confirmed_only = !host.dark_since;
    host.lost_at = ctx.now;
    incident.fresh = true;
}

// A lost host that was put back into use without its agent, and is lost again.
void check_lost(StepContext& ctx, const std::string& name, HostState& host, const Silence& silence) {
    if (!counts_as_lost(host) || in_maintenance(ctx.state, name, host) ||
        drained_and_empty(ctx.state, name) || find_incident(ctx.state, name) != nullptr)
        return;
    if (const auto seen = witness(ctx, name, host, silence); !seen.empty())
        confirm(
            ctx,
            open_incident(ctx, IncidentKind::node_loss, Phase::moving, name, "host lost", *host.last_report),
            host, seen);
}

void check_host(StepContext& ctx, const std::string& name, HostState& host, const Silence& silence,
                base::Duration patience) {
    const auto quiet = silence_of(ctx, host);
    auto* incident = find_incident(ctx.state, name);
    const bool suspected = incident != nullptr && incident->phase == Phase::suspected;
    const bool served = in_maintenance(ctx.state, name, host);
    const bool away = (host.node && host.node->away) || quiet_for_repair(host);
    if (quiet < patience || away || served) {
        if (!suspected) return;
        ctx.note(NoteKind::outcome, *incident, {},
                 fmt::format("{}: suspicion dropped", served ? "is in maintenance"
                                                      : away ? "is off or reboots as planned"
                                                             : "reports again"));
        ctx.state.incidents.erase(incident->number);
        return;
    }
    const bool grouped = ctx.now < host.together_until || silence.holds(name);
    const auto peers = grouped ? PeersWord() : peers_word(ctx, name, host);
    // The note was that only the agent may have died; now no peer reaches the host.
    if (host.suspicion_dropped && peers.is_dark()) host.suspicion_dropped = false;
    const auto seen = witness(ctx, name, host, silence);
    if (host.suspicion_dropped) tell_of_peers(ctx, name, incident, peers);
    if ((host.suspicion_dropped || grouped) && seen.empty()) return; // a group has its own incident
    if (incident == nullptr) {
        incident = &open_incident(ctx, IncidentKind::node_loss, Phase::suspected, name, "agent silent",
                                  *host.last_report);
        ctx.note(NoteKind::signal, *incident, {},
                 fmt::format("agent silent for {}", base::human_duration(quiet)));
    }
    tell_of_peers(ctx, name, incident, peers);
    if (!seen.empty()) return confirm(ctx, *incident, host, seen);
    if (peers.view() == PeerView::reached && incident->phase == Phase::suspected) {
        host.suspicion_dropped = true;
        ctx.note(NoteKind::outcome, *incident, {},
                 fmt::format("the host lives: its agent is dead, or its way to restartd is broken; suspicion "
                             "dropped, {}",
                             late_witnesses(ctx.state)));
        ctx.state.incidents.erase(incident->number);
        return;
    }
    if (peers.is_dark()) return; // not only its agent
    if (incident->phase == Phase::suspected && peers_awaited(ctx, name, peers)) return;
    if (quiet < patience + ctx.policy.witness_wait || !was_asked(ctx)) return;
    host.suspicion_dropped = true;
    if (incident->phase != Phase::suspected) return;
    ctx.note(NoteKind::outcome, *incident, {},
             fmt::format("no second witness in {}: suspicion dropped, the agent alone may have died; {}",
                         base::human_duration(ctx.policy.witness_wait), late_witnesses(ctx.state)));
    ctx.state.incidents.erase(incident->number);
}

// The clock was set, or this daemon was paused: reports may be waiting unread.
bool stood_still(const StepContext& ctx) {
    const auto gap = ctx.now - ctx.state.last_tick;
    return ctx.state.last_tick != base::Time{} && (gap < base::Duration::zero() || gap > ctx.policy.silent);
}

} // namespace

void start_grace(StepContext& ctx) {
    ctx.state.grace_from = ctx.now;
    ctx.state.grace_until = ctx.now + 2 * ctx.policy.silent;
    renew_looks(ctx);
    for (auto& [name, host] : ctx.state.hosts) // a clock that was set back leaves reports in the future
    {
        if (host.last_report) host.last_report = std::min(*host.last_report, ctx.now);
        if (host.drain_begun) host.drain_begun = std::min(*host.drain_begun, ctx.now);
        host.lost_at = std::min(host.lost_at, ctx.now);
    }
    for (auto& [key, crossing] : ctx.state.crossings)
        crossing.last = std::min(crossing.last, ctx.now);
}

void grace_after_pause(StepContext& ctx) {
    if (stood_still(ctx)) start_grace(ctx);
    ctx.state.last_tick = ctx.now;
}

void check_silence(StepContext& ctx) {
    for (auto& [name, host] : ctx.state.hosts) // silent since its end at the earliest
        if (in_maintenance(ctx.state, name, host) || quiet_for_repair(host)) host.away_until = ctx.now;
    if (stood_still(ctx)) start_grace(ctx); // another event may come before the next tick
    if (ctx.now < ctx.state.grace_until || !ctx.state.rm_read) return;
    ask_peers(ctx);
    const auto silence = look_for_silence(ctx);
    if (follow_group(ctx, silence)) return;
    const Darkness darkness(ctx);
    for (auto& [name, host] : ctx.state.hosts) {
        if (!host.last_report) continue;
        if (silence.certain >= least_group && silence.holds(name))
            host.together_until = ctx.now + ctx.policy.witness_wait;
        host.lost ? check_lost(ctx, name, host, silence)
                  : check_host(ctx, name, host, silence, darkness.patience_with(host));
    }
}

} // namespace restart
