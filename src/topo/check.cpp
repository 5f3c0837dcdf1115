#include "topo/check_parts.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

namespace topo {

std::string_view to_string(Severity severity) {
    switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::info: break;
    }
    return "info";
}

namespace checks {

std::string hca_name(const Host& host, const Hca& hca) {
    return hca.device.empty() ? host.name : fmt::format("{} {}", host.name, hca.device);
}

std::string switch_name(const Fabric& fabric, int index) {
    return index == none ? "none" : fabric.switches[at(index)].name;
}

std::string end_name(const Fabric& fabric, const End& end) {
    if (end.switch_ != none) return fmt::format("{}/{}", switch_name(fabric, end.switch_), end.port);
    const Host& host = fabric.hosts[at(end.host)];
    return fmt::format("{}/{}", hca_name(host, host.hcas[at(end.hca)]), end.port);
}

std::string host_names(const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::string> names;
    for (const auto h : hosts)
        names.push_back(fabric.hosts[h].name);
    return base::fold_hostlist(names);
}

std::string counted(std::size_t n, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
}

} // namespace checks

std::vector<Finding> check(const Fabric& fabric) {
    std::vector<Finding> findings;
    checks::hosts(fabric, findings);
    checks::uplinks(fabric, findings);
    checks::links(fabric, findings);
    checks::names(fabric, findings);
    checks::parts(fabric, findings);
    const auto end = [](const Finding& finding) {
        return finding.ends.empty() ? std::string_view() : finding.ends.front();
    };
    std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
        if (a.severity != b.severity) return a.severity < b.severity;
        if (a.code != b.code) return a.code < b.code;
        return base::natural_less(end(a), end(b));
    });
    return findings;
}

} // namespace topo
