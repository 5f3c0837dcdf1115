// Names that are not unique, and hosts about which too little is known.
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"
#include "topo/guid.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

void report_duplicate_hcas(const Fabric& fabric, Findings& findings) {
    for (const Host& host : fabric.hosts) {
        std::map<std::string, std::vector<Guid>> guids;
        for (const Hca& hca : host.hcas)
            guids[hca.device].push_back(hca.guid);
        std::vector<std::string> devices;
        for (const auto& [device, list] : guids)
            if (list.size() > 1) devices.push_back(device.empty() ? "without a device name" : device);
        if (devices.empty()) continue;
        // Many names twice are two machines with one name; a few are HCAs with a wrong description.
        Finding finding{"name.duplicate", Severity::error, {host.name}, {}, {}};
        for (const auto& [device, list] : guids)
            if (list.size() > 1)
                for (const Guid guid : list)
                    finding.ends.push_back(format_guid(guid));
        finding.evidence = fmt::format("{} HCAs are described as {} {}", finding.ends.size() - 1, host.name,
                                       base::fold_hostlist(devices));
        finding.fix = "give every host its own name and every HCA its own description (rdma-ndd does)";
        findings.push_back(std::move(finding));
    }
}

void report_duplicate_switches(const Fabric& fabric, Findings& findings) {
    std::map<std::string, std::vector<std::string>> guids;
    for (const Switch& s : fabric.switches)
        guids[s.name].push_back(format_guid(s.guid));
    for (const auto& [name, list] : guids) {
        if (list.size() < 2) continue;
        Finding finding{"name.duplicate", Severity::warning, {name}, {}, "give each its own name"};
        finding.ends.insert(finding.ends.end(), list.begin(), list.end());
        finding.evidence =
            fmt::format("{} switches are named {} ({})", list.size(), name, fmt::join(list, ", "));
        findings.push_back(std::move(finding));
    }
}

void report_nameless(const Fabric& fabric, Findings& findings) {
    std::vector<std::string> nameless;
    for (const Host& host : fabric.hosts)
        if (host.name.starts_with("0x")) nameless.push_back(host.name);
    if (nameless.empty()) return;
    constexpr std::size_t most = 8;
    const auto count = nameless.size();
    if (count > most) nameless.resize(most);
    findings.push_back({"name.missing", Severity::warning, nameless,
                        fmt::format("the description of {} names no host, so {} left out of rails and units",
                                    counted(count, "HCA", "HCAs"), count == 1 ? "it is" : "they are"),
                        "let rdma-ndd set descriptions such as \"n001 mlx5_0\""});
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
    if (without.empty() || without.size() == compute) return; // facts were gathered of all, or of none
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
    if (host.name.starts_with("0x")) return true;
    return hca.role == Role::storage &&
           std::any_of(host.hcas.begin(), host.hcas.end(),
                       [&](const Hca& other) { return other.device == hca.device && other.guid < hca.guid; });
}

void names(const Fabric& fabric, Findings& findings) {
    report_duplicate_hcas(fabric, findings);
    report_duplicate_switches(fabric, findings);
    report_nameless(fabric, findings);
    report_without_facts(fabric, findings);
}

} // namespace topo::checks
