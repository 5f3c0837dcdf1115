// Leaves against the other leaves: rails that a unit lacks, several rails on one leaf, storage among compute.
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// Rails that a whole unit lacks while most units have them.
void report_missing_leaves(const Fabric& fabric, Findings& findings) {
    std::vector<char> usual(at(fabric.rails), 0);
    for (std::size_t r = 0; r < usual.size(); ++r) {
        const auto with = std::count_if(fabric.units.begin(), fabric.units.end(),
                                        [&](const Unit& unit) { return unit.leaves[r] != none; });
        usual[r] = static_cast<std::size_t>(with) * 2 > fabric.units.size();
    }
    for (const Unit& unit : fabric.units) {
        std::vector<std::size_t> lacking;
        for (std::size_t r = 0; r < usual.size(); ++r)
            if (usual[r] != 0 && unit.leaves[r] == none) lacking.push_back(r);
        if (lacking.empty() || of_another_make(lacking.size(), usual.size(), unit.hosts.size())) continue;
        findings.push_back({"unit.rails",
                            Severity::error,
                            {unit.name},
                            fmt::format("{} ({}) has no {} {}, which most units have", unit.name,
                                        host_names(fabric, unit.hosts),
                                        lacking.size() == 1 ? "rail" : "rails", fmt::join(lacking, ", ")),
                            "look for a leaf that is down"});
    }
}

// A leaf that serves several rails where most serve one.
void report_shared_leaves(const Fabric& fabric, Findings& findings) {
    std::map<int, std::vector<std::pair<int, int>>> served; // leaf → unit and rail
    for (int u = 0; at(u) < fabric.units.size(); ++u)
        for (std::size_t r = 0; r < fabric.units[at(u)].leaves.size(); ++r)
            if (const int leaf = fabric.units[at(u)].leaves[r]; leaf != none)
                served[leaf].emplace_back(u, static_cast<int>(r));
    const auto rails_on = [](const std::vector<std::pair<int, int>>& uses) {
        std::vector<int> rails;
        for (const auto& [unit, rail] : uses)
            rails.push_back(rail);
        std::sort(rails.begin(), rails.end());
        rails.erase(std::unique(rails.begin(), rails.end()), rails.end());
        return rails;
    };
    Mode<std::size_t> usual;
    std::map<std::vector<int>, std::size_t> built_so; // the same rails on one leaf, in how many leaves
    for (const auto& [leaf, uses] : served) {
        usual.add(rails_on(uses).size());
        ++built_so[rails_on(uses)];
    }
    for (const auto& [leaf, uses] : served) {
        const auto rails = rails_on(uses);
        if (rails.size() <= usual.value()) continue;
        if (built_so[rails] > 1) continue;
        findings.push_back(
            {"leaf.rails",
             Severity::warning,
             {switch_name(fabric, leaf)},
             fmt::format("{} carries rails {} of {}; most leaves carry {}", switch_name(fabric, leaf),
                         fmt::join(rails, ", "), fabric.units[at(uses.front().first)].name, usual.value()),
             "give each rail a leaf of its own"});
    }
}

// Leaves without any host: one piece of information for the whole fabric.
void report_idle_leaves(const Fabric& fabric, Findings& findings) {
    std::vector<char> used(fabric.switches.size(), 0);
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (port.leaf != none) used[at(port.leaf)] = 1;
    std::vector<int> idle;
    for (int s = 0; at(s) < fabric.switches.size(); ++s)
        if (fabric.switches[at(s)].tier == 0 && used[at(s)] == 0) idle.push_back(s);
    if (idle.empty()) return;
    const auto names = switch_names(fabric, idle);
    findings.push_back(
        {"leaf.idle",
         Severity::info,
         {names},
         fmt::format("{} ({}) {} uplinks as other leaves have, and no host",
                     counted(idle.size(), "switch", "switches"), names, idle.size() == 1 ? "has" : "have"),
         "look whether the hosts below are powered"});
}

void report_mixed_leaves(const Fabric& fabric, Findings& findings) {
    std::map<int, std::vector<std::string>> storage; // leaf → HCAs
    std::vector<std::size_t> compute(fabric.switches.size(), 0);
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports) {
                if (port.leaf == none || unidentified(host, hca)) continue;
                if (hca.role == Role::compute)
                    ++compute[at(port.leaf)];
                else
                    storage[port.leaf].push_back(hca_name(host, hca));
            }
    for (const auto& [leaf, hcas] : storage) {
        if (compute[at(leaf)] == 0 || fabric.switches[at(leaf)].tier != 0) continue;
        if (compute[at(leaf)] * 4 < hcas.size() || hcas.size() < 2) continue; // a cable in the wrong network
        Finding finding{"leaf.storage", Severity::info, {switch_name(fabric, leaf)}, {}, {}};
        finding.ends.insert(finding.ends.end(), hcas.begin(), hcas.end());
        finding.evidence = fmt::format(
            "{} carries {} and {} ({}{}), whose traffic shares its buffers and uplinks",
            switch_name(fabric, leaf), counted(compute[at(leaf)], "compute HCA", "compute HCAs"),
            counted(hcas.size(), "storage HCA", "storage HCAs"), hcas.front(), hcas.size() > 1 ? ", …" : "");
        finding.fix = "give storage leaves of its own, or a service level of its own";
        findings.push_back(std::move(finding));
    }
}

} // namespace

void leaves(const Fabric& fabric, Findings& findings) {
    report_missing_leaves(fabric, findings);
    report_shared_leaves(fabric, findings);
    report_idle_leaves(fabric, findings);
    report_mixed_leaves(fabric, findings);
}

} // namespace topo::checks
