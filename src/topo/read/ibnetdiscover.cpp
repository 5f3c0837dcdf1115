#include "topo/read/ibnetdiscover.hpp"

#include "topo/guid.hpp"
#include "topo/read/text.hpp"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <utility>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// The name of a node in the text: "S-0008f10400411f56" in ibnetdiscover's output, any name in a net file of
// ibsim, where the GUID is generated from the name until "switchguid=" or "caguid=" gives it.
struct NodeId {
    char kind = '\0'; // S, H, R or ?; '\0' for a name
    Guid guid = 0;
    std::string_view name;
};

NodeId node_id(Cursor& cursor) {
    cursor.skip_space();
    cursor.need("\"");
    const auto text = cursor.rest();
    const auto id = cursor.until("\"");
    cursor.need("\"");
    const auto guid = id.size() > 2 && id[1] == '-' ? parse_guid(id.substr(2)) : std::nullopt;
    if (guid && std::string_view("SHR?").find(id[0]) != std::string_view::npos) return {id[0], *guid, {}};
    constexpr std::string_view digits = "0123456789abcdefABCDEF";
    if (!guid && id.size() > 18 && id[1] == '-' && id.find_first_not_of(digits, 2) == std::string_view::npos)
        Cursor(text).fail("a GUID of up to 16 hexadecimal digits is wanted");
    constexpr std::size_t length = 18; // of such a node name, complete
    if ((guid && id.size() == length) || trimmed(id).empty())
        Cursor(text).fail("a node such as \"S-…\" or \"H-…\" is wanted");
    return {'\0', made_guid(Made::node, id), id};
}

RawNode::Kind kind_of(char letter, std::string_view description) {
    if (letter == 'S') return RawNode::Kind::switch_;
    return letter == 'H' && !is_aggregation(description) ? RawNode::Kind::hca : RawNode::Kind::other;
}

// Lines from standard error in the text: warnings of libraries; some of them report that a node did not
// answer.
bool is_warning(std::string_view line) {
    return line.starts_with("ibwarn:") || line.starts_with("src/") ||
           line.find("query_smp.c:") != std::string_view::npos ||
           line.find("ibnetdisc.c:") != std::string_view::npos;
}

bool is_loss(std::string_view line) {
    return line.find("bad status") != std::string_view::npos ||
           line.find("timed out") != std::string_view::npos || line.find("failed") != std::string_view::npos;
}

// `ibnetdiscover`: a record per node, followed by its ports.
class TopologyText {
public:
    explicit TopologyText(RawFabric& fabric) : fabric_(fabric) {}

    void read(std::string_view line, std::uint32_t number) {
        Cursor cursor(line);
        if (line.starts_with('[')) return read_port(cursor, number);
        if (cursor.take("Switch")) return read_node(cursor, 'S', number);
        if (cursor.take("Hca") || cursor.take("Ca")) return read_node(cursor, 'H', number);
        if (cursor.take("Rt") || cursor.take("???")) return read_node(cursor, 'R', number);
        // "switchguid=0x…(…)" and similar lines repeat what is in the record, except for nodes that only have
        // names; "Chassis 1 (guid 0x…)" groups records.
        const auto equals = line.find('=');
        const auto space = line.find_first_of(" \t\"[");
        if (equals != std::string_view::npos && equals > 0 &&
            (space == std::string_view::npos || equals < space)) {
            const auto key = line.substr(0, equals);
            if (key != "switchguid" && key != "caguid") return;
            const auto guid = parse_guid(line.substr(equals + 1, line.find('(') - equals - 1));
            if (!guid)
                Cursor(line.substr(equals + 1)).fail("a GUID of up to 16 hexadecimal digits is wanted");
            said_ = *guid;
            return;
        }
        if (line.starts_with("Chassis ") || line.starts_with("Hostname: ") ||
            line.starts_with("Non-Chassis Nodes"))
            return;
        cursor.fail("a record of ibnetdiscover is wanted (Switch, Ca, Rt, a port in brackets or key=value)");
    }

