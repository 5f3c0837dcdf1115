#include "topo/derive.hpp"

#include "topo/fabric_json.hpp"
#include "topo/synth/synth.hpp"
#include "unit/topo/shuffle.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace {

topo::Fabric make(std::string_view spec) {
    return *topo::synthesise(*topo::parse_synth(spec));
}

topo::Link& host_link(topo::Fabric& fabric, std::string_view host, int rail) {
    const auto h = fabric.find_host(host);
    REQUIRE(h);
    for (auto& link : fabric.links)
        if (link.a.host == static_cast<int>(*h) && link.a.hca == rail) return link;
    FAIL("no such link");
    return fabric.links.front();
}

std::vector<std::vector<std::string>> unit_names(const topo::Fabric& fabric) {
    std::vector<std::vector<std::string>> units;
    for (const auto& unit : fabric.units) {
        units.emplace_back();
        for (const auto h : unit.hosts)
            units.back().push_back(fabric.hosts[h].name);
    }
    return units;
}

} // namespace

TEST_CASE("dead and crossed cables do not tear a host from its unit") {
    auto fabric = make("units=2 hosts=4 rails=4");
    const auto before = unit_names(fabric);
    SECTION("a dead link") {
        auto& link = host_link(fabric, "n002", 1);
        std::erase_if(fabric.links, [&](const topo::Link& l) { return l.a == link.a; });
        topo::derive(fabric);
        CHECK(fabric.hosts[1].leaves[1] == topo::none);
        CHECK(fabric.units[0].leaves[1] != topo::none);
    }
    SECTION("two rails swapped") {
        std::swap(host_link(fabric, "n002", 1).b, host_link(fabric, "n002", 2).b);
        topo::derive(fabric);
        CHECK(fabric.hosts[1].leaves[1] == fabric.units[0].leaves[2]);
    }
    SECTION("a cable in the other unit") {
        std::swap(host_link(fabric, "n002", 1).b, host_link(fabric, "n007", 1).b);
        topo::derive(fabric);
        CHECK(fabric.hosts[1].leaves[1] == fabric.units[1].leaves[1]);
    }
    SECTION("the first host alone has a dead link") {
        auto& link = host_link(fabric, "n001", 0);
        std::erase_if(fabric.links, [&](const topo::Link& l) { return l.a == link.a; });
        topo::derive(fabric);
        CHECK(fabric.units[0].leaves[0] == fabric.hosts[1].leaves[0]);
    }
    CHECK(unit_names(fabric) == before);
}

TEST_CASE("hosts of a unit of two rails that have lost one each are still one unit") {
    auto fabric = make("units=3 hosts=3 rails=2");
    const auto before = unit_names(fabric);
    const auto cut = [&](std::string_view host, int rail) {
        const auto link = host_link(fabric, host, rail);
        std::erase_if(fabric.links, [&](const topo::Link& l) { return l.a == link.a; });
    };
    cut("n004", 1);
    SECTION("the same one") {
        cut("n006", 1);
    }
    SECTION("different ones") {
        cut("n006", 0);
    }
    SECTION("all the same one") {
        cut("n005", 1);
        cut("n006", 1);
    }
    topo::derive(fabric);
    CHECK(unit_names(fabric) == before);
    CHECK(fabric.units[1].leaves[0] != topo::none);
}

TEST_CASE("a host torn between two units is in the one of its neighbours by number") {
    SECTION("half of its rails") {
        auto fabric = make("units=2 hosts=4 rails=4");
        const auto before = unit_names(fabric);
        for (const int rail : {0, 1})
            std::swap(host_link(fabric, "n002", rail).b, host_link(fabric, "n007", rail).b);
        topo::derive(fabric);
        CHECK(unit_names(fabric) == before);
    }
    SECTION("one of two rails, whichever") {
        const int rail = GENERATE(0, 1);
        auto fabric = make("units=4 hosts=8 rails=2");
        const auto before = unit_names(fabric);
        host_link(fabric, "n012", rail).b = {topo::none, topo::none, fabric.units[3].leaves[0], 40};
        topo::derive(fabric);
        CHECK(unit_names(fabric) == before);
    }
    SECTION("its only cable") {
        auto fabric = make("units=4 hosts=8 rails=1 spines=2");
        const auto before = unit_names(fabric);
        host_link(fabric, "n012", 0).b = {topo::none, topo::none, fabric.units[3].leaves[0], 40};
        topo::derive(fabric);
        CHECK(unit_names(fabric) == before);
        const auto spine = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                        [](const auto& s) { return s.tier == 1; });
        host_link(fabric, "n012", 0).b = {topo::none, topo::none,
                                          static_cast<int>(spine - fabric.switches.begin()), 60};
        topo::derive(fabric);
        CHECK(unit_names(fabric) == before);
        CHECK(fabric.tiers == 2);
    }
}

TEST_CASE("a pod whose hosts are off is no further tier") {
    auto fabric = make("pods=3 units=2 hosts=4 rails=4");
    REQUIRE(fabric.tiers == 3);
    std::erase_if(fabric.links, [&](const topo::Link& link) {
        const auto off = [&](const topo::End& end) {
            return end.host != topo::none && fabric.hosts[static_cast<std::size_t>(end.host)].name > "n016";
        };
        return off(link.a) || off(link.b);
    });
    topo::derive(fabric);
    CHECK(fabric.tiers == 3);
    for (const auto& s : fabric.switches)
        CHECK(s.tier == (s.name.starts_with("leaf") ? 0 : s.name.starts_with("spine") ? 1 : 2));
}

