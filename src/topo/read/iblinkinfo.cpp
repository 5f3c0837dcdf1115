#include "topo/read/iblinkinfo.hpp"

#include "topo/read/text.hpp"
#include "topo/read/text_nodes.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

class LinkText {
public:
    explicit LinkText(RawFabric& fabric) : fabric_(fabric), nodes_(fabric) {}

    void read(std::string_view line, std::uint32_t number) {
        const auto open = line.find("==(");
        if (open != std::string_view::npos) return read_link(line, open, number);
        Cursor cursor(line);
        cursor.skip_space();
        if (cursor.take("Switch:") || cursor.take("Switch "))
            return open_node(cursor, RawNode::Kind::switch_, number);
        if (cursor.take("CA:")) return open_node(cursor, RawNode::Kind::hca, number);
        if (cursor.take("Router:") || cursor.take("??:"))
            return open_node(cursor, RawNode::Kind::other, number);
        cursor.fail("a record of iblinkinfo is wanted (Switch:, CA: or a link \"==( … )==>\")");
    }

    void finish() {
        for (const std::size_t node : by_line_)
            if (ports_of_[fabric_.nodes[node].guid] > 1)
                fabric_.nodes[node].kind = RawNode::Kind::switch_;
            else
                complete_ = true;
        for (std::size_t i = 0; i < links_.size(); ++i)
            by_place_[{links_[i].lid, links_[i].port}].push_back(i);
        for (const Link& link : links_)
            if (link.peer.port != 0) join(link);
        nodes_.finish();
    }

private:
    struct Peer {
        Guid guid = 0;
        std::uint16_t lid = 0;
        std::uint8_t port = 0; // 0: there is none
        std::string description;
    };
    struct Link {
        std::size_t node;
        std::uint16_t lid;
        std::uint8_t port;
        std::uint32_t line;
        Peer peer;
    };

    // Switch: 0x9803000000001000 leaf1:
    // CA: n001 mlx5_0:
    void open_node(Cursor& cursor, RawNode::Kind kind, std::uint32_t line) {
        Guid guid = 0;
        cursor.skip_space();
        if (kind == RawNode::Kind::switch_) {
            cursor.need("0x");
            guid = cursor.guid();
            cursor.skip_space();
        }
        const auto colon = cursor.rest().rfind(':');
        if (colon == std::string_view::npos) cursor.fail("a name and ':' are wanted");
        auto description = trimmed_printable(cursor.rest().substr(0, colon));
        complete_ = complete_ || kind == RawNode::Kind::hca;
        if (guid != 0 && nodes_.find(guid)) cursor.fail("the GUID stands twice");
        if (kind == RawNode::Kind::switch_)
            open_ = nodes_.add(kind, guid, std::move(description), line);
        else
            heading_ = Heading{kind, std::move(description), line}; // its GUID follows with its ports
        opened_ = true;
    }

    //      2    1[  ] ==( 4X   106.25 Gbps Active/  LinkUp)==>    1    1[  ] "n001 mlx5_0" ( )
    void read_link(std::string_view line, std::size_t open, std::uint32_t number) {
        const auto arrow = line.find("==>", open);
        if (arrow == std::string_view::npos) Cursor(line.substr(open)).fail("\"==( … )==>\" is wanted");
        Cursor left(line.substr(0, open));
        left.skip_space();
        Link link;
        link.line = number;
        Guid guid = 0;
        if (left.take("0x")) guid = left.guid();
        left.skip_space();
        const bool by_line = left.rest().starts_with('"');
        std::string description;
        if (by_line) {
            if (guid == 0) left.fail("a GUID is wanted in front");
            description = trimmed_printable(left.quoted_to_last('"'));
            left.skip_space();
        } else if (!opened_) {
            left.fail("a link before any Switch: or CA: line; the whole text of iblinkinfo is wanted");
        }
        link.lid = left.lid();
        left.skip_space();
        link.port = left.port();
        bracket(left);
        link.node = by_line ? line_node(guid, description, link.port, number) : record_node(guid, number);
        if (!listed_.insert({link.node, link.port}).second)
            throw Unreadable{
                fmt::format("port {} of {} stands twice", link.port, fabric_.nodes[link.node].description)};
        RawPort& port = nodes_.port(link.node, link.port, number);
        port.line = number;
        if (guid != 0) port.guid = guid;
        port.lid = link.lid;
        read_state(line.substr(open + 3, arrow - open - 3), port);
        link.peer = read_peer(line.substr(arrow + 3));
        if (!link.peer.description.empty() && link.peer.port == 0)
            fabric_.missing.push_back(fmt::format("{}:{}: the peer of port {} of {} did not answer",
                                                  fabric_.source, number, link.port,
                                                  fabric_.nodes[link.node].description));
        links_.push_back(std::move(link));
    }