    // Nodes referred to by name get the GUIDs given in the text.
    void finish() {
        if (guid_of_.empty()) return;
        const auto resolve = [&](Guid& guid) {
            if (const auto found = guid_of_.find(guid); found != guid_of_.end()) guid = found->second;
        };
        for (RawNode& node : fabric_.nodes) {
            resolve(node.guid);
            for (RawPort& port : node.seen)
                resolve(port.peer);
        }
    }

private:
    // Switch  64 "S-…"    # "leaf1" enhanced port 0 lid 5 lmc 0
    // Ca  1 "H-…"    # "n001 mlx5_0"
    void read_node(Cursor& cursor, char keyword, std::uint32_t line) {
        RawNode node;
        node.line = line;
        cursor.skip_space();
        node.ports = cursor.port();
        const auto id = node_id(cursor);
        node.guid = id.guid;
        const Guid said = std::exchange(said_, 0);
        if (id.kind == '\0') {
            node.description = trimmed_printable(id.name);
            if (said != 0 && !guid_of_.try_emplace(id.guid, said).second)
                cursor.fail("the name stands twice");
        }
        cursor.skip_space();
        if (cursor.take("#")) {
            // Only a switch has words after its description, and they contain no quotes.
            node.description = trimmed_printable(cursor.quoted_to_last('"'));
        }
        node.kind = kind_of(id.kind == '\0' ? keyword : id.kind, node.description);
        fabric_.nodes.push_back(std::move(node));
    }

    // [1](98039b0300a1b2c3)   "S-…"[5]    # lid 3 lmc 0 "leaf1" lid 1 4xHDR
    // [5]  "H-…"[1](98039b0300a1b2c3)     # "n001 mlx5_0" lid 3 4xHDR
    void read_port(Cursor& cursor, std::uint32_t line) {
        if (fabric_.nodes.empty()) cursor.fail("a port before any Switch or Ca");
        RawNode& node = fabric_.nodes.back();
        RawPort port;
        port.line = line;
        port.linked = true;
        port.number = bracketed_port(cursor);
        if (cursor.take("(")) {
            port.guid = cursor.guid();
            cursor.need(")");
        }
        port.peer = node_id(cursor).guid;
        port.peer_port = bracketed_port(cursor);
        cursor.skip_space();
        if (cursor.take("(")) {
            cursor.guid();
            cursor.need(")");
        }
        cursor.skip_space();
        read_options(cursor);
        if (cursor.take("#")) {
            cursor.skip_space();
            if (cursor.take("lid ")) {
                port.lid = cursor.lid();
                cursor.need(" lmc ");
                cursor.number(7, 10, "an LMC up to 7");
            }
            port.peer_description = trimmed_printable(cursor.quoted_to_last('"'));
            cursor.skip_space();
            cursor.need("lid ");
            cursor.lid();
            port.rate = rate(cursor);
        }
        node.seen.push_back(port);
    }

    // ibsim's net files may set "w=1 s=2" before the comment.
    static void read_options(Cursor& cursor) {
        while (!cursor.at_end() && !cursor.rest().starts_with('#')) {
            const auto option = cursor.word();
            if (option.find('=') == std::string_view::npos) Cursor(option).fail("'#' or an option is wanted");
        }
    }

    static std::uint8_t bracketed_port(Cursor& cursor) {
        cursor.need("[");
        const auto port = cursor.port();
        cursor.need("]");
        if (cursor.take("[ext ")) {
            cursor.port();
            cursor.need("]");
        }
        return port;
    }

    static Rate rate(Cursor& cursor) {
        const auto word = cursor.word();
        return parse_rate(word).value_or(Rate{lanes_of(word.substr(0, word.find_first_of("xX"))), 0});
    }

    RawFabric& fabric_;
    Guid said_ = 0;                          // from "switchguid=" or "caguid=" before a node
    std::unordered_map<Guid, Guid> guid_of_; // nodes by name: generated GUID → the one in the text
};

// `ibnetdiscover -p`: one port per line.
//   CA     5  1 0x98039b0300a1b2c3 4x HDR - SW     3  5 0x98039b0300a1b2d0 ( 'n001 mlx5_0' - 'leaf1' )
//   SW     3 40 0x98039b0300a1b2d0 4x SDR                                    'leaf1'
class PortsText {
public:
    explicit PortsText(RawFabric& fabric) : fabric_(fabric) {}

    void read(std::string_view line, std::uint32_t number) {
        Cursor cursor(line);
        RawPort port;
        port.line = number;
        const auto kind = read_kind(cursor);
        cursor.skip_space();
        port.lid = cursor.lid();
        cursor.skip_space();
        port.number = cursor.port();
        cursor.skip_space();
        cursor.need("0x");
        port.guid = cursor.guid();
        cursor.skip_space();
        port.rate = read_rate(cursor);
        cursor.skip_space();
        std::string_view description;
        if (cursor.take("- ")) {
            port.linked = true;
            read_kind(cursor);
            cursor.skip_space();
            cursor.lid();
            cursor.skip_space();
            port.peer_port = cursor.port();
            cursor.skip_space();
            cursor.need("0x");
            port.peer = cursor.guid();
            cursor.skip_space();
            cursor.need("( '");
            const auto both = cursor.rest();
            const auto between = both.find("' - '");
            if (between == std::string_view::npos || !both.ends_with("' )"))
                cursor.fail("two descriptions ( '…' - '…' ) are wanted");
            description = both.substr(0, between);
            const auto peer = both.substr(between + 5);
            port.peer_description = trimmed_printable(peer.substr(0, peer.rfind("' )")));
        } else {
            port.rate = {}; // meaningless for a port without a link
            description = cursor.quoted_to_last('\'');
        }
        add(kind, trimmed_printable(description), port);
    }

