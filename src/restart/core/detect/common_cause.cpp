#include "restart/core/detect/common_cause.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/file_trust.hpp"
#include "restart/core/detect/symptoms.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/learn/learn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace restart {
namespace {

// A few hosts may see a switch again some seconds after the others.
constexpr base::Duration stragglers{60'000};
// This many restarts of switches are remembered. One that takes this many times [topology] switch_restart is
// not a restart but a repair.
constexpr std::size_t most_restarts = 10;
constexpr int longest_restart = 4;
constexpr base::Duration least_wait{30'000};
// How soon after its end the effect of such a fault on jobs is known, and how long to wait for the resource
// manager.
constexpr base::Duration aftermath{3'000}, rm_awaited{30'000};

bool is_cause(const Incident& incident) {
    return incident.kind == IncidentKind::common_cause;
}

// Open, and not over.
bool stands(const Incident& incident) {
    return is_cause(incident) && incident.phase != Phase::verifying;
}

std::vector<std::string> keys_of(const Accused& accused) {
    std::set<std::string> keys;
    for (const auto* symptom : accused.by)
        keys.insert(symptom->key);
    return {keys.begin(), keys.end()};
}

std::string parts_text(const Accused& accused) {
    const auto hosts = base::fold_hostlist({accused.hosts.begin(), accused.hosts.end()});
    const auto count = accused.parts.size();
    switch (accused.culprit.kind) {
    case CulpritKind::switch_:
    case CulpritKind::rail:
        return hosts.empty() ? fmt::format("{} of its links are down", count)
                             : fmt::format("{} of its links are bad, at {}", count, hosts);
    case CulpritKind::rack:
    case CulpritKind::unit: return fmt::format("the GPUs of {} of its hosts are slowed: {}", count, hosts);
    case CulpritKind::driver: return fmt::format("{} hosts miss GPUs: {}", count, hosts);
    case CulpritKind::link: break;
    }
    return "it is down";
}

struct Wait {
    base::Duration time{};
    std::string from;
};

// How long to wait for it.
Wait wait_for(const StepContext& ctx, CulpritKind kind) {
    if (kind == CulpritKind::link) return {};
    const auto& seen = ctx.state.switch_restarts;
    if (kind != CulpritKind::switch_ || seen.empty())
        return {ctx.policy.switch_restart, "[topology] switch_restart"};
    const auto longest = *std::max_element(seen.begin(), seen.end());
    return {std::max(least_wait, longest * 3 / 2),
            seen.size() == 1
                ? std::string("half as long again as the one restart that was seen")
                : fmt::format("half as long again as the longest of the last {} restarts", seen.size())};
}

void open_cause(StepContext& ctx, const Accused& accused) {
    auto fault = ctx.now;
    for (const auto* symptom : accused.by)
        fault = std::min(fault, symptom->since);
    auto& incident =
        open_incident(ctx, IncidentKind::common_cause, Phase::suspected, {}, accused.culprit.name, fault);
    incident.cause = accused.culprit.name;
}

// After all agents have reported, so that the note names all.
void tell(StepContext& ctx, Incident& incident, const Accused& accused) {
    incident.phase = Phase::watching;
    incident.what = state_text(fmt::format("{}: {}", incident.cause, parts_text(accused)), 512);
    ctx.note(NoteKind::signal, incident, {}, incident.what);
    const auto wait = wait_for(ctx, accused.culprit.kind);
    incident.wait_until = incident.fault + wait.time;
    ctx.note(
        NoteKind::decision, incident, {},
        wait.time == base::Duration{}
            ? std::string("one fault: no host is drained for it")
            : fmt::format("one fault, not {}: no host is drained for it, and jobs stay until {} after it "
                          "began ({})",
                          accused.hosts.empty() ? "many" : fmt::format("{}", accused.hosts.size()),
                          base::human_duration(wait.time), wait.from));
}

// The incident that drained the host for a finding that a common cause accounts for; empty: none did.
std::string drained_for_it(const HostState& host) {
    if (!owned_by_us(host) || !host.node->drain) return {};
    const auto& reason = host.node->reason;
    const bool for_it = std::any_of(host.findings.begin(), host.findings.end(), [&](const Finding& finding) {
        return has_name(host.explained, key_of(finding)) &&
               reason.find(finding.component + ' ' + finding.rule + ':') != std::string::npos;
    });
    const auto owner = owner_of(reason);
    return for_it && owner.starts_with("i-") ? std::string(owner) : std::string();
}

// Incidents of single hosts that were opened before the cause was seen, open or not.
void join(StepContext& ctx, Incident& incident) {
    for (const auto& name : hosts_of(incident)) {
        if (const auto owner = drained_for_it(ctx.state.hosts.at(name)); !owner.empty())
            add_name(incident.merged, owner);
        const auto* found = ctx.state.incident_of(name);
        if (found == nullptr || found->kind != IncidentKind::bad_host ||
            has_name(found->merged, incident.id()) || explained_by(ctx.state, name) != &incident)
            continue;
        add_name(incident.merged, found->id());
        ctx.state.incidents.at(found->number).merged.push_back(incident.id());
        forget_fault(ctx, *found);
        ctx.note(NoteKind::decision, ctx.state.incidents.at(found->number), {},
                 fmt::format("joined in {}: the cause is {}", incident.id(), incident.cause));
    }
}

void end_cause(StepContext& ctx, Incident& incident, std::string how) {
    ctx.note(NoteKind::outcome, incident, {}, std::move(how));
    incident.phase = Phase::verifying;
    incident.rules.clear();
}

void recover(StepContext& ctx, Incident& incident, CulpritKind kind) {
    const auto took = *incident.none_since - incident.fault;
    end_cause(ctx, incident,
              fmt::format("{} is well again after {}", incident.cause, base::human_duration(took)));
    if (kind != CulpritKind::switch_ || took > longest_restart * ctx.policy.switch_restart) return;
    auto& seen = ctx.state.switch_restarts;
    if (seen.size() == most_restarts) seen.erase(seen.begin());
    seen.push_back(took);
}

CulpritKind kind_of(const Incident& incident) {
    const std::string_view cause = incident.cause;
    return cause.starts_with("rail ")     ? CulpritKind::rail
           : cause.starts_with("rack ")   ? CulpritKind::rack
           : cause.starts_with("unit ")   ? CulpritKind::unit
           : cause.starts_with("link ")   ? CulpritKind::link
           : cause.starts_with("driver ") ? CulpritKind::driver
                                          : CulpritKind::switch_;
}

// What is left of the open incident; symptoms that it explains belong to no other.
void follow(StepContext& ctx, Incident& incident, const Accused* accused) {
    if (accused == nullptr || accused->by.empty()) {
        if (!incident.none_since) incident.none_since = ctx.now;
        const auto over = *incident.none_since;
        // It must first be known which jobs have not survived it.
        const bool known = ctx.state.rm_read && *ctx.state.rm_read >= over + aftermath;
        return known || ctx.now >= over + rm_awaited ? recover(ctx, incident, kind_of(incident)) : void();
    }
    incident.none_since.reset();
    auto keys = keys_of(*accused);
    if (keys != incident.rules) {
        incident.rules = std::move(keys);
        ctx.changed();
    }
    const auto parts = static_cast<std::uint32_t>(accused->parts.size());
    incident.most_parts = std::max(incident.most_parts, parts);
    if (incident.phase == Phase::suspected && ctx.now - incident.opened >= company(ctx.policy))
        tell(ctx, incident, *accused);
    if (2 * parts >= incident.most_parts) {
        incident.few_since.reset();
    } else if (!incident.few_since) {
        incident.few_since = ctx.now;
    } else if (ctx.now - *incident.few_since >= stragglers) {
        const auto left = base::fold_hostlist({accused->hosts.begin(), accused->hosts.end()});
        end_cause(ctx, incident,
                  fmt::format("{} of {} are well again: {} judged alone", incident.most_parts - parts,
                              incident.most_parts, left.empty() ? "the others are" : left + " is"));
    }
}

// Removes its symptoms from all other candidates.
void claim(std::map<Culprit, Accused>& all, const Accused& winner) {
    const std::set<const Symptom*> taken(winner.by.begin(), winner.by.end());
    for (auto& [culprit, accused] : all) {
        if (culprit == winner.culprit ||
            std::erase_if(accused.by, [&](const Symptom* symptom) { return taken.contains(symptom); }) == 0)
            continue;
        accused.parts.clear();
        accused.hosts.clear();
        for (const auto* symptom : accused.by) {
            accused.parts.insert(symptom->part);
            if (!symptom->host.empty()) accused.hosts.insert(symptom->host);
        }
    }
}

// The culprit that accounts for most of the unexplained symptoms; null: none.
const Accused* next_culprit(const StepContext& ctx, const std::map<Culprit, Accused>& all,
                            const std::set<Culprit>& done) {
    const Accused* best = nullptr;
    for (const auto& [culprit, accused] : all)
        if (!done.contains(culprit) && !accused.by.empty() && is_culprit(ctx.state, accused) &&
            (best == nullptr || accused.by.size() > best->by.size()))
            best = &accused;
    return best;
}

Incident* open_about(State& state, const Culprit& culprit) {
    for (auto& [number, incident] : state.incidents)
        if (stands(incident) && incident.cause == culprit.name) return &incident;
    return nullptr;
}

// For each host, the findings that an open incident accounts for.
void mark_explained(State& state) {
    std::map<std::string, std::vector<std::string>, std::less<>> keys;
    for (const auto& [number, incident] : state.incidents)
        if (stands(incident))
            for (const auto& key : incident.rules)
                if (const auto space = key.find(' '); key.find('@', space) != std::string::npos)
                    keys[key.substr(0, space)].push_back(key.substr(space + 1));
    for (auto& [name, host] : state.hosts) {
        const auto mine = keys.find(name);
        if (mine == keys.end())
            host.explained.clear();
        else
            host.explained = std::move(mine->second);
    }
}

bool mass_silence(const State& state) {
    return std::any_of(state.incidents.begin(), state.incidents.end(),
                       [](const auto& entry) { return entry.second.kind == IncidentKind::mass_silence; });
}

} // namespace

base::Duration company(const Policy& policy) {
    return 3 * policy.report_interval;
}

void note_arrivals(StepContext& ctx, const std::string& name, HostState& host) {
    std::erase_if(host.arrived, [&](const auto& entry) { return !holds_finding(host, entry.first); });
    for (const auto& finding : host.findings)
        if (may_have_company(ctx.policy, name, host, finding))
            host.arrived.try_emplace(key_of(finding), ctx.now);
}

bool awaits_company(const StepContext& ctx, const HostState& host, const Finding& finding) {
    const auto arrived = host.arrived.find(key_of(finding));
    return finding.severity == Severity::evict && arrived != host.arrived.end() &&
           ctx.now - arrived->second < company(ctx.policy);
}

const Incident* explained_by(const State& state, std::string_view host, const Finding& finding) {
    const auto key = fmt::format("{} {}", host, key_of(finding));
    for (const auto& [number, incident] : state.incidents)
        if (stands(incident) && std::binary_search(incident.rules.begin(), incident.rules.end(), key))
            return &incident;
    return nullptr;
}

const Incident* explained_by(const State& state, std::string_view name) {
    const auto host = state.hosts.find(name);
    if (host == state.hosts.end()) return nullptr;
    const Incident* by = nullptr;
    for (const auto& finding : host->second.findings) {
        if (finding.severity < Severity::evict || !counts(state, host->second, finding) ||
            has_name(host->second.overruled, key_of(finding)))
            continue;
        by = explained_by(state, name, finding);
        if (by == nullptr) return nullptr;
    }
    return by;
}

std::vector<std::string> hosts_of(const Incident& incident) {
    std::vector<std::string> hosts;
    if (!is_cause(incident)) return hosts;
    for (const auto& key : incident.rules)
        if (const auto space = key.find(' '); key.find('@', space) != std::string::npos)
            add_name(hosts, key.substr(0, space));
    std::sort(hosts.begin(), hosts.end());
    return hosts;
}

bool has_host(const Incident& incident, std::string_view host) {
    return has_name(hosts_of(incident), host);
}

void check_causes(StepContext& ctx) {
    if (!ctx.state.rm_read) return;
    const auto symptoms = look_for_symptoms(ctx);
    auto& incidents = ctx.state.incidents;
    const bool any_open = std::any_of(incidents.begin(), incidents.end(),
                                      [](const auto& entry) { return stands(entry.second); });
    if (symptoms.empty() && !any_open) return;

    auto all = accuse(ctx, symptoms);
    std::set<Culprit> done;
    // Open ones keep what they account for, unless something larger now accounts for all of it.
    std::vector<std::pair<std::uint64_t, Culprit>> standing;
    for (const auto& [number, incident] : incidents)
        if (stands(incident)) standing.emplace_back(number, Culprit{kind_of(incident), incident.cause});
    for (const auto& [number, culprit] : standing) {
        const auto found = all.find(culprit);
        auto& incident = incidents.at(number);
        const auto* bigger = found == all.end() ? nullptr : next_culprit(ctx, all, done);
        if (bigger != nullptr && !(bigger->culprit == culprit) &&
            bigger->parts.size() >= 2 * found->second.parts.size() &&
            std::includes(bigger->parts.begin(), bigger->parts.end(), found->second.parts.begin(),
                          found->second.parts.end())) {
            end_cause(ctx, incident, fmt::format("the cause is {}", bigger->culprit.name));
            continue;
        }
        done.insert(culprit);
        if (found != all.end()) claim(all, found->second);
        follow(ctx, incident, found == all.end() ? nullptr : &found->second);
    }
    // Each of these changes what the others are blamed for.
    while (const auto* culprit = next_culprit(ctx, all, done)) {
        done.insert(culprit->culprit);
        claim(all, *culprit);
        if (open_about(ctx.state, culprit->culprit) == nullptr) open_cause(ctx, *culprit);
        if (auto* incident = open_about(ctx.state, culprit->culprit)) follow(ctx, *incident, culprit);
    }
    mark_explained(ctx.state);
    for (auto& [number, incident] : incidents)
        if (stands(incident)) join(ctx, incident);
}

std::string why_left_alone(const State& state, std::string_view name) {
    if (const auto* cause = explained_by(state, name)) return "the cause is " + cause->cause;
    if (mass_silence(state)) return "many agents are silent, which is no fault of hosts";
    return {};
}

} // namespace restart
