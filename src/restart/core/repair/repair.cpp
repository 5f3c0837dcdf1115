// Each step follows from the present state: an operator's action, another fault or a shut gate is seen before
// anything else, and nothing is done twice. A rung's action is an intent in the repair's incident; while it
// is under way, or is done and the host is expected back, the host counts as one in repair.

#include "restart/core/repair/repair.hpp"

#include "base/units.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/act/rungs.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace restart {
namespace {

constexpr std::size_t most_reason = 160;  // as in culprit.cpp
constexpr std::uint32_t most_untried = 3; // checks in a row without a verdict: then an operator is needed

// The host, its repair and the repair's incident.
struct Case {
    StepContext& ctx;
    Incident& incident;
    HostState& host;
    Repair& repair;

    const std::string& name() const { return incident.host; }
    Rung rung() const { return present_rung(ctx.policy, repair); }
    void note(NoteKind kind, std::string text) const { ctx.note(kind, incident, {}, std::move(text)); }
    void enter(RepairStage stage) const {
        repair.stage = stage;
        repair.begun = ctx.now;
        repair.clean_since.reset();
        repair.faulty_since.reset();
        incident.phase = stage == RepairStage::acting      ? Phase::moving
                         : stage == RepairStage::returning ? Phase::verifying
                                                           : Phase::watching;
        ctx.changed();
    }
    void climb() const {
        ++repair.at;
        repair.healed = repair.passed = false;
        enter(RepairStage::waiting);
    }
};

template <class Kind> Intent* last(Incident& incident) {
    const auto found = std::find_if(incident.intents.rbegin(), incident.intents.rend(),
                                    [](const Intent& intent) { return as<Kind>(intent.action) != nullptr; });
    return found == incident.intents.rend() ? nullptr : &*found;
}

// A drain for a fault, not one that an operator requested.
bool drained_for_fault(const HostState& host) {
    return owned_by_us(host) && host.node->drain && incident_in(host.node->reason) != 0;
}

bool asked_by_person(const State& state, std::string_view name) {
    return std::any_of(state.incidents.begin(), state.incidents.end(), [&](const auto& entry) {
        return entry.second.kind == IncidentKind::operator_request && entry.second.host == name;
    });
}

// Whether this step is held back, and if so, notes that once.
bool kept_back(const Case& of, const std::vector<Withheld>& noted, const std::string& what,
               std::optional<Shut> shut) {
    if (!shut) return false;
    keep_back(of.ctx, of.incident, noted, {what, {}, std::move(shut->key), std::move(shut->why)}, {});
    of.incident.phase = Phase::withheld;
    return true;
}

std::string reason_of(const Case& of, std::string_view text) {
    return state_text(tagged(of.incident.id(), text), most_reason);
}

// Jobs that run without the host hold it as long as they last, which may be weeks: it is removed from them.
// True: it waits for that.
bool let_go(const Case& of, const std::vector<Withheld>& noted) {
    const auto jobs = jobs_that_let_go(of.ctx.state, of.name());
    if (!jobs || jobs->empty()) return false;
    const auto* before = last<FreeHost>(of.incident);
    if (before != nullptr && (before->in_flight() || before->progress == Progress::done ||
                              (before->progress == Progress::failed && of.ctx.now < before->next_try)))
        return true;
    FreeHost action{of.name(), *jobs};
    const auto what = describe({{}, action});
    if (kept_back(of, noted, what, gate(of.ctx.state, of.ctx.policy, of.ctx.now, of.name()))) return true;
    of.note(NoteKind::decision, what);
    start_action(of.ctx, of.incident, std::move(action));
    return true;
}

void give_to_hands(const Case& of, const std::vector<Withheld>& noted, std::string_view why) {
    if (let_go(of, noted)) return;
    if (kept_back(of, noted, fmt::format("leave {} drained for a person to repair", of.name()),
                  gate(of.ctx.state, of.ctx.policy, of.ctx.now, of.name())))
        return;
    const auto text = fmt::format("hands needed ({}): {}", to_string(of.repair.fault), why);
    DrainHost renewed{of.name(), reason_of(of, text), true};
    of.note(NoteKind::decision, fmt::format("{} stays drained: {}", of.name(), text));
    of.ctx.alert(fmt::format("{}: {}", of.name(), text));
    of.enter(RepairStage::hands);
    start_action(of.ctx, of.incident, std::move(renewed));
}

void watch(const Case& of) {
    of.enter(RepairStage::watching);
}

// The action of the present rung, if nothing holds it back.
void act(const Case& of, const std::vector<Withheld>& noted) {
    if (let_go(of, noted)) return;
    auto& [ctx, incident, host, repair] = of;
    RepairHost action;
    action.host = of.name();
    action.rung = of.rung();
    action.boot_id = host.boot_id;
    if (action.rung == Rung::gpu_reset) action.gpus = faulty_gpus(host);
    action.reason =
        reason_of(of, fmt::format("{} of its repair ({})", to_string(action.rung), to_string(repair.fault)));
    const auto what = describe({{}, action});
    auto shut = gate(ctx.state, ctx.policy, ctx.now, of.name());
    if (!shut)
        if (auto why = why_not_now(ctx.state, of.name(), host); !why.empty())
            shut = Shut{"repair", std::move(why), {}};
    if (!shut && in_repair(ctx.state, ctx.policy) >= ctx.policy.repair.max_at_once)
        shut = Shut{"max_at_once",
                    fmt::format("as many hosts are in repair as may be (max_at_once = {})",
                                ctx.policy.repair.max_at_once),
                    {}};
    if (kept_back(of, noted, what, std::move(shut))) return;
    repair.boot_id = host.boot_id;
    std::erase_if(host.rungs_tried, [&ctx = ctx](base::Time tried) {
        return ctx.now - tried >= ctx.policy.repair.forget_after;
    });
    host.rungs_tried.push_back(ctx.now);
    of.note(NoteKind::decision,
            fmt::format("{} ({}): attempt {} of {} in {}; {} if it does not help", what,
                        to_string(repair.fault), host.rungs_tried.size(), ctx.policy.repair.attempts,
                        base::human_duration(ctx.policy.repair.forget_after),
                        to_string(next_rung(ctx.state, ctx.policy, host))));
    of.enter(RepairStage::acting);
    start_action(ctx, incident, std::move(action));
}

// Begins the first rung that is possible.
void begin_rung(const Case& of) {
    auto& [ctx, incident, host, repair] = of;
    const auto noted = std::exchange(incident.withheld, {});
    incident.phase = Phase::watching;
    const auto ladder = ctx.policy.repair.ladder(repair.fault);
    for (; repair.at < ladder.size(); ++repair.at) {
        const auto rung = ladder[repair.at];
        if (rung == Rung::hands || rung == Rung::nothing) break;
        if (rung == Rung::wait) {
            repair.boot_id.clear();
            return watch(of);
        }
        if (const auto why = why_passed_over(ctx.state, host, ctx.policy, rung); !why.empty()) {
            of.note(NoteKind::decision, fmt::format("{} is passed over: {}", to_string(rung), why));
            continue;
        }
        // At first only: not for a host that has failed again, or after a rung.
        if (repair.at == 0 && !repair.failed && attempts_of(host, ctx.policy, ctx.now) == 0 &&
            is_clean(ctx.state, of.name(), host, ctx.policy, ctx.now)) {
            of.note(NoteKind::decision,
                    fmt::format("the fault of {} is over: it is only watched", of.name()));
            repair.healed = true;
            return watch(of);
        }
        if (const auto tried = attempts_of(host, ctx.policy, ctx.now); tried >= ctx.policy.repair.attempts)
            return give_to_hands(of, noted,
                                 fmt::format("{} attempts in {}", tried,
                                             base::human_duration(ctx.policy.repair.forget_after)));
        return act(of, noted);
    }
    give_to_hands(of, noted, repair.at == 0 ? "no program repairs this" : "nothing more is to be tried");
}

void follow_action(const Case& of) {
    const auto* intent = last<RepairHost>(of.incident);
    if (intent == nullptr || intent->progress == Progress::obsolete) {
        if (!of.host.rungs_tried.empty()) of.host.rungs_tried.pop_back();
        return of.enter(RepairStage::waiting);
    }
    if (intent->progress == Progress::done) return watch(of);
    if (intent->progress == Progress::failed) return of.climb();
    // Begun before a restart of restartd, and not known to be done or not done.
    if (intent->progress != Progress::unconfirmed ||
        of.ctx.now - of.repair.begun < of.ctx.policy.repair.rung_limit)
        return;
    of.note(NoteKind::outcome,
            fmt::format("whether {} was done is not known: it is not done again", describe(intent->action)));
    for (auto& open : of.incident.intents)
        if (open.progress == Progress::unconfirmed) open.progress = Progress::failed;
    of.climb();
}

// What was done last; wait: nothing was done.
Rung rung_taken(const Case& of) {
    return of.repair.healed ? Rung::wait : of.rung();
}

// "no fault for 2 min 0 s after reboot"
std::string without_fault(const Case& of) {
    const auto rung = rung_taken(of);
    return fmt::format("no fault for {}{}", base::human_duration(of.ctx.now - *of.repair.clean_since),
                       rung == Rung::wait ? std::string() : fmt::format(" after {}", to_string(rung)));
}

// Another stage; the time without a fault goes on.
void go_on(const Case& of, RepairStage stage) {
    const auto since = of.repair.clean_since;
    of.enter(stage);
    of.repair.clean_since = since;
}

void begin_check(const Case& of) {
    const auto noted = std::exchange(of.incident.withheld, {});
    RepairHost action;
    action.host = of.name();
    action.rung = Rung::check;
    action.fault = of.repair.fault;
    action.after = rung_taken(of);
    const auto what = describe({{}, action});
    if (kept_back(of, noted, what, gate(of.ctx.state, of.ctx.policy, of.ctx.now, of.name()))) return;
    of.note(NoteKind::decision, fmt::format("{}: {}", what, without_fault(of)));
    go_on(of, RepairStage::checking);
    start_action(of.ctx, of.incident, std::move(action));
}

void resume(const Case& of) {
    const auto noted = std::exchange(of.incident.withheld, {});
    if (kept_back(of, noted, "resume " + of.name(), gate(of.ctx.state, of.ctx.policy, of.ctx.now, of.name())))
        return;
    if (const auto* refused = last<ResumeHost>(of.incident);
        refused != nullptr && refused->progress == Progress::failed && of.ctx.now < refused->next_try)
        return;
    of.note(NoteKind::decision, fmt::format("resume {}: {}{}", of.name(), without_fault(of),
                                            of.repair.passed ? ", and its check has passed" : ""));
    of.enter(RepairStage::returning);
    start_action(of.ctx, of.incident, ResumeHost{of.name()});
}

void follow_host(const Case& of) {
    auto& [ctx, incident, host, repair] = of;
    const auto rung = rung_taken(of);
    const bool booted = !boots(rung) || host.boot_id != repair.boot_id || repair.boot_id.empty();
    const bool clean = booted && is_clean(ctx.state, of.name(), host, ctx.policy, ctx.now);
    if (clean) {
        if (!repair.clean_since) repair.clean_since = ctx.now;
        repair.faulty_since.reset();
        // The clock was set back.
        repair.clean_since = std::min(*repair.clean_since, ctx.now);
        if (ctx.now - *repair.clean_since < ctx.policy.repair.clean_window) return;
        return ctx.policy.repair.checks && !repair.passed ? begin_check(of) : resume(of);
    }
    repair.clean_since.reset();
    repair.passed = false;
    if (repair.healed) {
        repair.healed = false;
        of.note(NoteKind::outcome, fmt::format("the fault of {} has come again", of.name()));
        return of.enter(RepairStage::waiting);
    }
    const bool faulty = booted && acts(rung) && !host.lost && host.last_report &&
                        *host.last_report > repair.begun && is_faulty(ctx.state, host);
    if (!faulty)
        repair.faulty_since.reset();
    else if (!repair.faulty_since)
        repair.faulty_since = ctx.now;
    const bool stays_faulty =
        repair.faulty_since && ctx.now - *repair.faulty_since >= ctx.policy.repair.clean_window;
    if (!stays_faulty && ctx.now - repair.begun < ctx.policy.repair.rung_limit) return;
    of.note(NoteKind::outcome, fmt::format("{} did not help: {}", to_string(rung),
                                           !booted     ? fmt::format("{} has not booted again", of.name())
                                           : host.lost ? "its agent does not report"
                                           : faulty    ? "the fault is still there"
                                                       : "it has not come back without a fault"));
    of.climb();
}

void fail_check(const Case& of) {
    auto& repair = of.repair;
    repair.failed = true;
    of.note(NoteKind::outcome,
            fmt::format("{}: its check finds {} bad",
                        repair.healed ? "the fault is not over"
                                      : fmt::format("{} did not help", to_string(of.rung())),
                        of.name()));
    if (!std::exchange(repair.healed, false)) return of.climb();
    of.enter(RepairStage::waiting);
}

// A fault in the meantime ends the repair (over()), or is seen when the program has ended.
void follow_check(const Case& of) {
    auto& repair = of.repair;
    auto* intent = last<RepairHost>(of.incident);
    if (intent != nullptr && intent->progress == Progress::unconfirmed) {
        intent->progress = Progress::failed;
        of.note(NoteKind::outcome,
                fmt::format("what the check of {} found is not known: restartd was restarted", of.name()));
        return watch(of);
    }
    if (intent == nullptr || intent->progress == Progress::obsolete) return watch(of);
    if (!intent->settled()) return;
    if (intent->found_bad) return fail_check(of);
    if (intent->progress == Progress::done) {
        repair.passed = true;
        repair.untried = 0;
        go_on(of, RepairStage::watching);
        return follow_host(of);
    }
    if (++repair.untried < most_untried) return watch(of);
    give_to_hands(of, std::exchange(of.incident.withheld, {}), "its check could not be run");
}

void follow_return(const Case& of) {
    const auto* intent = last<ResumeHost>(of.incident);
    if (intent != nullptr && !intent->settled()) return;
    if (intent == nullptr || intent->progress != Progress::done) return of.enter(RepairStage::watching);
}

// Someone shut the host down, and may be working on it. A reboot that a rung requested does not count.
bool shut_down_by_other(const HostState& host, const Repair& repair) {
    return has_departed(host) && host.departure->boot_id != repair.boot_id;
}

// Why restartd leaves the host alone from now on; empty: it does not.
std::string over(const StepContext& ctx, const std::string& name, const HostState& host,
                 const Repair& repair) {
    if (!host.node) return "the resource manager does not know it any more";
    if (owned_by_others(host))
        return fmt::format("{} has drained it: {}", other_owner(host), host.node->reason);
    if (!host.node->drain && repair.stage != RepairStage::returning) return "it was resumed by another";
    if (asked_by_person(ctx.state, name)) return "a person has asked for it";
    if (shut_down_by_other(host, repair)) return "it was shut down in order";
    const auto* open = ctx.state.incident_of(name);
    if (open != nullptr && open->phase != Phase::suspected && repair.stage != RepairStage::acting)
        return fmt::format("{} is about another fault", open->id());
    if (const auto* cause = explained_by(ctx.state, name);
        cause != nullptr && repair.stage == RepairStage::waiting)
        return "the cause is " + cause->cause;
    if (ctx.policy.repair.max_at_once == 0) return "[repair] max_at_once is 0";
    return {};
}

bool all_known(const Incident& incident) {
    return all_settled(incident) && std::all_of(incident.intents.begin(), incident.intents.end(),
                                                [](const Intent& intent) { return intent.seen; });
}

void came_back(const Case& of) {
    const auto rung = of.repair.healed ? Rung::wait : of.rung();
    of.note(NoteKind::outcome, fmt::format("{} is in use again ({})", of.name(), to_string(rung)));
    of.host.returned = Returned{of.repair.fault, of.repair.at, of.ctx.now};
}

} // namespace

