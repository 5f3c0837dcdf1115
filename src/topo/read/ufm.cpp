#include "topo/read/ufm.hpp"

#include "base/json.hpp"
#include "topo/guid.hpp"
#include "topo/read/modules.hpp"
#include "topo/read/text.hpp"
#include "topo/read/text_nodes.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <map>
#include <set>

namespace topo {
namespace {

namespace json = boost::json;
using base::Code;
using base::Error;
using base::Expected;

std::string_view view(const json::string& text) {
    return {text.data(), text.size()};
}

// A member as text; a number is formatted; absent, null and "N/A" are empty.
std::string text_of(const json::object& object, std::string_view key) {
    const auto* member = object.if_contains(key);
    if (member == nullptr) return {};
    if (const auto* text = member->if_string())
        return view(*text) == "N/A" ? std::string() : std::string(view(*text));
    if (member->is_number()) return json::serialize(*member);
    return {};
}

// A port, from its own object or from that of its peer.
struct Seat {
    Guid guid = 0;
    std::uint8_t number = 0; // 0: there is none
    std::string description, label;
    std::uint16_t lid = 0;
    using Key = std::pair<Guid, std::uint8_t>;
    Key key() const { return {guid, number}; }
    // "leaf01:1/3/1"
    bool described_as_switch() const {
        return !label.empty() && !label.starts_with("HCA") && description.ends_with(":" + label);
    }
};

std::uint64_t number(std::string_view text, std::uint64_t most, std::string_view what) {
    Cursor cursor(text);
    const auto value = cursor.number(most, 10, what);
    if (!cursor.at_end()) Cursor(text).fail(what);
    return value;
}

// "900a840300ac8c40_5"
bool take_name(Seat& seat, std::string_view name) {
    const auto bar = name.rfind('_');
    if (bar == std::string_view::npos) return false;
    const auto guid = parse_guid(name.substr(0, bar));
    if (!guid || bar + 1 == name.size()) return false;
    seat.guid = *guid;
    seat.number = static_cast<std::uint8_t>(number(name.substr(bar + 1), 254, "a port number up to 254"));
    return true;
}

Guid need_guid(std::string_view text, std::string_view key) {
    const auto guid = parse_guid(text);
    if (!guid)
        throw Unreadable{fmt::format("{}: '{}' is not a GUID of up to 16 hexadecimal digits", key,
                                     trimmed_printable(text.substr(0, 40)))};
    return *guid;
}

class Document {
public:
    explicit Document(RawFabric& fabric) : fabric_(fabric), nodes_(fabric) {}

    void read(const json::value& top) {
        if (const auto* array = top.if_array()) return read_array(*array, "");
        for (const auto& [key, value] : top.get_object())
            if (const auto* array = value.if_array()) read_array(*array, {key.data(), key.size()});
    }

    // Lists what was read as nodes and links.
    void finish() {
        seats_.insert(seats_.end(), std::make_move_iterator(peers_.begin()),
                      std::make_move_iterator(peers_.end()));
        for (const Seat& seat : seats_)
            numbers_[seat.guid].insert(seat.number);
        for (const Seat& seat : seats_) {
            const auto node = node_of(seat);
            if (seat.lid != 0) nodes_.port(node, seat.number, 0).lid = seat.lid;
        }
        for (const auto& [key, told] : ports_) {
            RawPort& port = nodes_.port(node_at(key), key.second, 0);
            port.state = told.state;
            port.rate = told.rate;
        }
        for (const auto& [from, to] : links_) {
            nodes_.lead(node_at(from), from.second, node_at(to), to.second);
            if (!links_.contains(to)) nodes_.lead(node_at(to), to.second, node_at(from), from.second);
        }
        for (auto& [key, module] : modules_)
            fabric_.modules.push_back({node_at(key), key.second, std::move(module)});
        nodes_.finish();
    }

private:
    struct Told {
        LinkState state = LinkState::unknown;
        Rate rate;
    };

    void read_array(const json::array& array, std::string_view name) {
        for (std::size_t i = 0; i < array.size(); ++i) {
            const auto* object = array[i].if_object();
            try {
                if (object == nullptr) throw Unreadable{"an object is wanted, of a port or a link"};
                if (object->contains("source_guid"))
                    read_link(*object);
                else if (object->contains("number") || object->contains("physical_state"))
                    read_port(*object);
                else
                    throw Unreadable{
                        "neither a port (number, guid) nor a link (source_guid, destination_guid)"};
            } catch (const Unreadable& unreadable) {
                throw Unreadable{fmt::format("{}[{}]: {}", name, i, unreadable.text)};
            }
        }
    }

    void read_port(const json::object& object) {
        Seat seat;
        if (!take_name(seat, text_of(object, "name"))) {
            seat.guid = need_guid(text_of(object, "guid"), "guid");
            seat.number = static_cast<std::uint8_t>(
                number(text_of(object, "number"), 254, "a port number up to 254 (number)"));
        }
        if (seat.number == 0) return; // of the switch itself
        seat.description = trimmed_printable(text_of(object, "node_description"));
        seat.label = text_of(object, "dname");
        seat.lid = lid(object, "lid");
        const auto width = text_of(object, "active_width"), speed = text_of(object, "active_speed");
        Told told;
        const auto state = text_of(object, "logical_state");
        told.state = same_word(state, "active")  ? LinkState::active
                     : same_word(state, "armed") ? LinkState::armed
                     : state.starts_with("Init") ? LinkState::init
                     : same_word(state, "down")  ? LinkState::down
                                                 : LinkState::unknown;
        Seat peer;
        const bool linked = take_name(peer, text_of(object, "peer")) && peer.number != 0;
        if (linked && told.state != LinkState::down) told.rate = rate(width, speed);
        if (!ports_.emplace(seat.key(), told).second)
            throw Unreadable{fmt::format("port {} of {} stands twice", seat.number, format_guid(seat.guid))};
        take_module(object, seat.key());
        if (linked) {
            peer.description = trimmed_printable(text_of(object, "peer_node_description"));
            peer.label = text_of(object, "peer_port_dname");
            peer.lid = lid(object, "peer_lid");
            link(seat, peer);
        }
        seats_.push_back(std::move(seat));
        if (linked) peers_.push_back(std::move(peer));
    }

