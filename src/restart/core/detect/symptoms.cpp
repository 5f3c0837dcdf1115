#include "restart/core/detect/symptoms.hpp"

#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/file_trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace restart {
namespace {

bool is_throttle(const Finding& finding) {
    return finding.rule.starts_with("gpu.throttle.");
}

// It counts as missing for placement at once, and asks to leave the host later: hosts whose driver is
// replaced one after the other are grouped before the first of them must be left.
bool is_missing(const Finding& finding) {
    return finding.rule == "gpu.missing" && finding.severity >= Severity::warn;
}

const HostPort* port_of(const HostState& host, const Finding& finding) {
    if (!finding.rule.starts_with("ib.")) return nullptr;
    const auto named = std::find_if(host.port_names.begin(), host.port_names.end(),
                                    [&](const PortName& one) { return one.port == finding.component; });
    const auto& listed = named == host.port_names.end() ? finding.component : named->listed;
    const auto port = std::find_if(host.ports.begin(), host.ports.end(),
                                   [&](const HostPort& p) { return p.component == listed; });
    return port == host.ports.end() || (port->leaf.empty() && port->peer.empty()) ? nullptr : &*port;
}

std::string rack_of(const Policy& policy, std::string_view name) {
    const auto rack = policy.racks.find(name);
    return rack == policy.racks.end() ? std::string() : rack->second;
}

Culprit switch_culprit(const State& state, const std::string& name) {
    const auto found = state.switches.find(name);
    const auto tier = found == state.switches.end() ? 0 : found->second.tier;
    return {CulpritKind::switch_, fmt::format("{} switch {}",
                                              tier == 0   ? "leaf"
                                              : tier == 1 ? "spine"
                                                          : "core",
                                              name)};
}

Culprit rail_culprit(int rail, const std::string& unit) {
    return {CulpritKind::rail, fmt::format("rail {} of unit {}", rail, unit)};
}

std::vector<Culprit> accused_by_port(const State& state, const std::string& name, const HostState& host,
                                     const HostPort& port) {
    std::vector<Culprit> accused;
    if (!port.leaf.empty()) accused.push_back(switch_culprit(state, port.leaf));
    if (port.rail >= 0 && !host.unit.empty()) accused.push_back(rail_culprit(port.rail, host.unit));
    if (!port.peer.empty()) {
        auto one = name + ' ' + port.component, other = port.peer;
        if (other < one) std::swap(one, other);
        accused.push_back({CulpritKind::link, fmt::format("link {} - {}", one, other)});
    }
    return accused;
}

bool may_be_symptom(const State& state, const HostState& host, const Finding& finding) {
    return (finding.severity == Severity::evict || is_missing(finding)) && counts(state, host, finding) &&
           !has_name(host.overruled, key_of(finding));
}

void add_findings(const StepContext& ctx, const std::string& name, const HostState& host,
                  std::vector<Symptom>& symptoms) {
    for (const auto& finding : host.findings) {
        if (!may_be_symptom(ctx.state, host, finding)) continue;
        const bool explained = has_name(host.explained, key_of(finding));
        Symptom symptom{name + ' ' + key_of(finding), {}, name, finding.since, {}, explained};
        if (const auto* port = port_of(host, finding)) {
            symptom.part = name + ' ' + port->component;
            symptom.accused = accused_by_port(ctx.state, name, host, *port);
        } else if (is_throttle(finding)) {
            symptom.part = name;
            if (const auto rack = rack_of(ctx.policy, name); !rack.empty())
                symptom.accused.push_back({CulpritKind::rack, "rack " + rack});
            if (!host.unit.empty()) symptom.accused.push_back({CulpritKind::unit, "unit " + host.unit});
        } else if (is_missing(finding)) {
            symptom.part = name;
            symptom.accused.push_back({CulpritKind::driver, "driver of the GPUs"});
        }
        if (!symptom.accused.empty()) symptoms.push_back(std::move(symptom));
    }
}

// The link of a host that is off, away or silent says nothing about the switch.
bool at_absent_host(const StepContext& ctx, const std::string& link) {
    const auto host = ctx.state.hosts.find(link.substr(0, link.find(' ')));
    return host != ctx.state.hosts.end() && (!host->second.last_report || host->second.lost ||
                                             (host->second.node && host->second.node->away) ||
                                             ctx.now - *host->second.last_report > ctx.policy.silent);
}

// Links that the last sweep saw down: each is listed at both of its switches.
void add_links(const StepContext& ctx, std::vector<Symptom>& symptoms) {
    const auto& state = ctx.state;
    std::map<std::string_view, Symptom> links;
    for (const auto& [name, one] : state.switches)
        for (const auto& link : one.down) {
            if (at_absent_host(ctx, link)) continue;
            auto& symptom = links[link];
            symptom.key = symptom.part = link;
            symptom.since = ctx.now;
            symptom.accused.push_back(switch_culprit(state, name));
        }
    for (auto& [link, symptom] : links) {
        // A single link of a host is left to its agent to report.
        if (symptom.accused.size() > 1)
            symptom.accused.push_back({CulpritKind::link, fmt::format("link {}", link)});
        symptoms.push_back(std::move(symptom));
    }
}

std::map<Culprit, Accused> group(const std::vector<Symptom>& symptoms) {
    std::map<Culprit, Accused> all;
    std::map<Culprit, base::Time> newest;
    for (const auto& symptom : symptoms)
        for (const auto& culprit : symptom.accused)
            newest[culprit] = std::max(newest[culprit], symptom.since);
    for (const auto& symptom : symptoms)
        for (const auto& culprit : symptom.accused) {
            if (!symptom.explained && symptom.since + one_cause_within < newest[culprit]) continue;
            auto& accused = all[culprit];
            accused.culprit = culprit;
            accused.by.push_back(&symptom);
            accused.parts.insert(symptom.part);
            if (!symptom.host.empty()) accused.hosts.insert(symptom.host);
        }
    return all;
}

// Counts the parts of each candidate, over hosts that report: one pass for all.
void count_parts(const StepContext& ctx, std::map<Culprit, Accused>& all) {
    const auto add = [&](const Culprit& culprit) {
        if (const auto found = all.find(culprit); found != all.end()) ++found->second.all;
    };
    for (const auto& [name, host] : ctx.state.hosts) {
        if (!host.last_report || host.lost) continue;
        std::set<Culprit> mine;
        for (const auto& port : host.ports)
            for (auto& culprit : accused_by_port(ctx.state, name, host, port)) {
                if (culprit.kind == CulpritKind::switch_)
                    add(culprit); // each port is a part
                else
                    mine.insert(std::move(culprit));
            }
        if (const auto rack = rack_of(ctx.policy, name); !rack.empty())
            mine.insert({CulpritKind::rack, "rack " + rack});
        if (!host.unit.empty()) mine.insert({CulpritKind::unit, "unit " + host.unit});
        add({CulpritKind::driver, "driver of the GPUs"});
        for (const auto& culprit : mine)
            add(culprit);
    }
}

bool most(std::size_t some, std::size_t all) {
    return some >= 2 && (some >= all || (some >= 3 && 2 * some >= all));
}

} // namespace

