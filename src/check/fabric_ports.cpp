#include "check/fabric_ports.hpp"

#include <algorithm>

namespace check {

using restart::PortCounter;

FabricPort port_at(const topo::Fabric& fabric, const topo::End& end) {
    if (end.host == topo::none)
        return {fabric.switches[static_cast<std::size_t>(end.switch_)].guid, end.port};
    const auto& host = fabric.hosts[static_cast<std::size_t>(end.host)];
    return {host.hcas[static_cast<std::size_t>(end.hca)].guid, end.port};
}

FabricLink link_at(const topo::Fabric& fabric, FabricPort port) {
    const auto& link = *std::find_if(fabric.links.begin(), fabric.links.end(), [&](const auto& one) {
        return port_at(fabric, one.a) == port || port_at(fabric, one.b) == port;
    });
    const auto a = port_at(fabric, link.a);
    return {link, a == port ? port_at(fabric, link.b) : a};
}

MadePorts::MadePorts(topo::Fabric fabric) : fabric_(std::move(fabric)) {
    std::uint16_t lid = 1;
    for (const auto& link : fabric_.links) {
        const auto a = port_at(fabric_, link.a), b = port_at(fabric_, link.b);
        for (const auto& at : {a, b}) {
            auto& port = ports_[at];
            port.seen.node = port.reading.node = at.node;
            port.seen.port = port.reading.port = at.number;
            port.seen.lid = port.reading.lid = lid++;
            port.seen.mbps = link.mbps;
            port.seen.active = true;
            // As HDR switches answer: errors of 4 to 32 bits, data and packets of 64; waits as on switches
            // that have them in PortCountersExtended, since 32 bits overflow in less than a second of
            // waiting.
            port.reading.abilities = restart::pm::known | restart::pm::extended | restart::pm::waits;
            port.reading.answered = true;
            port.reading.has = (1U << restart::port_counters) - 1;
            for (const auto counter :
                 {PortCounter::transmit_words, PortCounter::receive_words, PortCounter::transmit_packets,
                  PortCounter::receive_packets, PortCounter::transmit_waits})
                port.reading.wide |= restart::bit_of(counter);
        }
        connect(ports_[a], ports_[b]);
    }
}

void MadePorts::connect(Port& a, Port& b) {
    a.seen.peer = b.seen.node;
    a.seen.peer_port = b.seen.port;
    b.seen.peer = a.seen.node;
    b.seen.peer_port = a.seen.port;
}

base::Expected<void> MadePorts::set(FabricPort port, PortCounter counter, std::uint64_t value) {
    ports_.at(port).reading.values[static_cast<std::size_t>(counter)] = value;
    return {};
}

base::Expected<void> MadePorts::answer(FabricPort port, bool answers) {
    ports_.at(port).reading.answered = answers;
    return {};
}

base::Expected<void> MadePorts::set_rate(FabricPort at, std::uint32_t mbps) {
    auto& seen = ports_.at(at).seen;
    seen.mbps = ports_.at({seen.peer, seen.peer_port}).seen.mbps = mbps;
    return {};
}

base::Expected<void> MadePorts::swap(FabricPort one, FabricPort other, bool swapped) {
    for (const auto& link : fabric_.links)
        connect(ports_.at(port_at(fabric_, link.a)), ports_.at(port_at(fabric_, link.b)));
    if (!swapped) return {};
    auto &a = ports_.at(one), &b = ports_.at(other);
    auto& peer_of_a = ports_.at({a.seen.peer, a.seen.peer_port});
    auto& peer_of_b = ports_.at({b.seen.peer, b.seen.peer_port});
    connect(a, peer_of_b);
    connect(b, peer_of_a);
    return {};
}

base::Expected<void> MadePorts::cut(FabricPort port, bool out) {
    auto &a = ports_.at(port), &b = ports_.at(link_at(fabric_, port).far);
    connect(a, b);
    for (auto* end : {&a, &b}) {
        end->seen.active = !out;
        if (out) end->seen.peer = end->seen.peer_port = 0;
    }
    return {};
}

base::Expected<FabricPorts::Look> MadePorts::look() {
    Look look;
    for (const auto& [at, port] : ports_) {
        look.seen.push_back(port.seen);
        look.readings.push_back(port.reading);
    }
    return look;
}

} // namespace check