TEST_CASE("a host plugged into a core makes no leaf of it") {
    auto fabric = make("pods=3 units=2 hosts=4 rails=4");
    const auto core = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                   [](const auto& s) { return s.tier == 2; });
    host_link(fabric, "n003", 1).b = {topo::none, topo::none,
                                      static_cast<int>(core - fabric.switches.begin()), 60};
    topo::derive(fabric);
    CHECK(fabric.tiers == 3);
    CHECK(fabric.units.size() == 6);
}

TEST_CASE("a crossed uplink joins no pods and moves no spine") {
    auto fabric = make("pods=2 units=2 hosts=4 rails=4");
    std::vector<topo::Link*> uplinks;
    for (auto& link : fabric.links)
        if (link.a.switch_ != topo::none)
            for (const auto* end : {&link.a, &link.b}) {
                const auto& s = fabric.switches[static_cast<std::size_t>(end->switch_)];
                if (s.tier == 0 && (s.name == "leaf-su1-r0" || s.name == "leaf-su4-r3"))
                    uplinks.push_back(&link);
            }
    REQUIRE(uplinks.size() == 8);
    auto spine_end = [&](topo::Link& link) -> topo::End& {
        return fabric.switches[static_cast<std::size_t>(link.a.switch_)].tier == 1 ? link.a : link.b;
    };
    std::swap(spine_end(*uplinks.front()), spine_end(*uplinks.back()));
    topo::derive(fabric);
    CHECK(fabric.pods.size() == 2);
    for (const auto& s : fabric.switches)
        if (s.tier == 1) CHECK(fabric.pods[static_cast<std::size_t>(s.pod)].name == s.name.substr(6, 4));
}

TEST_CASE("storage does not shape the tree") {
    auto fabric = make("units=2 hosts=4 rails=4");
    const auto tiers = fabric.tiers;
    const auto units = unit_names(fabric);
    // A storage leaf on both spines' side with a ninth HCA of every host, and a manager on a spine.
    const auto spine = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                    [](const auto& s) { return s.tier == 1; });
    const auto spine_index = static_cast<int>(spine - fabric.switches.begin());
    topo::Switch leaf;
    leaf.guid = 7;
    leaf.name = "storage-leaf";
    leaf.ports = 64;
    fabric.switches.push_back(leaf);
    const int leaf_index = static_cast<int>(fabric.switches.size()) - 1;
    std::uint8_t port = 1;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        topo::Hca hca;
        hca.guid = 1000 + h;
        hca.device = "mlx5_9";
        hca.role = topo::Role::storage;
        hca.ports.emplace_back();
        fabric.hosts[h].hcas.push_back(hca);
        fabric.links.push_back({{static_cast<int>(h), 4, topo::none, 1},
                                {topo::none, topo::none, leaf_index, port++},
                                4,
                                200000,
                                topo::LinkState::active});
    }
    fabric.links.push_back({{topo::none, topo::none, leaf_index, 60},
                            {topo::none, topo::none, spine_index, 60},
                            4,
                            200000,
                            topo::LinkState::active});
    topo::Host manager;
    manager.name = "ufm01";
    manager.hcas = {fabric.hosts[0].hcas[4]};
    manager.hcas[0].guid = 999;
    fabric.hosts.push_back(manager);
    fabric.links.push_back({{static_cast<int>(fabric.hosts.size()) - 1, 0, topo::none, 1},
                            {topo::none, topo::none, spine_index, 61},
                            4,
                            200000,
                            topo::LinkState::active});
    topo::derive(fabric);
    CHECK(fabric.tiers == tiers);
    CHECK(fabric.rails == 4);
    CHECK(unit_names(fabric) == units);
    CHECK(fabric.hosts.back().unit == topo::none);
    for (const auto& s : fabric.switches)
        if (s.name == "storage-leaf") CHECK(s.tier == 0);
}

TEST_CASE("order does not matter") {
    auto fabric = make("pods=2 units=2 hosts=3 rails=4");
    std::swap(host_link(fabric, "n002", 1).b, host_link(fabric, "n002", 2).b);
    std::swap(host_link(fabric, "n004", 0).b, host_link(fabric, "n010", 0).b);
    topo::derive(fabric);
    const auto text = topo::print_fabric(fabric);
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto other = shuffled(fabric, seed);
        CHECK(topo::print_fabric(other) == text);
        CHECK(unit_names(other) == unit_names(fabric));
        for (std::size_t h = 0; h < other.hosts.size(); ++h)
            CHECK(other.hosts[h].leaves == fabric.hosts[h].leaves);
    }
}

TEST_CASE("islands are what links join, and not through hosts") {
    CHECK(make("units=2 hosts=4 rails=4").islands.size() == 1);
    auto fabric = make("units=2 hosts=4 rails=4 spines=16"); // four spines for each rail
    REQUIRE(fabric.islands.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        REQUIRE(fabric.islands[i].rails.size() == 1);
        CHECK(fabric.islands[i].switches.size() == 6);
        for (const int s : fabric.islands[i].switches)
            CHECK(fabric.switches[static_cast<std::size_t>(s)].island == static_cast<int>(i));
    }
    for (auto& link : fabric.links) // a leaf whose uplinks are down is alone
        if (link.a.switch_ == fabric.units[0].leaves[0] || link.b.switch_ == fabric.units[0].leaves[0])
            link.state = link.a.host == topo::none ? topo::LinkState::down : link.state;
    topo::derive(fabric);
    CHECK(fabric.islands.size() == 5);
}
