#include "restart/watch/fabric_witness.hpp"

#include "base/hostlist.hpp"
#include "topo/end_names.hpp"
#include "topo/guid.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

namespace restart {
namespace {

// Ports of the sweep by node GUID.
using Swept = std::unordered_map<topo::Guid, const topo::RawNode*>;

const topo::RawPort* find_port(const Swept& swept, topo::Guid node, std::uint8_t number) {
    const auto found = swept.find(node);
    if (found == swept.end()) return nullptr;
    const auto& ports = found->second->seen;
    const auto port =
        std::find_if(ports.begin(), ports.end(), [&](const auto& p) { return p.number == number; });
    return port == ports.end() ? nullptr : &*port;
}

bool is_down(const topo::Fabric& file, const Swept& swept, const topo::Hca& hca, const topo::HcaPort& port) {
    if (const auto* seen = find_port(swept, hca.guid, port.number); seen && seen->linked) return false;
    const auto& link = file.links[static_cast<std::size_t>(port.link)];
    const auto& far = link.a.switch_ != topo::none ? link.a : link.b;
    if (far.switch_ == topo::none) return false; // two HCAs back to back: no switch can report
    const auto guid = file.switches[static_cast<std::size_t>(far.switch_)].guid;
    const auto* other_end = find_port(swept, guid, far.port);
    return other_end && !other_end->linked && other_end->state == topo::LinkState::down;
}

topo::Guid guid_of(const topo::Fabric& file, const topo::End& end) {
    return end.switch_ != topo::none
               ? file.switches[static_cast<std::size_t>(end.switch_)].guid
               : file.hosts[static_cast<std::size_t>(end.host)].hcas[static_cast<std::size_t>(end.hca)].guid;
}

// Seen down at one end, and not seen up at the other.
bool is_seen_down(const topo::Fabric& file, const Swept& swept, const topo::Link& link) {
    bool down = false;
    for (const auto* end : {&link.a, &link.b}) {
        const auto* port = find_port(swept, guid_of(file, *end), end->port);
        if (port == nullptr) continue;
        if (port->linked) return false;
        down = down || port->state == topo::LinkState::down;
    }
    return down;
}

std::vector<DownLink> links_down(const topo::Fabric& file, const Swept& swept) {
    std::vector<DownLink> down;
    for (const auto& link : file.links)
        if (down.size() < most_down_links && is_seen_down(file, swept, link))
            down.push_back({topo::device_of(file, link.a), topo::port_of(file, link.a),
                            topo::device_of(file, link.b), topo::port_of(file, link.b)});
    return down;
}

} // namespace

bool can_be_seen(const topo::Hca& hca, const topo::HcaPort& port) {
    return port.link != topo::none && topo::is_devices(hca.guid);
}

FabricReport testify(const topo::Fabric& file, const topo::RawFabric& swept) {
    Swept nodes;
    for (const auto& node : swept.nodes)
        nodes.emplace(node.guid, &node);

    FabricReport report;
    report.complete = has_links_to_see(file);
    report.links_down = links_down(file, nodes);
    for (const auto& host : file.hosts) {
        HostLinks links;
        bool seen = false;
        for (const auto& hca : host.hcas) {
            seen = seen || nodes.contains(hca.guid);
            for (const auto& port : hca.ports) {
                if (!can_be_seen(hca, port)) continue;
                ++links.links_total;
                if (!is_down(file, nodes, hca, port)) ++links.links_up;
                if (port.leaf != topo::none &&
                    !nodes.contains(file.switches[static_cast<std::size_t>(port.leaf)].guid))
                    report.complete = false;
            }
        }
        if (seen) ++report.hosts_seen;
        if (links.links_up < links.links_total) report.hosts.emplace(host.name, links);
    }
    return report;
}

bool has_links_to_see(const topo::Fabric& file) {
    return std::any_of(file.hosts.begin(), file.hosts.end(), [](const topo::Host& host) {
        return std::any_of(host.hcas.begin(), host.hcas.end(), [](const topo::Hca& hca) {
            return std::any_of(hca.ports.begin(), hca.ports.end(),
                               [&](const topo::HcaPort& port) { return can_be_seen(hca, port); });
        });
    });
}

std::vector<std::string> news(const FabricReport& before, const FabricReport& after) {
    std::map<std::string, std::vector<std::string>> hosts_by_news;
    for (const auto& [host, links] : after.hosts) {
        const auto old = before.hosts.find(host);
        if (old == before.hosts.end() || old->second.links_up != links.links_up)
            hosts_by_news[fmt::format("{} of {} links are up", links.links_up, links.links_total)].push_back(
                host);
    }
    for (const auto& [host, links] : before.hosts)
        if (!after.hosts.contains(host)) hosts_by_news["all links are up again"].push_back(host);
    std::vector<std::string> sentences;
    for (auto& [what, hosts] : hosts_by_news) {
        std::sort(hosts.begin(), hosts.end(), base::natural_less);
        sentences.push_back(fmt::format("{}: {}", base::fold_hostlist(hosts), what));
    }
    if (before.complete != after.complete)
        sentences.push_back(after.complete
                                ? "every switch that has hosts answers again"
                                : "switches that have hosts did not answer: links behind them are unknown");
    return sentences;
}

} // namespace restart
