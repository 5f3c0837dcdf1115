// Duplicate names, and hosts about which too little is known.
#include "topo/check/nameless.hpp"
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"
#include "topo/guid.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// The first few GUIDs with the ports that they are plugged into; nothing else distinguishes things of the
// same name.
std::string listed(const std::vector<std::string>& things) {
    constexpr std::size_t most = 8;
    if (things.size() <= most) return fmt::format("{}", fmt::join(things, ", "));
    return fmt::format("{}, …", fmt::join(things.begin(), things.begin() + most, ", "));
}

// "0x946dae0000a90010 on leaf-su6-r0/9".
std::string guid_and_port(const Fabric& fabric, const Hca& hca) {
    auto text = format_guid(hca.guid);
    for (const HcaPort& port : hca.ports) {
        if (port.link == none) continue;
        const Link& link = fabric.links[at(port.link)];
        text += fmt::format(" on {}", end_name(fabric, link.a.host == none ? link.a : link.b));
    }
    return text;
}

void report_duplicate_hcas(const Fabric& fabric, Findings& findings) {
    for (const Host& host : fabric.hosts) {
        std::map<std::string, std::vector<const Hca*>> named;
        for (const Hca& hca : host.hcas)
            named[hca.device].push_back(&hca);
        std::vector<std::string> devices, which;
        Finding finding{"name.duplicate", Severity::error, {host.name}, {}, {}};
        for (const auto& [device, hcas] : named) {
            if (hcas.size() < 2 || device.empty()) continue;
            devices.push_back(device);
            for (const Hca* hca : hcas) {
                finding.ends.push_back(format_guid(hca->guid));
                which.push_back(guid_and_port(fabric, *hca));
            }
        }
        if (devices.empty()) continue;
        finding.evidence = fmt::format("{} HCAs are described as {} {} ({})", which.size(), host.name,
                                       base::fold_hostlist(devices), listed(which));
        finding.fix = "give every host its own name and every HCA its own description (rdma-ndd does)";
        findings.push_back(std::move(finding));
    }
}

// Hosts with several HCAs known only by the host's name: their rails were derived from leaves.
void report_unnamed_devices(const Fabric& fabric, Findings& findings) {
    std::vector<std::uint32_t> hosts;
    std::size_t hcas = 0;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        const auto& all = fabric.hosts[h].hcas;
        const auto unnamed =
            std::count_if(all.begin(), all.end(), [](const Hca& hca) { return hca.device.empty(); });
        if (unnamed < 2) continue;
        hosts.push_back(h);
        hcas += static_cast<std::size_t>(unnamed);
    }
    if (hosts.empty()) return;
    const auto names = host_names(fabric, hosts);
    findings.push_back(
        {"name.device",
         Severity::warning,
         {names},
         fmt::format("the descriptions of {} HCAs of {} ({}) name no device: rails are told by "
                     "leaves, so that two exchanged cables of a host are not found",
                     hcas, counted(hosts.size(), "host", "hosts"), names),
         "let rdma-ndd set descriptions such as \"n001 mlx5_0\""});
}

void report_duplicate_switches(const Fabric& fabric, Findings& findings) {
    std::map<std::string, std::vector<std::string>> guids;
    for (const Switch& s : fabric.switches)
        guids[s.name].push_back(format_guid(s.guid));
    for (const auto& [name, list] : guids) {
        if (list.size() < 2) continue;
        Finding finding{"name.duplicate", Severity::warning, {name}, {}, "give each its own name"};
        finding.ends.insert(finding.ends.end(), list.begin(), list.end());
        finding.evidence = fmt::format("{} switches are named {} ({})", list.size(), name, listed(list));
        findings.push_back(std::move(finding));
    }
}

