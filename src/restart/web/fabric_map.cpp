#include "restart/web/fabric_map.hpp"

#include "base/json.hpp"
#include "topo/draw/layout.hpp"
#include "topo/names.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace restart {
namespace {

namespace json = boost::json;
using topo::at;
using topo::draw::Box;

// More lines between switches than this are not drawn one by one: the page shows those of one switch.
constexpr std::size_t most_uplinks = 20'000;

json::array box_of(const Box& box) {
    return {box.x, box.y, box.w, box.h};
}

class Map {
public:
    explicit Map(const topo::Fabric& fabric)
        : fabric_(fabric), layout_(topo::draw::lay_out(fabric)), shown_(fabric.switches.size(), topo::none) {}

    std::string text() {
        for (const auto& core : layout_.cores)
            add_switch(core);
        for (const auto& pod : layout_.pods) {
            pods_.push_back(json::object{{"name", fabric_.pods[pod.pod].name}, {"box", box_of(pod.box)}});
            for (const auto& spine : pod.spines)
                add_switch(spine);
            for (const auto& unit : pod.units)
                add_unit(unit, static_cast<int>(pods_.size()) - 1);
        }
        if (layout_.unitless) add_unit(*layout_.unitless, topo::none);
        for (const auto& other : layout_.others)
            add_switch(other);
        for (auto& [host, leaves] : hosts_without_leaves_)
            set_leaves(host, *leaves);
        json::object map{{"v", 1},
                         {"width", layout_.width},
                         {"height", layout_.height},
                         {"pods", std::move(pods_)},
                         {"units", std::move(units_)},
                         {"switches", std::move(switches_)},
                         {"hosts", std::move(hosts_)}};
        add_uplinks(map);
        return base::to_text(std::move(map));
    }

private:
    void add_switch(const topo::draw::SwitchBox& one) {
        const auto& read = fabric_.switches[one.index];
        shown_[one.index] = static_cast<int>(switches_.size());
        switches_.push_back(json::object{{"name", topo::switch_name(fabric_, static_cast<int>(one.index))},
                                         {"label", one.label},
                                         {"tier", read.tier},
                                         {"box", box_of(one.box)}});
    }

    void add_unit(const topo::draw::UnitBox& unit, int pod) {
        const auto number = static_cast<int>(units_.size());
        const bool named = unit.unit != topo::none;
        units_.push_back(json::object{{"name", named ? fabric_.units[at(unit.unit)].name : std::string()},
                                      {"pod", pod},
                                      {"box", box_of(unit.box)},
                                      {"title", box_of(unit.title)}});
        for (const auto& leaf : unit.leaves)
            add_switch(leaf);
        for (const auto& host : unit.hosts)
            add_host(host, number);
    }

    void add_host(const topo::draw::HostBox& host, int unit) {
        const auto& read = fabric_.hosts[host.host];
        hosts_without_leaves_.emplace_back(hosts_.size(), &read.leaves);
        hosts_.push_back(json::object{{"name", read.name}, {"unit", unit}, {"box", box_of(host.box)}});
    }

    // By rail, once all switches have their place in the list.
    void set_leaves(std::size_t host, const std::vector<int>& leaves) {
        json::array by_rail;
        for (const int leaf : leaves)
            by_rail.push_back(leaf == topo::none ? topo::none : shown_[at(leaf)]);
        hosts_[host].as_object()["leaves"] = std::move(by_rail);
    }

    // Links between switches, those of one pair together.
    void add_uplinks(json::object& map) const {
        std::map<std::pair<int, int>, int> pairs;
        for (const auto& link : fabric_.links) {
            if (link.a.switch_ == topo::none || link.b.switch_ == topo::none) continue;
            const auto ends = std::minmax(shown_[at(link.a.switch_)], shown_[at(link.b.switch_)]);
            if (ends.first != topo::none) ++pairs[ends];
        }
        json::array uplinks;
        if (pairs.size() <= most_uplinks)
            for (const auto& [ends, links] : pairs)
                uplinks.push_back(json::array{ends.first, ends.second, links});
        map["uplinks_left_out"] = pairs.size() - uplinks.size();
        map["uplinks"] = std::move(uplinks);
    }

    const topo::Fabric& fabric_;
    const topo::draw::Layout layout_;
    std::vector<int> shown_; // by index of the fabric: in `switches_`
    json::array pods_, units_, switches_, hosts_;
    std::vector<std::pair<std::size_t, const std::vector<int>*>> hosts_without_leaves_;
};

} // namespace

std::string fabric_map(const topo::Fabric& fabric) {
    return Map(fabric).text();
}

} // namespace restart