FaultClass fault_now(const State& state, const HostState& host) {
    if (host.lost) return FaultClass::host_lost;
    auto worst = FaultClass::other;
    for (const auto* finding : leave_findings(state, host))
        worst = std::max(worst, fault_class(finding->fault));
    return worst;
}

void note_fault(StepContext& ctx, const Incident& incident) {
    if (!is_fault(incident.kind)) return;
    const auto found = ctx.state.hosts.find(incident.host);
    if (found == ctx.state.hosts.end()) return;
    auto& host = found->second;
    const auto now = fault_now(ctx.state, host);
    host.fault = incident.decided ? std::max(host.fault, now) : now;
}

Rung next_rung(const State& state, const Policy& policy, const HostState& host) {
    if (!host.repair) return Rung::hands;
    const auto ladder = policy.repair.ladder(host.repair->fault);
    for (std::size_t at = host.repair->at + 1; at < ladder.size(); ++at)
        if (ladder[at] != Rung::nothing && why_passed_over(state, host, policy, ladder[at]).empty())
            return ladder[at];
    return Rung::hands;
}

std::size_t attempts_of(const HostState& host, const Policy& policy, base::Time now) {
    return static_cast<std::size_t>(
        std::count_if(host.rungs_tried.begin(), host.rungs_tried.end(),
                      [&](base::Time tried) { return now - tried < policy.repair.forget_after; }));
}

