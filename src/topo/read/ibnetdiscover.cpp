#include "topo/read/ibnetdiscover.hpp"

#include "topo/guid.hpp"

#include <fmt/format.h>

#include <charconv>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// Raised inside this file only, by the cursor at the token that is not understood.
struct Unreadable {
    std::string text;
};

// A line being read from its front; every reader below takes what it names or raises.
class Cursor {
public:
    explicit Cursor(std::string_view rest) : rest_(rest) {}

    std::string_view rest() const { return rest_; }
    void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
    bool take(std::string_view prefix) {
        if (!rest_.starts_with(prefix)) return false;
        rest_.remove_prefix(prefix.size());
        return true;
    }
    void need(std::string_view prefix) {
        if (!take(prefix)) fail(fmt::format("'{}' is wanted", prefix));
    }
    bool at_end() {
        skip_space();
        return rest_.empty();
    }
    std::string_view word() {
        skip_space();
        const auto word = rest_.substr(0, std::min(rest_.find_first_of(" \t"), rest_.size()));
        rest_.remove_prefix(word.size());
        return word;
    }
    std::uint64_t number(std::uint64_t most, int base, std::string_view what) {
        std::uint64_t value = 0;
        const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
        if (failed != std::errc{} || value > most) fail(fmt::format("{} is wanted", what));
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    std::uint8_t port() { return static_cast<std::uint8_t>(number(254, 10, "a port number up to 254")); }
    std::uint16_t lid() { return static_cast<std::uint16_t>(number(0xFFFF, 10, "a LID up to 65535")); }
    Guid guid() {
        take("0x");
        return number(~std::uint64_t{0}, 16, "a GUID");
    }
    // "S-0008f10400411f56" in quotes: the kind and the GUID.
    std::pair<char, Guid> node_id() {
        skip_space();
        need("\"");
        const char kind = rest_.empty() ? '\0' : rest_.front();
        if (kind != 'S' && kind != 'H' && kind != 'R' && kind != '?')
            fail("a node such as \"S-…\" or \"H-…\" is wanted");
        rest_.remove_prefix(1);
        need("-");
        const auto guid = number(~std::uint64_t{0}, 16, "a GUID");
        need("\"");
        return {kind, guid};
    }
    // What stands between `quote` here and the last one of the line: descriptions may hold quotes.
    std::string_view quoted_to_last(char quote) {
        skip_space();
        need(std::string_view(&quote, 1));
        const auto last = rest_.rfind(quote);
        if (last == std::string_view::npos) fail("a closing quote is wanted");
        const auto text = rest_.substr(0, last);
        rest_.remove_prefix(last + 1);
        return text;
    }
    [[noreturn]] void fail(std::string_view what) const {
        constexpr std::size_t most = 40;
        const auto token = rest_.substr(0, std::min(rest_.find_first_of(" \t", 1), most));
        if (token.empty()) throw Unreadable{fmt::format("the line ends where {}", what)};
        const auto shown = printable(token);
        throw Unreadable{
            fmt::format("{}: {}", shown.empty() ? "white space" : fmt::format("'{}'", shown), what)};
    }

private:
    std::string_view rest_;
};

RawNode::Kind kind_of(char letter, std::string_view description) {
    if (letter == 'S') return RawNode::Kind::switch_;
    return letter == 'H' && !is_aggregation(description) ? RawNode::Kind::hca : RawNode::Kind::other;
}

// Lines of standard error that were kept with the text: libraries' warnings, and those among them that say
// that a node did not answer.
bool is_warning(std::string_view line) {
    return line.starts_with("ibwarn:") || line.starts_with("src/") ||
           line.find("query_smp.c:") != std::string_view::npos ||
           line.find("ibnetdisc.c:") != std::string_view::npos;
}

bool is_loss(std::string_view line) {
    return line.find("bad status") != std::string_view::npos ||
           line.find("timed out") != std::string_view::npos || line.find("failed") != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    const auto start = text.find_first_not_of(" \t");
    return start == std::string_view::npos ? std::string_view()
                                           : text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

// Lines one by one, without their end.
class Lines {
public:
    explicit Lines(std::string_view text) : text_(text) {}
    bool next(std::string_view& line) {
        if (text_.empty()) return false;
        const auto end = text_.find('\n');
        line = text_.substr(0, end);
        text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        ++number_;
        return true;
    }
    std::uint32_t number() const { return number_; }

private:
    std::string_view text_;
    std::uint32_t number_ = 0;
};

// `ibnetdiscover`: a record a node, its ports below it.
class TopologyText {
public:
    explicit TopologyText(RawFabric& fabric) : fabric_(fabric) {}

    void read(std::string_view line, std::uint32_t number) {
        Cursor cursor(line);
        if (line.starts_with('[')) return read_port(cursor, number);
        if (cursor.take("Switch") || cursor.take("Hca") || cursor.take("Ca") || cursor.take("Rt") ||
            cursor.take("???"))
            return read_node(cursor, number);
        // "switchguid=0x…(…)" and the like repeat what the record says; "Chassis 1 (guid 0x…)" groups
        // records.
        const auto equals = line.find('=');
        const auto space = line.find_first_of(" \t\"[");
        if (equals != std::string_view::npos && equals > 0 &&
            (space == std::string_view::npos || equals < space))
            return;
        if (line.starts_with("Chassis ") || line.starts_with("Hostname: ") ||
            line.starts_with("Non-Chassis Nodes"))
            return;
        cursor.fail("a record of ibnetdiscover is wanted (Switch, Ca, Rt, a port in brackets or key=value)");
    }

private:
    // Switch  64 "S-…"    # "leaf1" enhanced port 0 lid 5 lmc 0
    // Ca  1 "H-…"    # "n001 mlx5_0"
    void read_node(Cursor& cursor, std::uint32_t line) {
        RawNode node;
        node.line = line;
        cursor.skip_space();
        node.ports = cursor.port();
        const auto [letter, guid] = cursor.node_id();
        node.guid = guid;
        cursor.skip_space();
        if (cursor.take("#")) {
            // Only a switch has words after its description, and they hold no quotes.
            node.description = printable(cursor.quoted_to_last('"'));
        }
        node.kind = kind_of(letter, node.description);
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
        port.peer = cursor.node_id().second;
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
            cursor.quoted_to_last('"');
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
        if (word.empty() || word.find('?') != std::string_view::npos) return {};
        const auto rate = parse_rate(word);
        if (!rate) Cursor(word).fail("a rate such as 4xHDR is wanted");
        return *rate;
    }

    RawFabric& fabric_;
};

// `ibnetdiscover -p`: a port a line.
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
        } else {
            port.rate = {}; // of a port without a link it says nothing
            description = cursor.quoted_to_last('\'');
        }
        add(kind, printable(description), port);
    }

    // Ports name their peers by port GUID; now that all are known, by node GUID. A peer that was not told of
    // keeps its port GUID and is found missing later.
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
        const auto width = cursor.word();
        const auto speed = cursor.word();
        if (width.find('?') != std::string_view::npos || speed.find('?') != std::string_view::npos) return {};
        const auto rate = parse_rate(std::string(width) + std::string(speed));
        if (!rate) Cursor(width).fail("a width and a speed such as 4x HDR are wanted");
        return *rate;
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
            if (same) { // ports of one HCA come highest first
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
                    fabric.missing.push_back(
                        fmt::format("{}:{}: ibnetdiscover said: {}", name, lines.number(), printable(line)));
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
        return Error{Code::input, fmt::format("{}:{}: {}", name, lines.number(), unreadable.text)};
    }
    if (form == Form::ports_text) ports.finish();
    if (fabric.nodes.empty())
        return Error{Code::input, fmt::format("{}: holds no Switch or Ca of ibnetdiscover's output", name)};
    return fabric;
}

} // namespace topo
