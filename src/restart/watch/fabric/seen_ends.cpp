#include "restart/watch/fabric/seen_ends.hpp"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

namespace restart {

std::vector<SeenEnd> seen_ends(const topo::RawFabric& swept) {
    std::vector<SeenEnd> ends;
    for (const auto& node : swept.nodes) {
        if (node.kind == topo::RawNode::Kind::other) continue;
        for (const auto& port : node.seen) {
            auto& end = ends.emplace_back();
            end.node = node.guid;
            end.port = port.number;
            end.lid = port.lid;
            end.active = port.linked && port.state == topo::LinkState::active;
            if (!port.linked) continue;
            end.peer = port.peer;
            end.peer_port = port.peer_port;
            end.mbps = port.rate.mbps;
        }
    }
    return ends;
}

std::string to_bytes(std::span<const SeenEnd> ends) {
    static_assert(std::is_trivially_copyable_v<SeenEnd>);
    return {reinterpret_cast<const char*>(ends.data()), ends.size_bytes()};
}

base::Expected<std::vector<SeenEnd>> ends_from(std::string_view bytes) {
    if (bytes.size() % sizeof(SeenEnd) != 0)
        return base::Error{base::Code::input,
                           fmt::format("the ports of a sweep: {} bytes are no whole ports of {}",
                                       bytes.size(), sizeof(SeenEnd))};
    std::vector<SeenEnd> ends(bytes.size() / sizeof(SeenEnd));
    if (!ends.empty()) std::memcpy(ends.data(), bytes.data(), bytes.size());
    return ends;
}

std::vector<CounterTarget> targets_of(std::span<const SeenEnd> ends,
                                      const std::unordered_map<topo::Guid, std::uint8_t>& abilities) {
    std::vector<CounterTarget> targets;
    targets.reserve(ends.size());
    for (const auto& end : ends) {
        if (end.lid == 0) continue;
        const auto known = abilities.find(end.node);
        targets.push_back(
            {end.node, end.lid, end.port, known == abilities.end() ? std::uint8_t{0} : known->second});
    }
    return targets;
}

} // namespace restart
