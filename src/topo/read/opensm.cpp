#include "topo/read/opensm.hpp"

#include "topo/read/text.hpp"

#include <fmt/format.h>

#include <unordered_map>

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
        cursor.need("PHY=");
        port.rate.width = read_width(cursor);
        cursor.skip_space();
        cursor.need("LOG=");
        port.state = read_state(cursor);
        cursor.skip_space();
        cursor.need("SPD=");
        port.rate.mbps = port.rate.width * read_lane(cursor);
        if (!cursor.at_end()) cursor.fail("the end of the line is wanted");
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
        cursor.need("{");
        // Descriptions may hold braces: what follows one is fixed.
        const auto end = cursor.rest().find("} LID:");
        if (end == std::string_view::npos) cursor.fail("a description in braces, then LID: are wanted");
        node.description = trimmed_printable(cursor.rest().substr(0, end));
        cursor = Cursor(cursor.rest().substr(end + 1));
        side.lid = static_cast<std::uint16_t>(field(cursor, "LID:", 0xFFFF, "a LID"));
        side.port = static_cast<std::uint8_t>(field(cursor, "PN:", 254, "a port number"));
        cursor.skip_space();
        cursor.need("}");
        if (node.kind == RawNode::Kind::hca && is_aggregation(node.description))
            node.kind = RawNode::Kind::other;
        const auto [known, fresh] = nodes_.try_emplace(node.guid, fabric_.nodes.size());
        side.node = known->second;
        if (fresh) {
            fabric_.nodes.push_back(std::move(node));
            return side;
        }
        RawNode& first = fabric_.nodes[side.node];
        if (first.ports != node.ports || first.kind != node.kind)
            throw Unreadable{
                fmt::format("node {:#018x} is another here than in line {}", node.guid, first.line)};
        return side;
    }

    static RawNode::Kind read_kind(Cursor& cursor) {
        const auto text = cursor.word();
        const auto kind = text.substr(0, text.find('-')); // "SW-SM": the subnet manager's own
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

    static std::uint8_t read_width(Cursor& cursor) {
        const auto text = cursor.word();
        for (const int lanes : {1, 2, 4, 8, 12})
            if (text == fmt::format("{}x", lanes)) return static_cast<std::uint8_t>(lanes);
        if (text == "??") return 0;
        Cursor(text).fail("a width such as 4x is wanted");
    }

    static LinkState read_state(Cursor& cursor) {
        const auto text = cursor.word();
        if (text == "ACT") return LinkState::active;
        if (text == "ARM") return LinkState::armed;
        if (text == "INI") return LinkState::init;
        if (text == "DWN") return LinkState::down;
        Cursor(text).fail("ACT, ARM, INI or DWN is wanted");
    }

    static std::uint32_t read_lane(Cursor& cursor) {
        const auto text = cursor.word();
        if (text == "??") return 0;
        if (text == "2.5") return 2500;
        if (text == "FDR10") return 10300;
        Cursor digits(text);
        const auto speed = digits.number(1000, 10, "a speed such as 2.5, 50 or FDR10");
        if (!digits.at_end()) Cursor(text).fail("a speed such as 2.5, 50 or FDR10 is wanted");
        return static_cast<std::uint32_t>(speed * 1000);
    }

    RawFabric& fabric_;
    std::unordered_map<Guid, std::size_t> nodes_;
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
