// Hosts compared with their unit: rails and ports without a link, hosts with too few HCAs.
#include "topo/check/nameless.hpp"
#include "topo/check/parts.hpp"
#include "topo/check/plan.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// A rail without a link that is an HCA of unknown name: it is reported with the names. The HCA either has the
// host's name, or has no name and is plugged in where the host's cable should be.
bool excused(const Fabric& fabric, const Nameless& nameless, int h, int rail, int leaf) {
    const Host& host = fabric.hosts[at(h)];
    for (const Hca& hca : host.hcas)
        for (const HcaPort& port : hca.ports)
            if (port.leaf == leaf && unidentified(host, hca)) return true;
    return nameless.stands_for(fabric, h, rail);
}

std::string rails_text(const std::vector<int>& rails) {
    return fmt::format("{} {}", rails.size() == 1 ? "rail" : "rails", fmt::join(rails, ", "));
}

// Whether that many hosts of the unit have lost rails, rather than being of another model: other models are
// at least a quarter of it.
bool lost_rails(const Unit& unit, std::size_t lacking, std::size_t of, std::size_t hosts) {
    return !of_another_make(lacking, of, hosts) || hosts * 4 < unit.hosts.size();
}

void report_missing_rails(const Fabric& fabric, const Nameless& nameless, Findings& findings) {
    for (const Unit& unit : fabric.units) {
        std::map<std::vector<int>, std::vector<std::uint32_t>> hosts; // by the rails they lack
        for (const auto h : unit.hosts) {
            std::vector<int> lacking;
            for (std::size_t r = 0; r < unit.leaves.size(); ++r)
                if (const int leaf = unit.leaves[r];
                    leaf != none && fabric.hosts[h].leaves[r] == none &&
                    !excused(fabric, nameless, static_cast<int>(h), static_cast<int>(r), leaf))
                    lacking.push_back(static_cast<int>(r));
            if (!lacking.empty()) hosts[lacking].push_back(h);
        }
        for (const auto& [rails, members] : hosts) {
            if (!lost_rails(unit, rails.size(), unit.leaves.size(), members.size())) continue;
            Finding finding{"host.rails", Severity::error, {host_names(fabric, members)}, {}, {}};
            std::vector<std::string> leaves;
            for (const int r : rails)
                leaves.push_back(switch_name(fabric, unit.leaves[at(r)]));
            finding.ends.insert(finding.ends.end(), leaves.begin(), leaves.end());
            finding.evidence = fmt::format("{} {} no link on {} ({}), which other hosts of {} have",
                                           finding.ends.front(), members.size() == 1 ? "has" : "have",
                                           rails_text(rails), base::fold_hostlist(leaves), unit.name);
            finding.fix = "look for a dead, disabled or uncabled HCA";
            findings.push_back(std::move(finding));
        }
    }
}

// For HCAs that use several ports: a port without a link while another one of the same HCA has its own.
void report_missing_ports(const Fabric& fabric, const Plan& plan, Findings& findings) {
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas) {
            if (host.unit == none || hca.rail == none || host.leaves[at(hca.rail)] == none) continue;
            for (const Lane& lane : plan.lanes(host.unit, hca.rail)) {
                if (Plan::port(host, hca, lane) != nullptr) continue;
                const auto end = fmt::format("{}/{}", hca_name(host, hca), lane.port);
                const auto leaf = switch_name(fabric, lane.leaf);
                findings.push_back(
                    {"hca.port",
                     Severity::error,
                     {end, leaf},
                     fmt::format("{} (rail {}) has no link, where other hosts of {} have one to {}", end,
                                 hca.rail, fabric.units[at(host.unit)].name, leaf),
                     "look for a dead or unplugged cable and a disabled port"});
            }
        }
}

// Hosts and units that are built with fewer rails: one info finding for the whole fabric.
void report_unequal_rails(const Fabric& fabric, Findings& findings) {
    using ByRails = std::map<std::size_t, std::vector<std::uint32_t>, std::greater<>>;
    ByRails hosts;
    for (const Unit& unit : fabric.units) {
        ByRails own;
        for (const auto h : unit.hosts) {
            const auto& hcas = fabric.hosts[h].hcas;
            own[at(static_cast<int>(std::count_if(hcas.begin(), hcas.end(),
                                                  [](const Hca& hca) { return hca.rail != none; })))]
                .push_back(h);
        }
        const auto most = own.empty() ? 0 : own.begin()->first;
        for (const auto& [rails, members] : own)
            if (rails == most || !lost_rails(unit, most - rails, most, members.size()))
                hosts[rails].insert(hosts[rails].end(), members.begin(), members.end());
    }
    std::vector<std::string> ends, counts;
    for (const auto& [rails, members] : hosts) {
        const auto most = hosts.begin()->first;
        if (rails != most && !of_another_make(most - rails, most, members.size())) continue;
        ends.push_back(host_names(fabric, members));
        counts.push_back(fmt::format("{} on {} ({})", counted(rails, "rail", "rails"),
                                     counted(members.size(), "host", "hosts"), ends.back()));
    }
    if (ends.size() < 2) return;
    findings.push_back(
        {"rails.unequal", Severity::info, ends,
         fmt::format("hosts have unequal numbers of rails: {}", fmt::join(counts, ", ")),
         "give jobs hosts of one kind, for the rails that only some have stand idle in a mixed one"});
}

std::string_view stem(std::string_view name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

// Compute hosts, judged by name, with so few HCAs that they count as service hosts.
void report_thin_hosts(const Fabric& fabric, Findings& findings) {
    std::map<std::string_view, Mode<std::size_t>> compute; // number of HCAs of compute hosts, by name stem
    for (const Host& host : fabric.hosts)
        if (host.unit != none) compute[stem(host.name)].add(host.hcas.size());
    for (const Host& host : fabric.hosts) {
        const auto kin = compute.find(stem(host.name));
        if (host.unit != none || kin == compute.end() || stem(host.name).empty() || nameless(host) ||
            host.hcas.size() >= kin->second.value())
            continue;
        findings.push_back(
            {"host.thin",
             Severity::error,
             {host.name},
             fmt::format("{} shows {} where hosts named like it have {}, and counts as a "
                         "storage or service host",
                         host.name, counted(host.hcas.size(), "HCA", "HCAs"), kin->second.value()),
             "look for dead or uncabled HCAs"});
    }
}

} // namespace

bool of_another_make(std::size_t lacking, std::size_t of, std::size_t hosts) {
    return hosts >= 2 && lacking * 2 >= of;
}

void hosts(const Fabric& fabric, const Plan& plan, const Nameless& nameless, Findings& findings) {
    report_missing_rails(fabric, nameless, findings);
    report_missing_ports(fabric, plan, findings);
    report_unequal_rails(fabric, findings);
    report_thin_hosts(fabric, findings);
}

} // namespace topo::checks
