#include "topo/read/opensm.hpp"

#include "topo/read/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

class SubnetText {
public:
    explicit SubnetText(RawFabric& fabric) : fabric_(fabric) {}

    void read(std::string_view line, std::uint32_t number) {
        Cursor cursor(line);
        const auto here = read_end(cursor, number);
        const auto there = read_end(cursor, number);
        cursor.skip_space();
        RawPort port;
        port.line = number;
        port.number = here.port;
        port.guid = here.port_guid;
        port.lid = here.lid;
        port.linked = true;
        port.peer_port = there.port;
        while (!cursor.at_end())
            read_word(cursor.word(), port);
        port.rate.mbps *= port.rate.width;
        port.peer = fabric_.nodes[there.node].guid;
        fabric_.nodes[here.node].seen.push_back(port);
    }

private:
    struct Side {
        std::size_t node = 0;
        std::uint8_t port = 0;
        std::uint16_t lid = 0;
        Guid port_guid = 0;
    };

    // { SW-SM Ports:40 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {leaf1} LID:0001 PN:05 }
    Side read_end(Cursor& cursor, std::uint32_t line) {
        Side side;
        RawNode node;
        node.line = line;
        cursor.skip_space();
        cursor.need("{");
        cursor.skip_space();
        node.kind = read_kind(cursor);
        node.ports = static_cast<int>(field(cursor, "Ports:", 254, "a number of ports"));
        field(cursor, "SystemGUID:", ~std::uint64_t{0}, "a GUID");
        node.guid = field(cursor, "NodeGUID:", ~std::uint64_t{0}, "a GUID");
        side.port_guid = field(cursor, "PortGUID:", ~std::uint64_t{0}, "a GUID");
        for (const auto* key : {"VenID:", "DevID:", "Rev:"})
            field(cursor, key, 0xFFFFFFFF, "a number of up to eight digits");
        cursor.skip_space();
        if (cursor.take("{")) { // a node may have no description
            // Descriptions may contain braces: what follows one is fixed.
            const auto end = cursor.rest().find("} LID:");
            if (end == std::string_view::npos) cursor.fail("a description in braces, then LID: are wanted");
            node.description = trimmed_printable(cursor.rest().substr(0, end));
            cursor = Cursor(cursor.rest().substr(end + 1));
        }
        side.lid = static_cast<std::uint16_t>(field(cursor, "LID:", 0xFFFF, "a LID"));
        side.port = static_cast<std::uint8_t>(field(cursor, "PN:", 254, "a port number"));
        cursor.skip_space();
        cursor.need("}");
        if (node.kind == RawNode::Kind::hca && is_aggregation(node.description))
            node.kind = RawNode::Kind::other;
        const auto [known, fresh] = nodes_.try_emplace(node.guid, fabric_.nodes.size());
        side.node = known->second;
        const int told = node.ports;
        if (fresh) {
            if (told == 0) uncounted_.insert(side.node); // as written by converters of UFM's links
            fabric_.nodes.push_back(node);
        }
        RawNode& first = fabric_.nodes[side.node];
        const bool uncounted = uncounted_.contains(side.node);
        if ((uncounted ? told != 0 : first.ports != told) || first.kind != node.kind)
            throw Unreadable{
                fmt::format("node {:#018x} is another here than in line {}", node.guid, first.line)};
        if (uncounted) first.ports = std::max<int>(first.ports, side.port);
        return side;
    }

    static RawNode::Kind read_kind(Cursor& cursor) {
        const auto text = cursor.word();
        const auto kind = text.substr(0, text.find('-')); // "SW-SM": the subnet manager's own node
        if (kind == "SW") return RawNode::Kind::switch_;
        if (kind == "CA") return RawNode::Kind::hca;
        if (kind == "Rt" || kind == "RT" || kind == "**") return RawNode::Kind::other;
        Cursor(text).fail("SW, CA or Rt is wanted");
    }

    static std::uint64_t field(Cursor& cursor, std::string_view key, std::uint64_t most,
                               std::string_view what) {
        cursor.skip_space();
        cursor.need(key);
        return cursor.number(most, 16, what);
    }

    // PHY=4x LOG=ACT SPD=50, some of which may be missing for a port that is not active. Unknown values
    // remain unknown: an oddity of one port must not invalidate the others.
    static void read_word(std::string_view word, RawPort& port) {
        const auto equals = word.find('=');
        if (equals == std::string_view::npos) Cursor(word).fail("PHY=, LOG= or SPD= is wanted");
        const auto key = word.substr(0, equals), value = word.substr(equals + 1);
        if (key == "PHY") port.rate.width = lanes_of(value);
        if (key == "SPD") port.rate.mbps = lane_mbps_of(value); // per lane, so far
        if (key != "LOG") return;
        port.state = value == "ACT"   ? LinkState::active
                     : value == "ARM" ? LinkState::armed
                     : value == "INI" ? LinkState::init
                     : value == "DWN" ? LinkState::down
                                      : LinkState::unknown;
    }

    RawFabric& fabric_;
    std::unordered_map<Guid, std::size_t> nodes_;
    std::unordered_set<std::size_t> uncounted_; // nodes listed with zero ports
};

} // namespace

Expected<RawFabric> parse_opensm(std::string_view text, std::string_view name) {
    RawFabric fabric;
    fabric.source = name;
    SubnetText subnet(fabric);
    Lines lines(text);
    std::string_view line;
    try {
        while (lines.next(line))
            if (!trimmed(line).empty() && !line.starts_with('#')) subnet.read(line, lines.number());
    } catch (const Unreadable& unreadable) {
        if (!lines.cut() || fabric.nodes.empty())
            return Error{Code::input, fmt::format("{}:{}: {}", name, lines.number(), unreadable.text)};
        fabric.missing.push_back(
            fmt::format("{}:{}: the text was cut here; what followed is not known", name, lines.number()));
    }
    if (fabric.nodes.empty())
        return Error{Code::input, fmt::format("{}: holds no link of opensm-subnet.lst", name)};
    return fabric;
}

} // namespace topo
