// NVLink domains compared with units: a rack that shares NVLink switches is cabled to the leaves of one unit.
#include "topo/check/parts.hpp"

#include <fmt/format.h>

namespace topo::checks {

// One finding per domain: the hosts in other units than most of it.
void domains(const Fabric& fabric, Findings& findings) {
    for (const Domain& domain : fabric.domains) {
        std::vector<std::uint32_t> usual, apart;
        for (const auto h : domain.hosts) {
            const int unit = fabric.hosts[h].unit;
            if (unit == none) continue; // no cabled rail, which is reported separately
            (unit == domain.unit ? usual : apart).push_back(h);
        }
        if (apart.empty()) continue;
        std::vector<std::string> units;
        for (const auto h : apart)
            if (const auto& name = fabric.units[at(fabric.hosts[h].unit)].name;
                std::find(units.begin(), units.end(), name) == units.end())
                units.push_back(name);
        Finding finding{"host.domain", Severity::warning, {}, {}, {}};
        for (const auto h : apart)
            finding.ends.push_back(fabric.hosts[h].name);
        finding.evidence = fmt::format(
            "{} {} in NVLink domain {} as {}, but in {} where {} in {}", host_names(fabric, apart),
            apart.size() == 1 ? "is" : "are", domain.name, host_names(fabric, usual), fmt::join(units, ", "),
            usual.size() == 1 ? "that is" : "those are", fabric.units[at(domain.unit)].name);
        finding.fix =
            "correct the domain in the fabric file, or move the host's cables to the leaves of its rack";
        findings.push_back(std::move(finding));
    }
}

} // namespace topo::checks
