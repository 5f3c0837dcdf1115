#include "topo/read/db_csv.hpp"

#include "topo/read/modules.hpp"
#include "topo/read/text.hpp"
#include "topo/read/text_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// The values of a line, without their quotes.
void split(std::string_view line, std::vector<std::string>& cells) {
    cells.clear();
    while (true) {
        std::string& cell = cells.emplace_back();
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (line.starts_with('"')) {
            line.remove_prefix(1);
            while (true) {
                const auto quote = line.find('"');
                if (quote == std::string_view::npos) throw Unreadable{"a closing quote is wanted"};
                cell += line.substr(0, quote);
                line.remove_prefix(quote + 1);
                if (!line.starts_with('"')) break;
                cell += '"';
                line.remove_prefix(1);
            }
        }
        const auto comma = line.find(',');
        cell += trimmed(line.substr(0, comma));
        if (comma == std::string_view::npos) return;
        line.remove_prefix(comma + 1);
    }
}

class Sections {
public:
    explicit Sections(RawFabric& fabric) : fabric_(fabric), nodes_(fabric, TextNodes::HcaGuid::as_added) {}

    void read(std::string_view line, std::uint32_t number) {
        const auto text = trimmed(line);
        if (text.starts_with("START_")) {
            section_ = section_named(text.substr(6));
            heading_.clear();
            open_ = true;
            return;
        }
        if (text.starts_with("END_")) {
            open_ = false;
            section_ = Section::other;
            return;
        }
        if (text.empty() || section_ == Section::other) return;
        split(text, cells_);
        if (heading_.empty()) {
            heading_ = cells_;
            for (std::size_t key = 0; key < keys; ++key)
                places_[key] = find_column(static_cast<Key>(key));
            return;
        }
        if (cells_.size() != heading_.size())
            throw Unreadable{
                fmt::format("the line has {} values, its heading {}", cells_.size(), heading_.size())};
        switch (section_) {
        case Section::nodes: return read_node(number);
        case Section::ports: return read_port(number);
        case Section::links: return read_link(number);
        case Section::cables: return read_cable();
        case Section::other: return;
        }
    }

    bool open() const { return open_; } // a section has begun and not ended
    bool has_links() const { return links_; }
    void finish() { nodes_.finish(); }

private:
    enum class Section : std::uint8_t { other, nodes, ports, links, cables };
    // The columns used, by any of their names.
    enum Key : std::size_t {
        node_guid,
        node_guid_2,
        port_guid,
        port,
        port_2,
        description,
        ports,
        kind,
        lid,
        width,
        speed,
        state,
        keys
    };
    struct Names {
        std::string_view one, other;
    };
    static constexpr std::array<Names, keys> names{{{"NodeGUID", "NodeGuid1"},
                                                    {"NodeGuid2", ""},
                                                    {"PortGuid", ""},
                                                    {"PortNum", "PortNum1"},
                                                    {"PortNum2", ""},
                                                    {"NodeDesc", "NodeDescription"},
                                                    {"NumPorts", ""},
                                                    {"NodeType", ""},
                                                    {"LID", ""},
                                                    {"LinkWidthActv", ""},
                                                    {"LinkSpeedActv", ""},
                                                    {"PortState", ""}}};
    static constexpr std::size_t nowhere = ~std::size_t{0};

    static Section section_named(std::string_view name) {
        return name == "NODES"        ? Section::nodes
               : name == "PORTS"      ? Section::ports
               : name == "LINKS"      ? Section::links
               : name == "CABLE_INFO" ? Section::cables
                                      : Section::other;
    }

    std::size_t find_column(Key key) const {
        for (std::size_t i = 0; i < heading_.size(); ++i)
            if (same_word(heading_[i], names[key].one) ||
                (!names[key].other.empty() && same_word(heading_[i], names[key].other)))
                return i;
        return nowhere;
    }

    std::string_view cell(Key key) const {
        if (places_[key] == nowhere)
            throw Unreadable{fmt::format("the heading has no column {}", names[key].one)};
        return cells_[places_[key]];
    }
    bool has(Key key) const { return places_[key] != nowhere && cell(key) != "N/A" && !cell(key).empty(); }

    std::uint64_t number(Key key, std::uint64_t most) const {
        Cursor cursor(cell(key));
        const bool hexadecimal = cursor.take("0x");
        const auto value = cursor.number(most, hexadecimal ? 16 : 10,
                                         fmt::format("a number up to {} ({})", most, names[key].one));
        if (!cursor.at_end()) cursor.fail(fmt::format("the end of {}", names[key].one));
        return value;
    }

    Guid guid(Key key) const {
        Cursor cursor(cell(key));
        const Guid value = cursor.guid();
        if (!cursor.at_end()) Cursor(cell(key)).fail(fmt::format("a GUID ({})", names[key].one));
        return value;
    }

