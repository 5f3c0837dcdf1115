// Hosts and units that were added, removed or renamed.
#include "topo/diff/report.hpp"

#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo::drift {
namespace {

std::vector<int> leaves_of(const Unit& unit) {
    auto leaves = unit.leaves;
    leaves.insert(leaves.end(), unit.more_leaves.begin(), unit.more_leaves.end());
    std::erase(leaves, none);
    return leaves;
}

// Units and pods whose hosts are all missing in the other fabric; with one host they are reported as that
// host.
struct Whole {
    std::vector<char> units, pods;
};

Whole whole_units(const Fabric& fabric, const std::vector<int>& there) {
    Whole whole{std::vector<char>(fabric.units.size(), 0), std::vector<char>(fabric.pods.size(), 0)};
    for (std::size_t u = 0; u < fabric.units.size(); ++u) {
        const auto& hosts = fabric.units[u].hosts;
        whole.units[u] = hosts.size() > 1 &&
                         std::all_of(hosts.begin(), hosts.end(), [&](auto h) { return there[h] == none; });
    }
    for (std::size_t p = 0; p < fabric.pods.size(); ++p) {
        const auto& units = fabric.pods[p].units;
        whole.pods[p] = units.size() > 1 &&
                        std::all_of(units.begin(), units.end(), [&](auto u) { return whole.units[u] != 0; });
    }
    return whole;
}

// Hosts of one fabric that are not in the other, reported as whole pods and units if possible.
void report_missing(const Report& report, const Fabric& fabric, const std::vector<int>& there,
                    const std::vector<std::vector<HcaAt>>& hcas_there, const std::vector<int>& switch_there,
                    bool gone) {
    const auto whole = whole_units(fabric, there);
    const std::string_view verb = gone ? "removed" : "added", is = gone ? "gone" : "new";
    const auto switches = [&](const std::vector<int>& all) {
        std::vector<int> missing;
        for (const int s : all)
            if (switch_there[at(s)] == none && std::find(missing.begin(), missing.end(), s) == missing.end())
                missing.push_back(s);
        return missing.empty() ? std::string()
                               : fmt::format(", and {} {}", counted(missing.size(), "switch", "switches"),
                                             switch_names(fabric, missing));
    };
    std::vector<std::vector<int>> of_pod(fabric.pods.size());
    for (int s = 0; at(s) < fabric.switches.size(); ++s)
        if (const int pod = fabric.switches[at(s)].pod; pod != none) of_pod[at(pod)].push_back(s);
    for (std::size_t p = 0; p < fabric.pods.size(); ++p) {
        const Pod& pod = fabric.pods[p];
        std::vector<std::uint32_t> hosts;
        for (const auto u : pod.units) {
            const Unit& unit = fabric.units[u];
            if (whole.units[u] != 0 && whole.pods[p] == 0)
                report.add(fmt::format("unit.{}", verb), {unit.name},
                           fmt::format("{} is {}: {} {}{}", unit.name, is,
                                       counted(unit.hosts.size(), "host", "hosts"),
                                       host_names(fabric, unit.hosts), switches(leaves_of(unit))));
            hosts.insert(hosts.end(), unit.hosts.begin(), unit.hosts.end());
        }
        if (whole.pods[p] != 0)
            report.add(fmt::format("pod.{}", verb), {pod.name},
                       fmt::format("{} is {}: {}, {} {}{}", pod.name, is,
                                   counted(pod.units.size(), "unit", "units"),
                                   counted(hosts.size(), "host", "hosts"), host_names(fabric, hosts),
                                   switches(of_pod[p])));
    }
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        const Host& host = fabric.hosts[h];
        if (there[h] != none || (host.unit != none && whole.units[at(host.unit)] != 0)) continue;
        // A name in the descriptions of HCAs of known hosts: reported as those HCAs.
        if (!host.hcas.empty() && std::all_of(hcas_there[h].begin(), hcas_there[h].end(),
                                              [](const HcaAt& hca) { return hca.host != none; }))
            continue;
        report.add(fmt::format("host.{}", verb), {host.name},
                   fmt::format("{} is {}: {}{}", host.name, is, counted(host.hcas.size(), "HCA", "HCAs"),
                               host.unit == none
                                   ? ""
                                   : fmt::format(", in {}", gone ? fabric.units[at(host.unit)].name
                                                                 : report.unit_name(host.unit))));
    }
}

} // namespace

std::vector<char> switches_of_whole_units(const Fabric& fabric, const std::vector<int>& there,
                                          const std::vector<int>& switch_there) {
    const auto whole = whole_units(fabric, there);
    std::vector<char> folded(fabric.switches.size(), 0);
    for (std::size_t u = 0; u < fabric.units.size(); ++u)
        for (const int leaf : leaves_of(fabric.units[u]))
            if (whole.units[u] != 0) folded[at(leaf)] = 1;
    for (std::size_t s = 0; s < folded.size(); ++s) {
        const int pod = fabric.switches[s].pod;
        if (pod != none && whole.pods[at(pod)] != 0) folded[s] = 1;
        if (switch_there[s] != none) folded[s] = 0;
    }
    return folded;
}

void report_hosts(const Report& report) {
    report_missing(report, report.before, report.match.host_after, report.match.hca_after,
                   report.match.switch_after, true);
    report_missing(report, report.after, report.match.host_before, report.match.hca_before,
                   report.match.switch_before, false);
    Renamed renamed;
    for (std::size_t h = 0; h < report.before.hosts.size(); ++h)
        if (const int now = report.match.host_after[h];
            now != none && report.before.hosts[h].name != report.after.hosts[at(now)].name)
            renamed.emplace(report.before.hosts[h].name, report.after.hosts[at(now)].name);
    report_renamed(report, "host.renamed", renamed, "HCAs");
}

} // namespace topo::drift