// HCAs whose description gives a host that already exists under that name, and those that give none.
void report_namesakes(const Fabric& fabric, const Nameless& nameless, Findings& findings) {
    std::map<std::string, std::vector<int>> twins; // name → single-HCA hosts
    for (int h = 0; at(h) < fabric.hosts.size(); ++h)
        if (auto name = namesake(fabric, fabric.hosts[at(h)]); !name.empty()) twins[name].push_back(h);
    for (const auto& [name, hcas] : twins) {
        Finding finding{"name.duplicate", Severity::error, {name}, {}, {}};
        std::map<int, std::vector<std::string>> ports; // by unit
        for (const auto& host : nameless.hosts())
            if (namesake(fabric, fabric.hosts[at(host.hcas.front().first)]) == name)
                ports[host.unit].push_back(std::to_string(host.port));
        std::vector<std::string> where;
        for (const auto& [unit, all] : ports)
            where.push_back(fmt::format("{} ({} {} of its leaves)", fabric.units[at(unit)].name,
                                        all.size() == 1 ? "port" : "ports", listed(all)));
        for (const int h : hcas)
            finding.ends.push_back(fabric.hosts[at(h)].name);
        finding.evidence =
            fmt::format("two or more hosts are named {}: beside the one whose rails are shown, {}{}{}", name,
                        counted(hcas.size(), "HCA", "HCAs"), where.empty() ? "" : " in ", listed(where));
        finding.fix = "give every host its own name";
        findings.push_back(std::move(finding));
    }
}

std::string_view described(const Fabric& fabric, int h) {
    const auto& hcas = fabric.hosts[at(h)].hcas;
    return hcas.empty() ? std::string_view() : std::string_view(hcas.front().device);
}

// "; 64 of them, all that are on leaf-su2-r[0-7], are probably 8 hosts", as far as it can be told.
std::string units_text(const Fabric& fabric, const std::vector<UnnamedUnit>& units) {
    if (units.empty())
        return fabric.units.empty() ? "; the names of their leaves do not tell of how many hosts they are"
                                    : "";
    std::size_t hosts = 0, hcas = 0;
    std::vector<std::string> leaves;
    for (const UnnamedUnit& unit : units) {
        hosts += unit.hosts;
        hcas += unit.hcas;
        leaves.push_back(switch_names(fabric, unit.leaves));
    }
    auto text = fmt::format("; {} of them, all that are on {}, are probably {}", hcas, listed(leaves),
                            counted(hosts, "host", "hosts"));
    if (units.size() > 1)
        text += fmt::format(" in {} units of {}, by the numbers of these leaves and equal ports there",
                            units.size(), counted(count_pods(fabric, units), "pod", "pods"));
    return text;
}

void report_nameless(const Fabric& fabric, const Nameless& nameless, Findings& findings) {
    std::vector<int> all;
    bool local = false;
    for (int h = 0; at(h) < fabric.hosts.size(); ++h) {
        const Host& host = fabric.hosts[at(h)];
        if (!topo::nameless(host) || !namesake(fabric, host).empty()) continue;
        all.push_back(h);
        local = local || described(fabric, h).starts_with("localhost");
    }
    if (all.empty()) return;
    Finding finding{"name.missing", Severity::warning, {}, {}, {}};
    for (const int h : all)
        finding.ends.push_back(fabric.hosts[at(h)].name);
    std::map<std::string, std::vector<int>> whole; // unit → ports, for hosts without any names
    std::size_t hosts = 0, of_hosts = 0;
    std::string owned;
    for (const auto& host : nameless.hosts()) {
        if (!namesake(fabric, fabric.hosts[at(host.hcas.front().first)]).empty()) continue;
        if (host.owner != none) {
            std::vector<int> rails;
            for (const auto& [h, rail] : host.hcas)
                if (rail != none) rails.push_back(rail);
            const auto& name = fabric.hosts[at(host.owner)].name;
            finding.ends.push_back(name);
            owned += fmt::format("{}{} rail {}", owned.empty() ? "" : ", ", name, fmt::join(rails, ", "));
        } else if (host.hcas.size() > 1) {
            ++hosts;
            of_hosts += host.hcas.size();
            whole[fabric.units[at(host.unit)].name].push_back(host.port);
        }
    }
    finding.evidence = fmt::format("the description of {} names no host{}, so {} left out of rails and units",
                                   counted(all.size(), "HCA", "HCAs"), local ? " (or localhost)" : "",
                                   all.size() == 1 ? "it is" : "they are");
    if (hosts > 0) {
        std::string where;
        for (const auto& [unit, ports] : whole)
            where += fmt::format("{}{} port {}", where.empty() ? "" : ", ", unit, fmt::join(ports, ", "));
        finding.evidence += fmt::format("; by equal ports of their leaves {} of them are probably {} ({})",
                                        of_hosts, counted(hosts, "host", "hosts"), where);
    }
    finding.evidence += units_text(fabric, nameless.units());
    if (!owned.empty())
        finding.evidence += fmt::format("; {} probably {}", all.size() == 1 ? "it is" : "others are", owned);
    finding.fix = "let rdma-ndd set descriptions such as \"n001 mlx5_0\"";
    findings.push_back(std::move(finding));
}