    static void bracket(Cursor& cursor) {
        cursor.need("[");
        cursor.until("]");
        cursor.need("]");
    }

    // The node of the current record; an HCA gets its GUID from its first port.
    std::size_t record_node(Guid guid, std::uint32_t line) {
        if (heading_) {
            if (guid != 0 && nodes_.find(guid)) throw Unreadable{"the GUID stands twice"};
            open_ = nodes_.add(heading_->kind, guid, std::move(heading_->description), line);
            heading_.reset();
        }
        return open_;
    }

    // The ports of a switch have the same GUID; those of an HCA have one each and are consecutive.
    std::size_t line_node(Guid guid, std::string description, std::uint8_t port, std::uint32_t line) {
        opened_ = true;
        auto node = nodes_.find(guid);
        if (!node && !by_line_.empty()) {
            const auto last = by_line_.back();
            const RawNode& before = fabric_.nodes[last];
            if (ports_of_[before.guid] == 1 && before.description == description &&
                before.seen.back().number < port)
                node = last;
        }
        if (!node) {
            node = nodes_.add(RawNode::Kind::hca, guid, std::move(description), line);
            by_line_.push_back(*node);
        }
        if (!nodes_.has_port(*node, port)) nodes_.know(*node, port, guid);
        ++ports_of_[guid];
        return *node;
    }

    // " 4X   10.0 Gbps (FDR10) Active/  LinkUp) (HOQ:8 VL_Stall:7)", "    Down/ Polling)"
    static void read_state(std::string_view text, RawPort& port) {
        const auto slash = text.find('/');
        if (slash == std::string_view::npos) Cursor(text).fail("a state such as Active/LinkUp is wanted");
        auto front = trimmed(text.substr(0, slash));
        const auto state = front.substr(front.find_last_of(" \t") + 1);
        if (state == "Down") {
            port.state = LinkState::down;
            return;
        }
        port.state = state == "Active"                                  ? LinkState::active
                     : state == "Armed"                                 ? LinkState::armed
                     : state == "Initialize" || state == "Initializing" ? LinkState::init
                                                                        : LinkState::unknown;
        Cursor cursor(front);
        const auto width = cursor.word();
        const auto speed = cursor.word();
        if (!width.ends_with('X') && !width.ends_with('x')) return; // "undefined (7)"
        port.rate.width = lanes_of(width);
        const bool fdr10 = front.find("FDR10") != std::string_view::npos;
        port.rate.mbps = port.rate.width * (fdr10 ? *lane_mbps("FDR10") : lane_mbps_of_gbps(speed));
    }

    //       1    1[  ] "n001 mlx5_0" ( Could be 4X)
    static Peer read_peer(std::string_view text) {
        Cursor cursor(text);
        Peer peer;
        cursor.skip_space();
        if (cursor.rest().starts_with('[')) return peer;
        if (cursor.rest().starts_with('"')) {
            peer.description = cursor.rest();
            return peer;
        }
        if (cursor.take("0x")) peer.guid = cursor.guid();
        cursor.skip_space();
        peer.lid = cursor.lid();
        cursor.skip_space();
        peer.port = cursor.port();
        bracket(cursor);
        const auto end = cursor.rest().rfind("\" (");
        cursor.skip_space();
        cursor.need("\"");
        if (end == std::string_view::npos) cursor.fail("a name in quotes, then '(' are wanted");
        peer.description = trimmed_printable(cursor.rest().substr(0, cursor.rest().rfind("\" (")));
        return peer;
    }

