// Leaves compared with other leaves: rails missing in a unit, several rails on one leaf, storage on compute
// leaves.
#include "topo/check/absent.hpp"
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"
#include "topo/numbered_name.hpp"

#include <fmt/format.h>

#include <iterator>
#include <set>

namespace topo::checks {
namespace {

// Whether most spines of a unit have a free port below a used one: a cable was there.
bool spines_have_free_ports(const Fabric& fabric, const Unit& unit) {
    std::map<int, std::set<int>> ports; // of each spine
    std::set<int> spines;
    for (const Link& link : fabric.links)
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (here->switch_ == none || fabric.switches[at(here->switch_)].tier != 1) continue;
            ports[here->switch_].insert(here->port);
            if (there->switch_ != none &&
                std::find(unit.leaves.begin(), unit.leaves.end(), there->switch_) != unit.leaves.end())
                spines.insert(here->switch_);
        }
    const auto free = std::count_if(spines.begin(), spines.end(), [&](int s) {
        const auto& used = ports.at(s);
        return *used.rbegin() - *used.begin() >= static_cast<int>(used.size());
    });
    return static_cast<std::size_t>(free) * 2 > spines.size();
}

std::vector<int> leaves_of(const Unit& unit) {
    auto leaves = unit.more_leaves;
    std::copy_if(unit.leaves.begin(), unit.leaves.end(), std::back_inserter(leaves),
                 [](int leaf) { return leaf != none; });
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    return leaves;
}

// The name of a rail's leaf by that of another rail: how many numbers are between the two in most other
// units. Empty where they do not agree, or a switch has that name.
std::string as_in_other_units(const Fabric& fabric, const Unit& unit, std::size_t rail, std::size_t other) {
    constexpr int most = 4; // numbers of a name
    const auto name = [&](int leaf) -> const std::string& { return fabric.switches[at(leaf)].name; };
    for (int n = 0; n < most; ++n) {
        Mode<std::int64_t> steps;
        for (const Unit& like : fabric.units) {
            if (like.leaves[rail] == none || like.leaves[other] == none) continue;
            const auto from = numbered(name(like.leaves[other]), n),
                       to = numbered(name(like.leaves[rail]), n);
            steps.add(from && to && from->kin(*to) ? std::int64_t{to->number} - from->number : 0);
        }
        const auto own = numbered(name(unit.leaves[other]), n);
        if (!own || steps.empty() || steps.value() == 0 || steps.count() * 2 <= steps.total()) continue;
        const auto number = own->number + steps.value();
        const auto wanted = number < 0 ? std::string() : own->at(static_cast<std::uint32_t>(number));
        const bool taken = std::any_of(fabric.switches.begin(), fabric.switches.end(),
                                       [&](const Switch& one) { return one.name == wanted; });
        return taken ? std::string() : wanted;
    }
    return {};
}

// The names of all these rails' leaves, or none.
Names as_in_other_units(const Fabric& fabric, const Unit& unit, const std::vector<std::size_t>& lacking) {
    Names names;
    for (const auto rail : lacking) {
        std::string name;
        for (std::size_t other = 0; other < unit.leaves.size() && name.empty(); ++other)
            if (unit.leaves[other] != none) name = as_in_other_units(fabric, unit, rail, other);
        if (name.empty()) return {};
        names.push_back(std::move(name));
    }
    return names;
}

// Whether the unit has a rail behind these.
bool goes_on(const Unit& unit, const std::vector<std::size_t>& lacking) {
    return std::any_of(unit.leaves.begin() + static_cast<std::ptrdiff_t>(lacking.back()), unit.leaves.end(),
                       [](int leaf) { return leaf != none; });
}

// Rails that a whole unit lacks while most units have them, and leaves of the HCAs' further ports. A unit
// whose hosts have half the rails, or fewer, was built so, unless the leaves that it lacks are known by their
// names and by their places on the spines, and several are not its last ones.
void report_missing_leaves(const Fabric& fabric, Findings& findings) {
    std::vector<char> usual(at(fabric.rails), 0);
    Mode<std::size_t> further;
    for (std::size_t r = 0; r < usual.size(); ++r) {
        const auto with = std::count_if(fabric.units.begin(), fabric.units.end(),
                                        [&](const Unit& unit) { return unit.leaves[r] != none; });
        usual[r] = static_cast<std::size_t>(with) * 2 > fabric.units.size();
    }
    for (const Unit& unit : fabric.units)
        further.add(unit.more_leaves.size());
    for (const Unit& unit : fabric.units) {
        std::vector<std::size_t> lacking;
        for (std::size_t r = 0; r < usual.size(); ++r)
            if (usual[r] != 0 && unit.leaves[r] == none) lacking.push_back(r);
        const bool fewer = lacking.empty() && further.count() * 2 > further.total() &&
                           unit.more_leaves.size() + 1 == further.value();
        if (lacking.empty() && !fewer) continue;
        auto names = as_in_other_units(fabric, unit, lacking);
        if (names.empty() && lacking.size() < 2) names = absent_beside(fabric, leaves_of(unit));
        if (fewer && names.empty()) continue;
        if (of_another_make(lacking.size(), usual.size(), unit.hosts.size()) &&
            (names.empty() || !spines_have_free_ports(fabric, unit) ||
             (lacking.size() > 1 && !goes_on(unit, lacking))))
            continue;
        Finding finding{"unit.rails", Severity::error, {unit.name}, {}, "look for a leaf that is down"};
        finding.evidence = fmt::format("{} ({}) has no ", unit.name, host_names(fabric, unit.hosts));
        finding.evidence +=
            fewer ? std::string("link on a port of its HCAs")
                  : fmt::format("{} {}", lacking.size() == 1 ? "rail" : "rails", fmt::join(lacking, ", "));
        finding.evidence += ", which most units have";
        if (!names.empty()) {
            const auto which = fmt::format("{} {}", fmt::join(names, lacking.size() > 1 ? ", " : " or "),
                                           lacking.size() > 1 ? "are" : "is");
            finding.evidence += fmt::format("; {} not seen", which);
            finding.fix = fmt::format("look whether {} powered and cabled", which);
            finding.ends.insert(finding.ends.end(), names.begin(), names.end());
        }
        findings.push_back(std::move(finding));
    }
}

// A leaf that serves several rails while most serve one.
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
    std::map<std::vector<int>, std::size_t> built_so; // number of leaves with the same rails
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

// Leaves without any host: one info finding for the whole fabric.
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
