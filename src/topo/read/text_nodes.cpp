#include "topo/read/text_nodes.hpp"

#include "topo/read/assemble.hpp"
#include "topo/read/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {
namespace {

std::uint64_t key(std::size_t node, std::uint8_t number) {
    return static_cast<std::uint64_t>(node) << 8 | number;
}

} // namespace

std::size_t TextNodes::add(RawNode::Kind kind, Guid guid, std::string description, std::uint32_t line,
                           std::uint16_t lid) {
    const auto index = fabric_.nodes.size();
    RawNode& node = fabric_.nodes.emplace_back();
    node.kind = kind == RawNode::Kind::hca && is_aggregation(description) ? RawNode::Kind::other : kind;
    node.guid = guid != 0 ? guid : made_guid(Made::node, fmt::format("{} lid {}", description, lid));
    node.description = std::move(description);
    node.line = line;
    by_guid_.emplace(node.guid, index);
    return index;
}

std::optional<std::size_t> TextNodes::find(Guid guid) const {
    const auto found = by_guid_.find(guid);
    return found == by_guid_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t TextNodes::hca(Guid guid, const std::string& description, std::uint8_t number, std::uint16_t lid,
                           std::uint32_t line) {
    const auto known = guid != 0 ? guid : made_guid(Made::node, fmt::format("{} lid {}", description, lid));
    if (const auto found = find(known)) return *found;
    auto& alike = told_[description];
    auto index = fabric_.nodes.size();
    if (!parse_hca_description(description).device.empty())
        for (const auto other : alike)
            if (!has_port(other, number)) index = other;
    if (index == fabric_.nodes.size())
        alike.push_back(add(RawNode::Kind::hca, known, description, line, lid));
    by_guid_.emplace(known, index);
    port(index, number, line).guid = guid;
    return index;
}

RawPort& TextNodes::port(std::size_t node, std::uint8_t number, std::uint32_t line) {
    auto& seen = fabric_.nodes[node].seen;
    const auto [found, fresh] = ports_.try_emplace(key(node, number), seen.size());
    if (!fresh) return seen[found->second];
    RawPort& port = seen.emplace_back();
    port.number = number;
    port.line = line;
    return port;
}

bool TextNodes::has_port(std::size_t node, std::uint8_t number) const {
    return ports_.contains(key(node, number));
}

void TextNodes::know(std::size_t node, std::uint8_t number, Guid guid) {
    by_guid_.emplace(guid, node);
    port(node, number, fabric_.nodes[node].line).guid = guid;
}

void TextNodes::lead(std::size_t node, std::uint8_t number, std::size_t peer, std::uint8_t peer_number) {
    RawPort& from = port(node, number, fabric_.nodes[node].line);
    from.linked = true;
    from.peer_port = peer_number;
    leads_.push_back({node, ports_.at(key(node, number)), peer});
}

void TextNodes::finish() {
    for (RawNode& node : fabric_.nodes) {
        const RawPort* lowest = nullptr;
        for (const RawPort& port : node.seen) {
            node.ports = std::max<int>(node.ports, port.number);
            if (lowest == nullptr || port.number < lowest->number) lowest = &port;
        }
        if (hca_guid_ == HcaGuid::of_port && node.kind != RawNode::Kind::switch_ && lowest != nullptr &&
            lowest->guid != 0)
            node.guid = lowest->guid;
    }
    for (const Lead& lead : leads_)
        fabric_.nodes[lead.node].seen[lead.port].peer = fabric_.nodes[lead.peer].guid;
}

} // namespace topo