// Descriptions that spell their host's name differently from most of its HCAs.
void report_spellings(const Fabric& fabric, Findings& findings) {
    std::map<std::string, std::map<std::string, std::vector<std::string>>> odd; // host → spelling → devices
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            if (!hca.host_as.empty()) odd[host.name][hca.host_as].push_back(hca.device);
    if (odd.empty()) return;
    Finding finding{"name.spelling", Severity::warning, {}, {}, "let rdma-ndd set them alike on every host"};
    std::string which;
    for (const auto& [host, spellings] : odd) {
        finding.ends.push_back(host);
        for (const auto& [spelling, devices] : spellings)
            if (finding.ends.size() <= 8)
                which +=
                    fmt::format("{}{} {}", which.empty() ? "" : ", ", spelling, base::fold_hostlist(devices));
    }
    finding.evidence = fmt::format("HCAs of {} spell the host's name otherwise than its other HCAs: {}{}",
                                   counted(odd.size(), "host", "hosts"), which, odd.size() > 8 ? ", …" : "");
    findings.push_back(std::move(finding));
}

void report_without_facts(const Fabric& fabric, Findings& findings) {
    std::vector<std::uint32_t> without;
    std::size_t compute = 0;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        const auto& hcas = fabric.hosts[h].hcas;
        if (fabric.hosts[h].unit == none) continue;
        ++compute;
        if (std::all_of(hcas.begin(), hcas.end(),
                        [](const Hca& hca) { return hca.pci.empty() && hca.numa == none; }))
            without.push_back(h);
    }
    if (without.empty() || without.size() == compute) return; // facts were gathered for all hosts, or none
    findings.push_back(
        {"host.facts",
         Severity::warning,
         {host_names(fabric, without)},
         fmt::format("nothing is known of the PCI and NUMA places of the HCAs of {}, as it is of other hosts",
                     host_names(fabric, without)),
         "gather them there too"});
}

} // namespace

bool unidentified(const Host& host, const Hca& hca) {
    if (nameless(host)) return true;
    return hca.role == Role::storage &&
           std::any_of(host.hcas.begin(), host.hcas.end(), [&](const Hca& other) {
               return &other != &hca && other.device == hca.device &&
                      (other.role == Role::compute || other.guid < hca.guid);
           });
}

void names(const Fabric& fabric, const Nameless& nameless, Findings& findings) {
    report_duplicate_hcas(fabric, findings);
    report_unnamed_devices(fabric, findings);
    report_duplicate_switches(fabric, findings);
    report_namesakes(fabric, nameless, findings);
    report_nameless(fabric, nameless, findings);
    report_spellings(fabric, findings);
    report_without_facts(fabric, findings);
}

} // namespace topo::checks