void begin_repairs(StepContext& ctx) {
    for (auto& [name, host] : ctx.state.hosts) {
        if (host.repair) {
            // Given up: until an operator has taken it over.
            if (!ctx.state.incidents.contains(host.repair->incident) && !drained_for_fault(host)) {
                host.repair.reset();
                ctx.changed();
            }
            continue;
        }
        if (ctx.policy.repair.max_at_once == 0 || !drained_for_fault(host) || host.departure ||
            host_in_flight(ctx.state, name) || ctx.state.incident_of(name) != nullptr ||
            asked_by_person(ctx.state, name) || ctx.now < host.together_until ||
            !why_left_alone(ctx.state, name).empty() || !jobs_that_let_go(ctx.state, name))
            continue;
        const auto fault = std::max(host.fault, fault_now(ctx.state, host));
        const auto ladder = ctx.policy.repair.ladder(fault);
        if (ladder.front() == Rung::nothing) continue;
        auto& incident =
            open_incident(ctx, IncidentKind::repair, Phase::watching, name,
                          fmt::format("repair of {} ({}: {})", name, to_string(fault),
                                      fmt::join(rungs_here(ctx.state, ctx.policy.repair, fault), ", ")),
                          ctx.now);
        auto& repair = host.repair.emplace();
        repair.incident = incident.number;
        repair.fault = fault;
        repair.begun = ctx.now;
        const auto& before = host.returned;
        if (before && before->fault == fault && ctx.now - before->when < ctx.policy.repair.relapse) {
            repair.at = before->at + 1;
            ctx.note(NoteKind::decision, incident, {},
                     fmt::format("{} has failed again {} after its return: {} was not enough", name,
                                 base::human_duration(ctx.now - before->when),
                                 before->at < ladder.size() ? to_string(ladder[before->at]) : "its repair"));
        }
        ctx.note(NoteKind::decision, incident, {}, incident.what);
    }
}