std::vector<Symptom> look_for_symptoms(const StepContext& ctx) {
    std::vector<Symptom> symptoms;
    for (const auto& [name, host] : ctx.state.hosts)
        if (!host.findings.empty() && !host.lost) add_findings(ctx, name, host, symptoms);
    add_links(ctx, symptoms);
    return symptoms;
}

std::map<Culprit, Accused> accuse(const StepContext& ctx, const std::vector<Symptom>& symptoms) {
    auto all = group(symptoms);
    if (!all.empty()) count_parts(ctx, all);
    return all;
}

bool may_have_company(const Policy& policy, const std::string& name, const HostState& host,
                      const Finding& finding) {
    return finding.severity == Severity::evict &&
           (port_of(host, finding) != nullptr || (is_throttle(finding) && !rack_of(policy, name).empty()) ||
            is_missing(finding));
}

bool is_culprit(const State& state, const Accused& accused) {
    switch (accused.culprit.kind) {
    case CulpritKind::link:
        return accused.hosts.empty() || accused.parts.size() == 2; // between switches, or both hosts
    case CulpritKind::switch_: {
        if (!accused.hosts.empty() && most(accused.parts.size(), accused.all)) return true;
        constexpr std::string_view word = " switch ";
        const auto name = accused.culprit.name.substr(accused.culprit.name.find(word) + word.size());
        const auto found = state.switches.find(name);
        return found != state.switches.end() && most(accused.parts.size(), found->second.links);
    }
    case CulpritKind::rail:
    case CulpritKind::rack:
    case CulpritKind::driver:
    case CulpritKind::unit: return most(accused.hosts.size(), accused.all);
    }
    return false;
}

} // namespace restart