    static std::uint16_t lid(const json::object& object, std::string_view key) {
        const auto text = text_of(object, key);
        const bool told = text.find_first_of("0123456789") == 0; // not "N/A"
        return told ? static_cast<std::uint16_t>(number(text, 0xFFFF, "a LID up to 65535"))
                    : std::uint16_t{0};
    }

    // "4x" and "HDR"; "IB_4x" and "25.78125".
    static Rate rate(std::string_view width, std::string_view speed) {
        const auto lanes = lanes_of(width);
        return {lanes, lanes * lane_mbps_of(speed)};
    }

    // Names are in "source_port_name" and "destination_port_name" or, before UFM 6.15, in "name" in either
    // order; "source_guid" may be that of a whole system.
    void read_link(const json::object& object) {
        std::array<Seat, 2> ends;
        constexpr std::array<std::string_view, 2> sides{"source", "destination"};
        for (std::size_t i = 0; i < 2; ++i) {
            const auto side = [&](std::string_view what) {
                return text_of(object, fmt::format("{}_{}", sides[i], what));
            };
            Seat& end = ends[i];
            end.guid = need_guid(side("guid"), fmt::format("{}_guid", sides[i]));
            end.number = static_cast<std::uint8_t>(
                number(side("port"), 254, fmt::format("a port number up to 254 ({}_port)", sides[i])));
            end.label = side("port_dname");
            end.description = trimmed_printable(side("port_node_description"));
            take_name(end, side("port_name"));
        }
        const auto name = text_of(object, "name");
        const auto colon = name.find(':');
        if (colon != std::string::npos && !object.contains("source_port_name")) {
            Seat a, b;
            if (take_name(a, std::string_view(name).substr(0, colon)) &&
                take_name(b, std::string_view(name).substr(colon + 1))) {
                const bool straight = a.number == ends[0].number && b.number == ends[1].number;
                const bool crossed = b.number == ends[0].number && a.number == ends[1].number;
                if (crossed && (!straight || b.guid == ends[0].guid || a.guid == ends[1].guid))
                    std::swap(a, b);
                if (straight || crossed) ends[0].guid = a.guid, ends[1].guid = b.guid;
            }
        }
        if (ends[0].number == 0 || ends[1].number == 0) throw Unreadable{"a link of port 0"};
        link(ends[0], ends[1]);
        link(ends[1], ends[0]);
        const auto width = text_of(object, "width");
        for (const Seat& end : ends)
            ports_.emplace(end.key(), Told{LinkState::unknown, rate(width, "")});
        take_module(object, ends[0].key());
        seats_.insert(seats_.end(), ends.begin(), ends.end());
    }

    void link(const Seat& from, const Seat& to) {
        const auto [known, fresh] = links_.emplace(from.key(), to.key());
        if (!fresh && known->second != to.key())
            throw Unreadable{
                fmt::format("port {} of {} is in two links", from.number, format_guid(from.guid))};
    }

    void take_module(const json::object& object, Seat::Key key) {
        const auto* cable = object.if_contains("cable_info");
        if (cable == nullptr || !cable->is_object()) return;
        Module module;
        for (const auto& [what, value] : cable->get_object()) {
            static_cast<void>(value);
            tell_module(module, {what.data(), what.size()},
                        text_of(cable->get_object(), {what.data(), what.size()}));
        }
        if (says_anything(module)) modules_.emplace(key, std::move(module));
    }

    std::size_t node_of(const Seat& seat) {
        const bool is_switch = seat.described_as_switch() || numbers_.at(seat.guid).size() > 1;
        if (!is_switch) return nodes_.hca(seat.guid, seat.description, seat.number, seat.lid, 0);
        if (const auto known = nodes_.find(seat.guid)) return *known;
        auto name = seat.description;
        if (seat.described_as_switch()) name.resize(name.size() - seat.label.size() - 1);
        return nodes_.add(RawNode::Kind::switch_, seat.guid, std::move(name), 0);
    }

    std::size_t node_at(Seat::Key key) const { return *nodes_.find(key.first); }

    RawFabric& fabric_;
    TextNodes nodes_;
    std::vector<Seat> seats_, peers_; // with their own object; named by others
    std::map<Guid, std::set<std::uint8_t>> numbers_;
    std::map<Seat::Key, Told> ports_;
    std::map<Seat::Key, Seat::Key> links_;
    std::map<Seat::Key, Module> modules_;
};

} // namespace

Expected<RawFabric> parse_ufm(std::string_view text, std::string_view name) {
    RawFabric fabric;
    fabric.source = name;
    auto top = base::parse_json(text);
    if (!top) return std::move(top).error().within(name);
    if (!top->is_array() && !top->is_object())
        return Error{Code::input, fmt::format("{}: an array of UFM's ports or links is wanted", name)};
    Document document(fabric);
    try {
        document.read(*top);
        document.finish();
    } catch (const Unreadable& unreadable) {
        return Error{Code::input, fmt::format("{}: {}", name, unreadable.text)};
    }
    if (fabric.nodes.empty())
        return Error{Code::input, fmt::format("{}: holds no port or link of UFM", name)};
    return fabric;
}

} // namespace topo