bool advance_repair(StepContext& ctx, Incident& incident) {
    const auto found = ctx.state.hosts.find(incident.host);
    if (found == ctx.state.hosts.end() || !found->second.repair ||
        found->second.repair->incident != incident.number)
        return !all_settled(incident);
    auto& host = found->second;
    const Case of{ctx, incident, host, *host.repair};
    if (of.repair.stage == RepairStage::hands && drained_for_fault(host)) return !all_known(incident);
    if (of.repair.stage == RepairStage::returning && host.node && !host.node->drain && !host.node->down) {
        came_back(of);
        host.repair.reset();
        return !all_settled(incident);
    }
    if (const auto why = over(ctx, of.name(), host, of.repair); !why.empty()) {
        of.note(NoteKind::outcome, fmt::format("the repair of {} ends: {}", of.name(), why));
        host.repair.reset();
        incident.withheld.clear();
        return !all_settled(incident);
    }
    switch (of.repair.stage) {
    case RepairStage::waiting:
        if (ctx.state.rm_read == ctx.now) begin_rung(of); // on data just read
        break;
    case RepairStage::acting: follow_action(of); break;
    case RepairStage::watching: follow_host(of); break;
    case RepairStage::returning: follow_return(of); break;
    case RepairStage::checking: follow_check(of); break;
    case RepairStage::hands: break;
    }
    return true;
}

} // namespace restart
