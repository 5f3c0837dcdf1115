#include "topo/read/mad_discover.hpp"

#include "topo/guid.hpp"

#include <fmt/format.h>

#include <infiniband/ibnetdisc.h>
#include <infiniband/umad.h>

#include <cstring>
#include <memory>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

std::uint32_t field(std::uint8_t* info, MAD_FIELDS which) {
    return mad_get_field(info, 0, which);
}

// PortInfo's encodings: InfiniBand Architecture 1.7, 14.2.5.6.
std::uint8_t lanes(std::uint32_t width) {
    switch (width) {
    case 1: return 1;
    case 2: return 4;
    case 4: return 8;
    case 8: return 12;
    case 16: return 2;
    default: return 0;
    }
}

std::uint32_t lane_speed(std::uint32_t speed, std::uint32_t extended, bool fdr10) {
    switch (extended) {
    case 1: return 14000;
    case 2: return 25000;
    case 4: return 50000;
    case 8: return 100000;
    default: break;
    }
    switch (speed) {
    case 1: return 2500;
    case 2: return 5000;
    case 4: return fdr10 ? 10300 : 10000;
    default: return 0;
    }
}

LinkState link_state(std::uint32_t state) {
    switch (state) {
    case 1: return LinkState::down;
    case 2: return LinkState::init;
    case 3: return LinkState::armed;
    case 4: return LinkState::active;
    default: return LinkState::unknown;
    }
}

constexpr std::uint32_t extended_speeds_supported = 1U << 14; // in PortInfo's CapabilityMask

// The supported speeds of a port are in its own PortInfo; for a switch, in that of port 0.
bool has_extended_speeds(const ibnd_port_t& port) {
    ibnd_port_t* reporting =
        port.node->type == IB_NODE_SWITCH ? port.node->ports[0] : port.node->ports[port.portnum];
    return reporting != nullptr &&
           (field(reporting->info, IB_PORT_CAPMASK_F) & extended_speeds_supported) != 0;
}

RawPort read_port(ibnd_port_t& port) {
    RawPort raw;
    raw.number = static_cast<std::uint8_t>(port.portnum);
    raw.guid = port.guid;
    raw.lid = port.node->type == IB_NODE_SWITCH ? port.node->smalid : port.base_lid;
    raw.state = link_state(field(port.info, IB_PORT_STATE_F));
    if (port.remoteport == nullptr) return raw;
    raw.linked = true;
    raw.peer = port.remoteport->node->guid;
    raw.peer_port = static_cast<std::uint8_t>(port.remoteport->portnum);
    const auto extended = has_extended_speeds(port) ? field(port.info, IB_PORT_LINK_SPEED_EXT_ACTIVE_F) : 0;
    const bool fdr10 = (field(port.ext_info, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) & 1) != 0;
    raw.rate.width = lanes(field(port.info, IB_PORT_LINK_WIDTH_ACTIVE_F));
    raw.rate.mbps =
        raw.rate.width * lane_speed(field(port.info, IB_PORT_LINK_SPEED_ACTIVE_F), extended, fdr10);
    return raw;
}

constexpr std::uint32_t phys_link_up = 5;

void read_node(ibnd_node_t* node, void* into) {
    auto& fabric = *static_cast<RawFabric*>(into);
    RawNode& raw = fabric.nodes.emplace_back();
    raw.guid = node->guid;
    raw.ports = node->numports;
    raw.description =
        trimmed_printable(std::string_view(node->nodedesc, strnlen(node->nodedesc, IB_SMP_DATA_SIZE)));
    raw.kind = node->type == IB_NODE_SWITCH                                   ? RawNode::Kind::switch_
               : node->type == IB_NODE_CA && !is_aggregation(raw.description) ? RawNode::Kind::hca
                                                                              : RawNode::Kind::other;
    for (int number = 1; number <= node->numports; ++number) {
        ibnd_port_t* port = node->ports[number];
        if (port == nullptr) continue;
        raw.seen.push_back(read_port(*port));
        if (!raw.seen.back().linked && field(port->info, IB_PORT_PHYS_STATE_F) == phys_link_up)
            fabric.missing.push_back(
                fmt::format("port {} of \"{}\" ({}) is up, but what is behind it did not answer", number,
                            raw.description, format_guid(raw.guid)));
    }
}

} // namespace

Expected<RawFabric> discover_live(const MadPort& from) {
    const auto asked =
        from.ca.empty()
            ? std::string("the first active HCA port")
            : fmt::format("{}{}", from.ca, from.port == 0 ? "" : fmt::format(" port {}", from.port));
    constexpr std::string_view way_out =
        "name a port with --ca and --port, run as a user who may open /dev/infiniband/umad*, "
        "or give ibnetdiscover's text with --from";
    ibnd_config_t config{};
    config.max_smps = 16;
    std::string ca = from.ca;
    const std::unique_ptr<ibnd_fabric_t, decltype(&ibnd_destroy_fabric)> found(
        ibnd_discover_fabric(ca.empty() ? nullptr : ca.data(), from.port, nullptr, &config),
        ibnd_destroy_fabric);
    if (!found) return Error{Code::io, fmt::format("no fabric found from {}: {}", asked, way_out)};
    RawFabric fabric;
    fabric.source = "the live fabric";
    if (found->from_node != nullptr)
        fabric.source += fmt::format(" seen from {} port {}", trimmed_printable(found->from_node->nodedesc),
                                     found->from_portnum);
    ibnd_iter_nodes(found.get(), read_node, &fabric);
    return fabric;
}

} // namespace topo
