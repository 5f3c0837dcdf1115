#include "topo/end_names.hpp"

#include "topo/guid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {

std::string component_of(const Hca& hca, const HcaPort& port) {
    return fmt::format("{}:{}", hca.device, port.number);
}

std::string device_of(const Fabric& fabric, const End& end) {
    if (end.host != none) return fabric.hosts[static_cast<std::size_t>(end.host)].name;
    const auto& one = fabric.switches[static_cast<std::size_t>(end.switch_)];
    if (one.name.empty()) return format_guid(one.guid);
    auto name = one.name.substr(0, 120);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c <= ' ' || c > '~' || c == '@'; }, '_');
    return name;
}

std::string port_of(const Fabric& fabric, const End& end) {
    if (end.host == none) return std::to_string(end.port);
    const auto& host = fabric.hosts[static_cast<std::size_t>(end.host)];
    return fmt::format("{}:{}", host.hcas[static_cast<std::size_t>(end.hca)].device, end.port);
}

} // namespace topo