    void read_node(std::uint32_t line) {
        const Guid known = guid(node_guid);
        const auto type = number(kind, 255);
        const auto what = type == 1   ? RawNode::Kind::hca
                          : type == 2 ? RawNode::Kind::switch_
                                      : RawNode::Kind::other;
        if (nodes_.find(known)) throw Unreadable{fmt::format("GUID {} stands twice", format_guid(known))};
        const auto node = nodes_.add(what, known, trimmed_printable(cell(description)), line);
        fabric_.nodes[node].ports = static_cast<int>(number(ports, 254));
    }

    std::size_t node(Key key) const {
        const Guid known = guid(key);
        const auto found = nodes_.find(known);
        if (!found)
            throw Unreadable{fmt::format("GUID {} is of no node in section NODES", format_guid(known))};
        return *found;
    }

    std::uint8_t port_number(Key key) const { return static_cast<std::uint8_t>(number(key, 254)); }

    void read_port(std::uint32_t line) {
        const auto at = port_number(port);
        const auto owner = node(node_guid);
        if (at == 0) return; // of the switch itself
        RawPort& seen = nodes_.port(owner, at, line);
        seen.line = line;
        const bool of_hca = fabric_.nodes[owner].kind == RawNode::Kind::hca;
        if (of_hca && has(port_guid)) seen.guid = guid(port_guid);
        if (of_hca && has(lid)) seen.lid = static_cast<std::uint16_t>(number(lid, 0xFFFF));
        // IBA 1.7, 14.2.5.6: PortState, LinkWidthActive.
        if (has(state)) {
            const auto word = number(state, 255);
            constexpr std::array states{LinkState::unknown, LinkState::down, LinkState::init,
                                        LinkState::armed, LinkState::active};
            if (word < states.size()) seen.state = states[word];
        }
        if (!has(width) || !has(speed) || seen.state == LinkState::down) return;
        seen.rate = {lanes(number(width, 255)), 0};
        seen.rate.mbps = seen.rate.width * lane(number(speed, 0xFFFFFFFF));
    }

    static std::uint8_t lanes(std::uint64_t width) {
        return width == 1 ? 1 : width == 2 ? 4 : width == 4 ? 8 : width == 8 ? 12 : width == 16 ? 2 : 0;
    }

    // ibdiagnet's own values: LinkSpeedActive, LinkSpeedExtActive from bit 8, FDR10 at bit 16.
    static std::uint32_t lane(std::uint64_t speed) {
        constexpr std::array<std::pair<std::uint64_t, std::string_view>, 9> speeds{{{1, "SDR"},
                                                                                    {2, "DDR"},
                                                                                    {4, "QDR"},
                                                                                    {0x100, "FDR"},
                                                                                    {0x200, "EDR"},
                                                                                    {0x400, "HDR"},
                                                                                    {0x800, "NDR"},
                                                                                    {0x1000, "XDR"},
                                                                                    {0x10000, "FDR10"}}};
        for (const auto& [bit, name] : speeds)
            if (bit == speed) return *lane_mbps(name);
        return 0;
    }

    void read_link(std::uint32_t line) {
        links_ = true;
        const auto a = node(node_guid), b = node(node_guid_2);
        const auto from = port_number(port), to = port_number(port_2);
        for (const auto& [owner, at] : {std::pair(a, from), std::pair(b, to)})
            if (nodes_.port(owner, at, line).linked)
                throw Unreadable{
                    fmt::format("port {} of {} is in two links", at, fabric_.nodes[owner].description)};
        nodes_.lead(a, from, b, to);
        nodes_.lead(b, to, a, from);
    }

    void read_cable() {
        RawModule found;
        found.node = node(node_guid);
        found.port = port_number(port);
        for (std::size_t i = 0; i < cells_.size(); ++i)
            tell_module(found.module, heading_[i], cells_[i]);
        if (says_anything(found.module)) fabric_.modules.push_back(std::move(found));
    }

    RawFabric& fabric_;
    TextNodes nodes_;
    Section section_ = Section::other;
    bool open_ = false, links_ = false;
    std::vector<std::string> heading_, cells_;
    std::array<std::size_t, keys> places_{};
};

} // namespace

Expected<RawFabric> parse_db_csv(std::string_view text, std::string_view name) {
    RawFabric fabric;
    fabric.source = name;
    Sections sections(fabric);
    Lines lines(text);
    std::string_view line;
    try {
        while (lines.next(line)) {
            if (lines.cut() && sections.open()) break; // an incomplete line
            sections.read(line, lines.number());
        }
    } catch (const Unreadable& unreadable) {
        return Error{Code::input, fmt::format("{}:{}: {}", name, lines.number(), unreadable.text)};
    }
    if (sections.open())
        fabric.missing.push_back(
            fmt::format("{}:{}: the text was cut here; what followed is not known", name, lines.number()));
    sections.finish();
    if (fabric.nodes.empty()) return Error{Code::input, fmt::format("{}: has no section NODES", name)};
    if (!sections.has_links())
        return Error{
            Code::input,
            fmt::format("{}: has no section LINKS, so that no cable is known; run the whole ibdiagnet",
                        name)};
    return fabric;
}

} // namespace topo