    void join(const Link& link) {
        if (link.peer.guid != 0) {
            auto peer = nodes_.find(link.peer.guid);
            if (!peer) peer = unlisted(link);
            nodes_.lead(link.node, link.port, *peer, link.peer.port);
            return;
        }
        std::vector<const Link*> places;
        const auto found = by_place_.find({link.peer.lid, link.peer.port});
        if (found != by_place_.end())
            for (const auto i : found->second)
                if (fabric_.nodes[links_[i].node].description == link.peer.description && &links_[i] != &link)
                    places.push_back(&links_[i]);
        if (places.size() > 1) // no LIDs: match by the reverse direction
            std::erase_if(places, [&](const Link* other) {
                return other->peer.port != link.port || other->peer.lid != link.lid ||
                       other->peer.description != fabric_.nodes[link.node].description;
            });
        if (places.size() > 1) {
            fabric_.missing.push_back(fmt::format("{}:{}: port {} of {} leads to one of {} nodes called {}, "
                                                  "and the text does not say to which: use "
                                                  "iblinkinfo -l or ibnetdiscover",
                                                  fabric_.source, link.line, link.port,
                                                  fabric_.nodes[link.node].description, places.size(),
                                                  link.peer.description));
            return;
        }
        const auto peer = places.empty() ? unlisted(link) : places.front()->node;
        nodes_.lead(link.node, link.port, peer, link.peer.port);
    }

    // A node that is only named by its peers: all HCAs with --switches-only.
    std::size_t unlisted(const Link& link) {
        const Peer& peer = link.peer;
        if (complete_)
            fabric_.missing.push_back(fmt::format("{}:{}: {}, behind port {} of {}, was not seen itself",
                                                  fabric_.source, link.line, peer.description, link.port,
                                                  fabric_.nodes[link.node].description));
        std::size_t node = 0;
        if (peer.port > most_hca_ports || peer.description.starts_with("MF0;")) {
            const auto [known, fresh] = switches_.try_emplace({peer.description, peer.lid}, 0);
            if (fresh)
                known->second =
                    nodes_.add(RawNode::Kind::switch_, peer.guid, peer.description, link.line, peer.lid);
            node = known->second;
        } else {
            node = nodes_.hca(peer.guid, peer.description, peer.port, peer.lid, link.line);
        }
        nodes_.port(node, peer.port, link.line).lid = peer.lid;
        nodes_.lead(node, peer.port, link.node, link.port);
        return node;
    }

    struct Heading {
        RawNode::Kind kind;
        std::string description;
        std::uint32_t line;
    };
    static constexpr int most_hca_ports = 4;

    RawFabric& fabric_;
    TextNodes nodes_;
    bool opened_ = false;
    bool complete_ = false; // HCAs are listed themselves
    std::size_t open_ = 0;
    std::optional<Heading> heading_;
    std::vector<Link> links_;
    std::vector<std::size_t> by_line_;                      // nodes of `iblinkinfo -l`, in order
    std::unordered_map<Guid, int> ports_of_;                // of those, for each GUID
    std::set<std::pair<std::size_t, std::uint8_t>> listed_; // nodes and ports that have a line
    std::map<std::pair<std::uint16_t, std::uint8_t>, std::vector<std::size_t>>
        by_place_;                                                          // links by LID and port
    std::map<std::pair<std::string, std::uint16_t>, std::size_t> switches_; // only named by peers
};

} // namespace

Expected<RawFabric> parse_iblinkinfo(std::string_view text, std::string_view name) {
    RawFabric fabric;
    fabric.source = name;
    LinkText links(fabric);
    Lines lines(text);
    std::string_view line;
    try {
        while (lines.next(line))
            if (!trimmed(line).empty() && !line.starts_with('#')) links.read(line, lines.number());
    } catch (const Unreadable& unreadable) {
        if (!lines.cut() || fabric.nodes.empty())
            return Error{Code::input, fmt::format("{}:{}: {}", name, lines.number(), unreadable.text)};
        fabric.missing.push_back(
            fmt::format("{}:{}: the text was cut here; what followed is not known", name, lines.number()));
    }
    links.finish();
    if (fabric.nodes.empty())
        return Error{Code::input, fmt::format("{}: holds no link of iblinkinfo's output", name)};
    return fabric;
}

} // namespace topo