    // Ports name their peers by port GUID; after all are known, converts them to node GUIDs. A peer that is
    // not listed keeps its port GUID and is reported missing later.
    void finish() {
        for (RawNode& node : fabric_.nodes)
            for (RawPort& port : node.seen) {
                node.ports = std::max<int>(node.ports, port.number);
                if (!port.linked) continue;
                const auto owner = owner_.find(port.peer);
                if (owner != owner_.end()) port.peer = fabric_.nodes[owner->second].guid;
            }
    }

private:
    static RawNode::Kind read_kind(Cursor& cursor) {
        const auto kind = cursor.word();
        if (kind == "SW") return RawNode::Kind::switch_;
        if (kind == "CA") return RawNode::Kind::hca;
        if (kind == "RT" || kind == "??") return RawNode::Kind::other;
        Cursor(kind).fail("CA, SW or RT is wanted");
    }

    static Rate read_rate(Cursor& cursor) {
        const auto width = lanes_of(cursor.word());
        return {width, width * lane_mbps(cursor.word()).value_or(0)};
    }

    void add(RawNode::Kind kind, std::string description, const RawPort& port) {
        if (kind == RawNode::Kind::hca && is_aggregation(description)) kind = RawNode::Kind::other;
        const auto owner = owner_.find(port.guid);
        if (owner != owner_.end()) { // the next port of a switch
            fabric_.nodes[owner->second].seen.push_back(port);
            return;
        }
        if (kind == RawNode::Kind::hca && !fabric_.nodes.empty()) {
            RawNode& last = fabric_.nodes.back();
            const bool same =
                last.kind == kind && last.description == description && last.seen.back().number > port.number;
            if (same) { // ports of one HCA are listed highest first
                last.seen.push_back(port);
                last.guid = port.guid;
                owner_.emplace(port.guid, fabric_.nodes.size() - 1);
                return;
            }
        }
        owner_.emplace(port.guid, fabric_.nodes.size());
        RawNode& node = fabric_.nodes.emplace_back();
        node.kind = kind;
        node.guid = port.guid;
        node.description = std::move(description);
        node.line = port.line;
        node.seen.push_back(port);
    }

    RawFabric& fabric_;
    std::unordered_map<Guid, std::size_t> owner_; // port GUID → node
};

} // namespace

Expected<RawFabric> parse_ibnetdiscover(std::string_view text, std::string_view name) {
    RawFabric fabric;
    fabric.source = name;
    TopologyText topology(fabric);
    PortsText ports(fabric);
    enum class Form { unknown, topology_text, ports_text } form = Form::unknown;
    Lines lines(text);
    std::string_view line;
    try {
        while (lines.next(line)) {
            if (trimmed(line).empty() || line.starts_with('#')) continue;
            if (is_warning(line)) {
                if (is_loss(line))
                    fabric.missing.push_back(fmt::format("{}:{}: ibnetdiscover said: {}", name,
                                                         lines.number(), trimmed_printable(line)));
                continue;
            }
            if (form == Form::unknown) {
                const auto start = line.substr(0, 3);
                form = start == "CA " || start == "SW " || start == "RT " || start == "?? "
                           ? Form::ports_text
                           : Form::topology_text;
            }
            form == Form::ports_text ? ports.read(line, lines.number()) : topology.read(line, lines.number());
        }
    } catch (const Unreadable& unreadable) {
        if (!lines.cut() || fabric.nodes.empty())
            return Error{Code::input, fmt::format("{}:{}: {}", name, lines.number(), unreadable.text)};
        fabric.missing.push_back(
            fmt::format("{}:{}: the text was cut here; what followed is not known", name, lines.number()));
    }
    form == Form::ports_text ? ports.finish() : topology.finish();
    if (fabric.nodes.empty())
        return Error{Code::input, fmt::format("{}: holds no Switch or Ca of ibnetdiscover's output", name)};
    return fabric;
}

} // namespace topo
