#include "topo/read/net_dump.hpp"

#include "topo/read/text.hpp"
#include "topo/read/text_nodes.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// In the line of a link.
enum Column : std::size_t {
    label,
    number,
    state,
    width,
    speed,
    peer_guid,
    peer_port,
    peer_lid,
    peer_name,
    columns
};
constexpr std::array<std::string_view, columns> names{
    "#", "IB#", "Sta", "LWA", "LSA", "Neighbor Guid", "N#", "NLID", "Neighbor Description"};

bool says_none(std::string_view cell) {
    return cell.empty() || cell == "N/A" || cell == "NA" || cell == "-";
}

class DumpText {
public:
    explicit DumpText(RawFabric& fabric) : fabric_(fabric), nodes_(fabric) {}

    void read(std::string_view line, std::uint32_t at) {
        const auto text = trimmed(line);
        if (text.starts_with('"')) return open_switch(text, at);
        if (text.starts_with('#')) {
            if (text.find(':') != std::string_view::npos) read_heading(text);
            return; // otherwise a comment
        }
        if (!open_) Cursor(text).fail("a switch is wanted: \"NAME\", VENDOR, 0xGUID, LID N");
        read_port(text, at);
    }

    void finish() {
        for (const Link& link : links_)
            join(link);
        nodes_.finish();
    }

private:
    struct Link {
        std::size_t node;
        std::uint8_t port;
        std::uint32_t line;
        Guid peer;
        std::uint8_t peer_port; // 0: given by the label
        std::string peer_label, peer_name;
        std::uint16_t peer_lid;
    };

    // "MF0;leaf1:MQM9700/U1", Mellanox, 0x9803000000001000, LID 2
    void open_switch(std::string_view text, std::uint32_t line) {
        const auto end = text.rfind("\",");
        if (end == 0 || end == std::string_view::npos)
            Cursor(text).fail("a name in quotes and ',' are wanted");
        auto description = trimmed_printable(text.substr(1, end - 1));
        Cursor cursor(text.substr(end + 2));
        cursor.until(",");
        cursor.need(",");
        cursor.skip_space();
        cursor.need("0x");
        const Guid guid = cursor.guid();
        cursor.need(",");
        cursor.skip_space();
        cursor.need("LID");
        cursor.skip_space();
        cursor.lid();
        if (nodes_.find(guid)) throw Unreadable{fmt::format("GUID {} stands twice", format_guid(guid))};
        open_ = nodes_.add(RawNode::Kind::switch_, guid, std::move(description), line);
    }

    void read_heading(std::string_view text) {
        place_.fill(none_);
        std::size_t count = 0;
        for (auto rest = text;; ++count) {
            const auto colon = rest.find(':');
            const auto cell = trimmed(rest.substr(0, colon));
            for (std::size_t c = 0; c < columns; ++c)
                if (same_word(names[c], cell)) place_[c] = count;
            if (colon == std::string_view::npos) break;
            rest.remove_prefix(colon + 1);
        }
        for (const auto c : {number, state, peer_guid, peer_port, peer_name})
            if (place_[c] == none_) throw Unreadable{fmt::format("the heading has no column {}", names[c])};
        if (place_[peer_name] != count)
            throw Unreadable{"the neighbour's description must be the last column"};
    }

    // The cells of a line; the last one, a description, may contain colons.
    std::array<std::string_view, columns> cells(std::string_view text) const {
        if (place_[number] == none_) throw Unreadable{"a port before the heading \"# : IB# : …\""};
        std::array<std::string_view, columns> found;
        auto rest = text;
        for (std::size_t i = 0; i <= place_[peer_name]; ++i) {
            const bool last = i == place_[peer_name];
            const auto colon = last ? std::string_view::npos : rest.find(':');
            if (!last && colon == std::string_view::npos)
                throw Unreadable{
                    fmt::format("the line has {} columns, its heading {}", i + 1, place_[peer_name] + 1)};
            for (std::size_t c = 0; c < columns; ++c)
                if (place_[c] == i) found[c] = trimmed(rest.substr(0, colon));
            if (!last) rest.remove_prefix(colon + 1);
        }
        return found;
    }

