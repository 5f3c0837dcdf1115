// Hosts that represent one HCA whose host is unknown: its description names none, or names one that already
// exists with HCAs of these names. Such a host has the HCA's GUID as its name, and the HCA has the
// description.
#pragma once

#include "topo/fabric.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace topo {

inline bool nameless(const Host& host) {
    return host.name.starts_with("0x");
}

inline std::size_t count_nameless(const Fabric& fabric) {
    return static_cast<std::size_t>(std::count_if(fabric.hosts.begin(), fabric.hosts.end(), nameless));
}

// The name in a nameless HCA's description that another host of the fabric has; empty for none.
inline std::string namesake(const Fabric& fabric, const Host& host) {
    if (!nameless(host) || host.hcas.empty()) return {};
    const auto& description = host.hcas.front().device;
    auto name = description.substr(0, description.find(' '));
    return !name.empty() && fabric.find_host(name) ? name : std::string();
}

} // namespace topo
