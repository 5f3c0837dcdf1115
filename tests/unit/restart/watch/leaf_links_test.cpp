#include "restart/watch/leaf_links.hpp"

#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace restart;

namespace {

const auto fabric = *topo::synthesise(*topo::parse_synth("units=2 hosts=3 rails=2"));

topo::Guid leaf_of(std::size_t host, std::size_t rail) {
    return fabric.switches[static_cast<std::size_t>(fabric.hosts[host].leaves[rail])].guid;
}

// The two HCAs of host 0 and their leaves; the first HCA is plugged into `port` of its leaf.
topo::RawFabric swept(std::uint8_t first_port) {
    topo::RawFabric raw;
    const LeafLinks links(fabric);
    std::uint16_t lid = 16;
    for (const auto& port : links.ports_of(fabric.hosts[0].name)) {
        auto& leaf = raw.nodes.emplace_back();
        leaf.kind = topo::RawNode::Kind::switch_;
        leaf.guid = port.leaf;
        leaf.seen.emplace_back().lid = ++lid;
    }
    auto& hca = raw.nodes.emplace_back();
    hca.guid = fabric.hosts[0].hcas[0].guid;
    auto& port = hca.seen.emplace_back();
    port.number = 1;
    port.linked = true;
    port.peer = leaf_of(0, 0);
    port.peer_port = first_port;
    return raw;
}

} // namespace

TEST_CASE("leaves and hosts know each other's ports") {
    const LeafLinks links(fabric);
    const auto mine = links.ports_of(fabric.hosts[0].name);
    REQUIRE(mine.size() == 2);
    CHECK(mine[0].leaf == leaf_of(0, 0));
    CHECK(*links.host_at(mine[0]) == fabric.hosts[0].name);
    CHECK(links.ports_of(leaf_of(0, 0)).size() == 3);
    const auto& spine = *std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                      [](const auto& sw) { return sw.tier == 1; });
    CHECK(links.ports_of(spine.guid).empty());
    CHECK(links.ports_of(std::string("nobody")).empty());
    CHECK(links.host_at({spine.guid, 1}) == nullptr);
}

TEST_CASE("a host has the links that no leaf calls down") {
    LeafLinks links(fabric);
    const auto& host = fabric.hosts[4].name;
    const auto mine = links.ports_of(host);
    CHECK(links.take(mine[0], true));
    CHECK_FALSE(links.take(mine[0], true)); // it said so before
    CHECK(links.report({host}, {}).hosts.at(host) == HostLinks{1, 2});
    CHECK(links.take(mine[1], true));
    const auto dark = links.report({host, "nobody"}, {});
    CHECK(dark.changes);
    CHECK_FALSE(dark.complete);
    CHECK(dark.hosts == std::map<std::string, HostLinks>{{host, {0, 2}}});
    CHECK(links.take(mine[1], false));
    CHECK(links.take(mine[0], false));
    // Named with all links up: that is the change.
    CHECK(links.report({host}, {}).hosts.at(host) == HostLinks{2, 2});
    CHECK_FALSE(links.take({12345, 1}, true));
}

TEST_CASE("a sweep tells how leaves are reached, and whose cable was moved") {
    LeafLinks links(fabric);
    const auto mine = links.ports_of(fabric.hosts[0].name);
    const auto as_filed = leaf_addresses(fabric, swept(mine[0].number));
    CHECK(as_filed.lids == std::map<topo::Guid, std::uint16_t>{{mine[0].leaf, 17}, {mine[1].leaf, 18}});
    CHECK(as_filed.moved.empty());

    const auto moved = leaf_addresses(fabric, swept(60));
    CHECK(moved.moved == std::set<std::pair<topo::Guid, std::uint8_t>>{{mine[0].leaf, mine[0].number}});
    links.take(mine[0], true);
    CHECK(links.report({fabric.hosts[0].name}, moved).hosts.at(fabric.hosts[0].name) == HostLinks{2, 2});
    CHECK(LeafAddresses::from_text(moved.to_text()).value() == moved);
}

TEST_CASE("a text of addresses that is cut or wrong is refused") {
    CHECK(LeafAddresses::from_text("")->lids.empty());
    for (const auto* text : {"lid", "lid 0x1", "lid 0x1 x", "lid 0x1 70000", "lid 0xzz 1", "moved 0x1 256",
                             "mover 0x1 2", "lid 0x1 2 3"}) {
        INFO(text);
        CHECK_FALSE(LeafAddresses::from_text(text));
    }
}