    void read_port(std::string_view text, std::uint32_t line) {
        const auto cell = cells(text);
        Cursor cursor(cell[number]);
        const auto at = cursor.port();
        if (nodes_.has_port(*open_, at)) throw Unreadable{fmt::format("port {} stands twice", at)};
        RawPort& port = nodes_.port(*open_, at, line);
        port.state = read_state(cell[state]);
        if (!cell[label].empty()) labels_.emplace(std::pair(*open_, std::string(cell[label])), at);
        if (port.state == LinkState::down || says_none(cell[peer_guid])) return;
        port.rate = read_rate(cell[width], cell[speed]);
        Link link{*open_, at, line, 0, 0, std::string(cell[peer_port]), {}, 0};
        if (!is_switch_label(cell[peer_port])) {
            Cursor peer(cell[peer_port]);
            link.peer_port = peer.port();
            if (link.peer_port == 0 || !peer.at_end())
                Cursor(cell[peer_port]).fail("a port of the neighbour is wanted");
        }
        Cursor guid(cell[peer_guid]);
        link.peer = guid.guid();
        if (!says_none(cell[peer_lid])) link.peer_lid = Cursor(cell[peer_lid]).lid();
        auto name = cell[peer_name];
        if (name.size() > 1 && name.starts_with('"') && name.ends_with('"'))
            name = name.substr(1, name.size() - 2);
        link.peer_name = trimmed_printable(name);
        links_.push_back(std::move(link));
    }

    static LinkState read_state(std::string_view word) {
        return word.starts_with("ACT")                     ? LinkState::active
               : word.starts_with("ARM")                   ? LinkState::armed
               : word.starts_with("INI")                   ? LinkState::init
               : word.starts_with("DOWN") || word == "DWN" ? LinkState::down
                                                           : LinkState::unknown;
    }

    static Rate read_rate(std::string_view width, std::string_view speed) {
        Rate rate;
        if (!width.ends_with('x') && !width.ends_with('X')) return rate;
        rate.width = lanes_of(width);
        rate.mbps = rate.width * lane_mbps_of(speed);
        return rate;
    }

    // "sw1p1", "1/2/1"; an HCA has a number there.
    static bool is_switch_label(std::string_view text) {
        return text.find('/') != std::string_view::npos || text.starts_with("sw");
    }

    void join(const Link& link) {
        auto peer = nodes_.find(link.peer);
        auto at = link.peer_port;
        if (peer) {
            const auto found = labels_.find({*peer, link.peer_label});
            if (found != labels_.end()) at = found->second;
        }
        if (at == 0) { // a label, of a switch that does not list it
            fabric_.missing.push_back(fmt::format(
                "{}:{}: port {} of {}, behind port {} of {}, was not seen itself", fabric_.source, link.line,
                link.peer_label, link.peer_name, link.port, fabric_.nodes[link.node].description));
            return;
        }
        if (!peer || fabric_.nodes[*peer].kind != RawNode::Kind::switch_) {
            peer = nodes_.hca(link.peer, link.peer_name, at, link.peer_lid, link.line);
            nodes_.port(*peer, at, link.line).lid = link.peer_lid;
            nodes_.lead(*peer, at, link.node, link.port);
        }
        nodes_.lead(link.node, link.port, *peer, at);
    }

    static constexpr std::size_t none_ = ~std::size_t{0};

    static std::array<std::size_t, columns> nowhere() {
        std::array<std::size_t, columns> places;
        places.fill(none_);
        return places;
    }

    RawFabric& fabric_;
    TextNodes nodes_;
    std::array<std::size_t, columns> place_ = nowhere();
    std::optional<std::size_t> open_;
    std::map<std::pair<std::size_t, std::string>, std::uint8_t> labels_; // port by switch and label
    std::vector<Link> links_;
};

} // namespace

Expected<RawFabric> parse_net_dump(std::string_view text, std::string_view name) {
    RawFabric fabric;
    fabric.source = name;
    DumpText dump(fabric);
    Lines lines(text);
    std::string_view line;
    try {
        while (lines.next(line))
            if (!trimmed(line).empty()) dump.read(line, lines.number());
    } catch (const Unreadable& unreadable) {
        if (!lines.cut() || fabric.nodes.empty())
            return Error{Code::input, fmt::format("{}:{}: {}", name, lines.number(), unreadable.text)};
        fabric.missing.push_back(
            fmt::format("{}:{}: the text was cut here; what followed is not known", name, lines.number()));
    }
    dump.finish();
    if (fabric.nodes.empty()) return Error{Code::input, fmt::format("{}: holds no switch of net_dump", name)};
    return fabric;
}

} // namespace topo
