#include "topo/names.hpp"

#include "base/hostlist.hpp"
#include "topo/guid.hpp"
#include "topo/nameless.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {

std::string hca_name(const Host& host, const Hca& hca) {
    auto name = hca.device.empty() ? host.name : fmt::format("{} {}", host.name, hca.device);
    const bool twin = std::any_of(host.hcas.begin(), host.hcas.end(), [&](const Hca& other) {
        return other.guid != hca.guid && other.device == hca.device;
    });
    return twin ? fmt::format("{} ({})", name, format_guid(hca.guid)) : name;
}

std::string switch_name(const Fabric& fabric, int index) {
    if (index == none) return "none";
    const Switch& s = fabric.switches[at(index)];
    return s.namesake ? fmt::format("{} ({})", s.name, format_guid(s.guid)) : s.name;
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

std::string known_host_names(const Fabric& fabric, const std::vector<std::uint32_t>& hosts) {
    std::vector<std::uint32_t> named;
    for (const auto h : hosts)
        if (!nameless(fabric.hosts[h])) named.push_back(h);
    auto text = host_names(fabric, named);
    if (const auto unknown = hosts.size() - named.size(); unknown > 0)
        text += (text.empty() ? "" : ", ") + counted(unknown, "HCA", "HCAs") + " of no known host";
    return text;
}

std::string switch_names(const Fabric& fabric, const std::vector<int>& switches) {
    std::vector<std::string> names;
    for (const int s : switches)
        names.push_back(switch_name(fabric, s));
    return base::fold_hostlist(names);
}

std::string counted(std::size_t n, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
}

} // namespace topo
