#include "restart/web/fabric_map.hpp"

#include "base/json.hpp"
#include "topo/draw/layout.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

namespace {

base::Reader at(const base::Reader& from, std::string_view key) {
    return *from.at(key);
}

std::vector<std::int64_t> numbers(const base::Reader& list) {
    std::vector<std::int64_t> read;
    const auto items = *list.items();
    for (const auto& item : items)
        read.push_back(*item.integer());
    return read;
}

} // namespace

TEST_CASE("the page draws hosts, units and switches where the picture has them") {
    const auto fabric = *topo::synthesise(*topo::parse_synth("pods=2 units=2 hosts=4 rails=2"));
    const auto layout = topo::draw::lay_out(fabric);
    const auto text = restart::fabric_map(fabric);
    const auto document = *base::parse_json(text);
    const base::Reader map(document);
    CHECK(*map.integer("v") == 1);
    CHECK(*map.integer("width") == layout.width);
    const auto hosts = *at(map, "hosts").items(), units = *at(map, "units").items(),
               switches = *at(map, "switches").items();
    REQUIRE(hosts.size() == fabric.hosts.size());
    REQUIRE(units.size() == fabric.units.size());
    REQUIRE(switches.size() == fabric.switches.size());
    CHECK(at(map, "pods").items()->size() == 2);
    const auto& first = layout.pods.at(0).units.at(0).hosts.at(0);
    CHECK(*hosts[0].text("name") == fabric.hosts[first.host].name);
    CHECK(numbers(at(hosts[0], "box")) ==
          std::vector<std::int64_t>{first.box.x, first.box.y, first.box.w, first.box.h});
    CHECK(*units[static_cast<std::size_t>(*hosts[0].integer("unit"))].text("name") == "su1");
    // By rail: the leaves of its unit, by their place in the list of switches.
    const auto leaves = numbers(at(hosts[0], "leaves"));
    REQUIRE(leaves.size() == 2);
    for (std::size_t rail = 0; rail < leaves.size(); ++rail) {
        const auto& leaf = switches[static_cast<std::size_t>(leaves[rail])];
        const auto real = fabric.hosts[first.host].leaves[rail];
        CHECK(*leaf.text("name") == fabric.switches[static_cast<std::size_t>(real)].name);
        CHECK(*leaf.integer("tier") == 0);
    }
    CHECK(*map.integer("uplinks_left_out") == 0);
    const auto uplinks = *at(map, "uplinks").items();
    CHECK_FALSE(uplinks.empty());
    for (const auto& uplink : uplinks) {
        const auto ends = numbers(uplink);
        REQUIRE(ends.size() == 3);
        CHECK(ends[0] < ends[1]);
        CHECK(static_cast<std::size_t>(ends[1]) < switches.size());
        CHECK(ends[2] >= 1);
    }
}

TEST_CASE("lines between very many switches are counted and not listed") {
    const auto fabric = *topo::synthesise(*topo::parse_synth("pods=16 units=32 hosts=4 rails=8"));
    const auto document = *base::parse_json(restart::fabric_map(fabric));
    const base::Reader map(document);
    CHECK(at(map, "uplinks").items()->empty());
    CHECK(*map.integer("uplinks_left_out") > 20'000);
}

TEST_CASE("a fabric of nothing is a map of nothing") {
    const auto document = *base::parse_json(restart::fabric_map(topo::Fabric()));
    CHECK(at(base::Reader(document), "hosts").items()->empty());
}
