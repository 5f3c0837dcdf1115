// Rails of whole units, or of all, on each other's leaves.
#include "topo/names.hpp"
#include "unit/topo/fabrics.hpp"

#include <fmt/format.h>

namespace {

// Moves every cable of these units' hosts to the leaf of the rail `by` further.
void rotate(topo::Fabric& fabric, const std::vector<int>& units, int by) {
    const auto sound = fabric;
    for (auto& link : fabric.links)
        for (auto [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (here->host == topo::none) continue;
            const auto& host = sound.hosts[topo::at(here->host)];
            if (std::find(units.begin(), units.end(), host.unit) == units.end()) continue;
            const auto& leaves = sound.units[topo::at(host.unit)].leaves;
            const int rail = host.hcas[topo::at(here->hca)].rail;
            there->switch_ = leaves[static_cast<std::size_t>(rail + by) % leaves.size()];
        }
    topo::derive(fabric);
}

} // namespace

TEST_CASE("rails that are rotated in every host are one finding") {
    auto fabric = made("units=4 hosts=8 rails=8");
    rotate(fabric, {0, 1, 2, 3}, 3);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "rails.order");
    CHECK(finding.severity == topo::Severity::warning);
    CHECK(finding.evidence ==
          "by the numbers of leaves the rails of all units are rotated by 3: each rail is on "
          "the leaf of the rail 3 further");
    CHECK(finding.ends.front() == "su1");
}

TEST_CASE("rails of one unit in another order than the others' are one finding") {
    auto fabric = made("units=4 hosts=8 rails=4");
    SECTION("rotated") {
        rotate(fabric, {2}, 1);
        const auto finding = only_finding(fabric);
        CHECK(finding.code == "rails.order");
        CHECK(finding.ends == std::vector<std::string>{"su3", "leaf-su3-r[0-3]"});
        CHECK(finding.evidence ==
              "by the numbers of leaves the rails of all hosts of 1 unit (n[017-024]) are rotated by 1: each "
              "rail is on the leaf of the rail 1 further, those of other units in the order of leaves");
    }
    SECTION("two exchanged") {
        const auto leaf = [&](int rail) { return fabric.units[1].leaves[topo::at(rail)]; };
        const int one = leaf(1), other = leaf(2);
        for (auto& link : fabric.links)
            for (auto [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)})
                if (here->host != topo::none && (there->switch_ == one || there->switch_ == other))
                    there->switch_ = there->switch_ == one ? other : one;
        topo::derive(fabric);
        CHECK(only_finding(fabric).code == "rails.order");
        CHECK_THAT(only_finding(fabric).evidence, Catch::Contains("exchanged: 1, 2, those of other"));
    }
    SECTION("one host of it cabled as the others: that is one more") {
        rotate(fabric, {0}, 2);
        for (auto& link : fabric.links)
            for (auto [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)})
                if (here->host == 3) {
                    const int rail = fabric.hosts[3].hcas[topo::at(here->hca)].rail;
                    there->switch_ = fabric.units[0].leaves[static_cast<std::size_t>(rail + 2) % 4];
                    there->port = 60;
                }
        topo::derive(fabric);
        const auto found = codes(fabric);
        CHECK(std::count(found.begin(), found.end(), "rails.order") == 1);
        CHECK(std::count(found.begin(), found.end(), "hca.swapped") == 2);
        CHECK(found.size() == 3);
    }
}

TEST_CASE("rails of a unit in the networks of others are an error") {
    auto fabric = made("units=4 hosts=4 rails=4 spines=16");
    for (auto& leaf : fabric.switches)
        if (leaf.tier == 0) leaf.name = fmt::format("{:x}", leaf.guid * 7919 % 1000003); // without an order
    topo::derive(fabric);
    rotate(fabric, {1}, 1);
    bool found = false;
    for (const auto& finding : topo::check(fabric)) {
        if (finding.severity == topo::Severity::info) continue;
        CHECK(finding.code == "rails.order");
        CHECK(finding.severity == topo::Severity::error);
        CHECK_THAT(finding.evidence, Catch::Contains("are in the networks of other rails"));
        CHECK_FALSE(found);
        found = true;
    }
    CHECK(found);
}

TEST_CASE("leaves that are named in no order say nothing of rails") {
    auto fabric = made("units=6 hosts=4 rails=4");
    int next = 0;
    for (auto& leaf : fabric.switches)
        if (leaf.tier == 0) leaf.name = fmt::format("sw{}", (next += 7) % 25);
    topo::derive(fabric);
    CHECK(codes(fabric).empty());
}

TEST_CASE("a unit whose halves contradict each other is one finding that decides nothing") {
    auto fabric = made("units=4 hosts=8 rails=8");
    for (int h = 4; h < 8; ++h) { // half of su1
        const auto leaves = fabric.hosts[topo::at(h)].leaves;
        for (auto& link : fabric.links)
            for (auto [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)})
                if (here->host == h && (here->hca == 2 || here->hca == 5))
                    there->switch_ = leaves[here->hca == 2 ? 5 : 2];
    }
    topo::derive(fabric);
    const auto finding = only_finding(fabric);
    CHECK(finding.code == "unit.cabling");
    CHECK_THAT(finding.evidence, Catch::Contains("cables cannot tell which half is right"));
}
