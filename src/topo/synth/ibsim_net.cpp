#include "topo/synth/ibsim_net.hpp"

#include "topo/names.hpp"
#include "topo/rate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {
namespace {

constexpr std::uint32_t fastest_lane = 50000; // HDR

std::string rate_name(const Link& link) {
    const std::uint32_t width = link.width == 0 ? 4 : link.width;
    const auto lane = link.mbps == 0 ? fastest_lane : std::min(link.mbps / width, fastest_lane);
    return format_rate({static_cast<std::uint8_t>(width), lane * width});
}

// A quote in a comment ends a description and '=' starts an option: neither is allowed in a description.
std::string safe(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '"' || c == '='; }, '_');
    return text;
}

// The names in the file of everything at the ends of links.
struct Names {
    explicit Names(const Fabric& from) : fabric(from) {}

    Guid guid(const End& end) const {
        return end.switch_ != none ? fabric.switches[at(end.switch_)].guid : hca(end).guid;
    }
    std::string id(const End& end) const {
        return fmt::format("{}-{:016x}", end.switch_ != none ? 'S' : 'H', guid(end));
    }
    std::string description(const End& end) const {
        if (end.switch_ != none) return safe(fabric.switches[at(end.switch_)].name);
        const Host& host = fabric.hosts[at(end.host)];
        if (host.name.starts_with("0x")) return safe(hca(end).device); // a host without its own name
        return safe(hca(end).device.empty() ? host.name : fmt::format("{} {}", host.name, hca(end).device));
    }
    const Hca& hca(const End& end) const { return fabric.hosts[at(end.host)].hcas[at(end.hca)]; }

    const Fabric& fabric;
};

struct Cable {
    std::uint8_t port;
    End peer;
    std::string rate;
};

void print_ports(std::string& out, const Names& names, std::vector<Cable>& cables, bool from_hca) {
    std::sort(cables.begin(), cables.end(), [](const Cable& a, const Cable& b) { return a.port < b.port; });
    for (const Cable& cable : cables)
        fmt::format_to(std::back_inserter(out), "[{}]\t\"{}\"[{}]\t\t# {}\"{}\" lid 0 {}\n", cable.port,
                       names.id(cable.peer), cable.peer.port, from_hca ? "lid 0 lmc 0 " : "",
                       names.description(cable.peer), cable.rate);
    out += '\n';
}

} // namespace

std::string ibsim_limits(const Fabric& fabric) {
    std::size_t nodes = fabric.switches.size(), ports = 0;
    for (const Host& host : fabric.hosts) {
        nodes += host.hcas.size();
        for (const Hca& hca : host.hcas)
            ports += hca.ports.size();
    }
    for (const Switch& s : fabric.switches)
        ports += at(s.ports) + 1;
    return fmt::format("-N {} -S {} -P {}", nodes + 16, fabric.switches.size() + 16, ports + 1024);
}

std::string print_ibsim_net(const Fabric& fabric) {
    const Names names(fabric);
    std::vector<std::vector<Cable>> of_switch(fabric.switches.size());
    std::vector<std::vector<std::vector<Cable>>> of_hca(fabric.hosts.size());
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        of_hca[h].resize(fabric.hosts[h].hcas.size());
    for (const Link& link : fabric.links) {
        if (link.state == LinkState::down) continue;
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)})
            (here->switch_ != none ? of_switch[at(here->switch_)] : of_hca[at(here->host)][at(here->hca)])
                .push_back({here->port, *there, rate_name(link)});
    }

    std::string out = fmt::format(
        "# {} hosts, {} switches, {} links; start ibsim with {}\nwidth=3\nspeed=7\nextspeed=7\n\n",
        fabric.hosts.size(), fabric.switches.size(), fabric.links.size(), ibsim_limits(fabric));
    auto put = std::back_inserter(out);
    // HCAs first: ibsim connects a client that names no node to the first one.
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
        for (std::size_t i = 0; i < fabric.hosts[h].hcas.size(); ++i) {
            const Hca& hca = fabric.hosts[h].hcas[i];
            const End end{static_cast<int>(h), static_cast<int>(i), none, 0};
            int ports = 1;
            for (const HcaPort& port : hca.ports)
                ports = std::max<int>(ports, port.number);
            fmt::format_to(
                put,
                "vendid=0x2c9\ndevid=0x1021\nsysimgguid={:#x}\ncaguid={:#x}\nCa\t{} \"{}\"\t\t# \"{}\"\n",
                hca.guid, hca.guid, ports, names.id(end), names.description(end));
            print_ports(out, names, of_hca[h][i], true);
        }
    for (std::size_t s = 0; s < fabric.switches.size(); ++s) {
        const Switch& sw = fabric.switches[s];
        const End end{none, none, static_cast<int>(s), 0};
        fmt::format_to(put,
                       "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid={:#x}\nswitchguid={:#x}\nSwitch\t{} "
                       "\"{}\"\t\t# \"{}\" enhanced port 0 lid 0 lmc 0\n",
                       sw.guid, sw.guid, sw.ports, names.id(end), names.description(end));
        print_ports(out, names, of_switch[s], false);
    }
    return out;
}

} // namespace topo
