#include "restart/watch/fabric_witness.hpp"

#include "base/hostlist.hpp"
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
    if (far.switch_ == topo::none) return false; // two HCAs back to back: nobody to ask
    const auto guid = file.switches[static_cast<std::size_t>(far.switch_)].guid;
    const auto* other_end = find_port(swept, guid, far.port);
    return other_end && !other_end->linked && other_end->state == topo::LinkState::down;
}

// What a sweep can see of the file's fabric.
bool can_be_seen(const topo::Hca& hca, const topo::HcaPort& port) {
    return port.link != topo::none && topo::is_devices(hca.guid);
}

} // namespace

FabricReport testify(const topo::Fabric& file, const topo::RawFabric& swept) {
    Swept nodes;
    for (const auto& node : swept.nodes)
        nodes.emplace(node.guid, &node);

    FabricReport report;
    report.complete = has_links_to_see(file);
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
