#include "restart/watch/leaf_links.hpp"

#include "restart/watch/fabric_witness.hpp"
#include "topo/guid.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace restart {
namespace {

// The switch's end of an HCA's link; number 0: none.
LeafLinks::Port leaf_end(const topo::Fabric& file, const topo::HcaPort& port) {
    const auto& link = file.links[static_cast<std::size_t>(port.link)];
    const auto& end = link.a.switch_ != topo::none ? link.a : link.b;
    if (end.switch_ == topo::none) return {};
    return {file.switches[static_cast<std::size_t>(end.switch_)].guid, end.port};
}

base::Error wrong(std::string_view line) {
    return {base::Code::input,
            fmt::format("addresses of leaves: \"{}\" is no line of them", line.substr(0, 60))};
}

// "lid 0x9803000000009000 17", "moved 0x9803000000009000 3"
base::Expected<void> take_line(std::string_view line, LeafAddresses& into) {
    const auto first = line.find(' '), second = line.rfind(' ');
    if (first == std::string_view::npos || first == second) return wrong(line);
    const auto guid = topo::parse_guid(line.substr(first + 1, second - first - 1));
    std::uint16_t number = 0;
    const auto* end = line.data() + line.size();
    const auto [read, failed] = std::from_chars(line.data() + second + 1, end, number);
    if (!guid || failed != std::errc{} || read != end) return wrong(line);
    const auto word = line.substr(0, first);
    if (word == "lid")
        into.lids[*guid] = number;
    else if (word == "moved" && number <= 255)
        into.moved.emplace(*guid, static_cast<std::uint8_t>(number));
    else
        return wrong(line);
    return {};
}

} // namespace

std::string LeafAddresses::to_text() const {
    std::string text;
    for (const auto& [guid, lid] : lids)
        text += fmt::format("lid {} {}\n", topo::format_guid(guid), lid);
    for (const auto& [guid, port] : moved)
        text += fmt::format("moved {} {}\n", topo::format_guid(guid), port);
    return text;
}

base::Expected<LeafAddresses> LeafAddresses::from_text(std::string_view text) {
    LeafAddresses read;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        if (auto taken = take_line(line, read); !taken) return std::move(taken).error();
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return read;
}

LeafAddresses leaf_addresses(const topo::Fabric& file, const topo::RawFabric& swept) {
    std::unordered_map<topo::Guid, const topo::RawNode*> nodes;
    for (const auto& node : swept.nodes)
        nodes.emplace(node.guid, &node);
    LeafAddresses found;
    for (const auto& host : file.hosts)
        for (const auto& hca : host.hcas)
            for (const auto& port : hca.ports) {
                if (!can_be_seen(hca, port)) continue;
                const auto leaf = leaf_end(file, port);
                if (const auto node = nodes.find(leaf.leaf); node != nodes.end())
                    for (const auto& seen : node->second->seen)
                        if (seen.lid != 0) {
                            found.lids[leaf.leaf] = seen.lid;
                            break;
                        }
                const auto node = nodes.find(hca.guid);
                if (node == nodes.end()) continue;
                for (const auto& seen : node->second->seen)
                    if (seen.number == port.number && seen.linked &&
                        LeafLinks::Port{seen.peer, seen.peer_port} != leaf)
                        found.moved.emplace(leaf.leaf, leaf.number);
            }
    return found;
}

LeafLinks::LeafLinks(const topo::Fabric& file) {
    for (const auto& host : file.hosts) {
        const auto index = hosts_.size();
        auto& mine = hosts_.emplace_back();
        mine.name = host.name;
        by_name_.emplace(host.name, index);
        for (const auto& hca : host.hcas)
            for (const auto& port : hca.ports) {
                if (!can_be_seen(hca, port)) continue;
                ++mine.links;
                const auto leaf = leaf_end(file, port);
                if (leaf.number == 0) continue;
                mine.ports.push_back(leaf);
                leaves_[leaf.leaf][leaf.number].host = index;
            }
    }
}

const LeafLinks::Link* LeafLinks::find(const Port& port) const {
    const auto leaf = leaves_.find(port.leaf);
    if (leaf == leaves_.end()) return nullptr;
    const auto link = leaf->second.find(port.number);
    return link == leaf->second.end() ? nullptr : &link->second;
}

std::vector<std::uint8_t> LeafLinks::ports_of(topo::Guid leaf) const {
    std::vector<std::uint8_t> numbers;
    if (const auto found = leaves_.find(leaf); found != leaves_.end())
        for (const auto& [number, link] : found->second)
            numbers.push_back(number);
    return numbers;
}

std::vector<LeafLinks::Port> LeafLinks::ports_of(const std::string& host) const {
    const auto found = by_name_.find(host);
    return found == by_name_.end() ? std::vector<Port>() : hosts_[found->second].ports;
}

const std::string* LeafLinks::host_at(const Port& port) const {
    const auto* link = find(port);
    return link == nullptr ? nullptr : &hosts_[link->host].name;
}

bool LeafLinks::take(const Port& port, bool down) {
    if (find(port) == nullptr) return false;
    return std::exchange(leaves_.at(port.leaf).at(port.number).down, down) != down;
}

bool LeafLinks::is_down(const Port& port) const {
    const auto* link = find(port);
    return link != nullptr && link->down;
}

FabricReport LeafLinks::report(const std::set<std::string>& hosts, const LeafAddresses& addresses) const {
    FabricReport report;
    report.changes = true;
    for (const auto& name : hosts) {
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) continue;
        const auto& host = hosts_[found->second];
        HostLinks links{host.links, host.links};
        for (const auto& port : host.ports)
            if (is_down(port) && !addresses.moved.contains({port.leaf, port.number})) --links.links_up;
        report.hosts.emplace(name, links);
    }
    return report;
}

} // namespace restart
