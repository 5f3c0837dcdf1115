#include "restart/daemon/fabric_file.hpp"

#include "base/log.hpp"
#include "restart/web/fabric_map.hpp"
#include "topo/end_names.hpp"
#include "topo/fabric_json.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

void locate(const topo::Fabric& fabric, const topo::Host& host, FabricLoaded& places) {
    auto& unit_name = places.units[host.name];
    for (const int leaf : host.leaves)
        if (leaf != topo::none) places.leaves[host.name].push_back(topo::switch_name(fabric, leaf));
    if (host.unit == topo::none) return;
    const auto& unit = fabric.units[static_cast<std::size_t>(host.unit)];
    unit_name = unit.name;
    for (const int leaf : unit.more_leaves)
        places.leaves[host.name].push_back(topo::switch_name(fabric, leaf));
    if (unit.pod != topo::none) places.pods[host.name] = fabric.pods[static_cast<std::size_t>(unit.pod)].name;
}

std::vector<HostPort> ports_of(const topo::Fabric& fabric, const topo::Host& host) {
    std::vector<HostPort> ports;
    for (const auto& hca : host.hcas)
        for (const auto& port : hca.ports) {
            if (hca.device.empty() || hca.role != topo::Role::compute || port.link == topo::none) continue;
            HostPort one{topo::component_of(hca, port), hca.rail, {}, {}};
            const auto& link = fabric.links[static_cast<std::size_t>(port.link)];
            const auto& far =
                link.a.host != topo::none && &fabric.hosts[static_cast<std::size_t>(link.a.host)] == &host
                    ? link.b
                    : link.a;
            if (far.switch_ != topo::none)
                one.leaf = topo::device_of(fabric, far);
            else if (far.host != topo::none)
                one.peer = fmt::format("{} {}", topo::device_of(fabric, far), topo::port_of(fabric, far));
            ports.push_back(std::move(one));
        }
    return ports;
}

void add_switches(const topo::Fabric& fabric, FabricLoaded& loaded) {
    for (std::size_t i = 0; i < fabric.switches.size(); ++i) {
        const auto& read = fabric.switches[i];
        topo::End end;
        end.switch_ = static_cast<int>(i);
        auto& one = loaded.switches[topo::device_of(fabric, end)];
        one.tier = read.tier;
        if (read.pod != topo::none) one.pod = fabric.pods[static_cast<std::size_t>(read.pod)].name;
    }
    for (const auto& link : fabric.links)
        for (const auto* end : {&link.a, &link.b})
            if (end->switch_ != topo::none) ++loaded.switches[topo::device_of(fabric, *end)].links;
}

} // namespace

base::Expected<std::optional<FabricFile::Loaded>> FabricFile::look(const std::filesystem::path& path,
                                                                   const Spares& spares) {
    if (path != std::exchange(path_, path)) seen_.reset();
    if (path.empty()) return std::optional<Loaded>();
    const auto stamp = base::stamp_of(path);
    if (seen_ == stamp) return std::optional<Loaded>();
    seen_ = stamp;
    auto fabric = topo::read_fabric(path);
    if (!fabric) return std::move(fabric).error();
    Loaded loaded;
    for (const auto& host : fabric->hosts) {
        locate(*fabric, host, loaded.places);
        loaded.places.ports[host.name] = ports_of(*fabric, host);
    }
    add_switches(*fabric, loaded.places);
    base::log::info("{}: {} hosts in {} units", path.string(), fabric->hosts.size(), fabric->units.size());
    loaded.map = std::make_shared<const std::string>(fabric_map(*fabric));
    const auto floor = spares(static_cast<std::uint32_t>(fabric->hosts.size()));
    loaded.placing = std::make_shared<const sched::Placing>(*std::move(fabric), floor);
    return std::optional<Loaded>(std::move(loaded));
}

void FabricFile::forget() {
    seen_.reset();
}

} // namespace restart
