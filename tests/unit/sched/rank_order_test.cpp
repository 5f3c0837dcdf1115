#include "sched/ask/rank_order.hpp"

#include "grid.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace sched;
using Hosts = std::vector<std::uint32_t>;

namespace {

// Edges of the ring over these ranks that leave a unit.
std::size_t ring_crossings(const PlacementIndex& index, const Hosts& ranks) {
    std::size_t crossings = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        crossings += index.unit_of[ranks[i]] != index.unit_of[ranks[(i + 1) % ranks.size()]] ? 1 : 0;
    return crossings;
}

} // namespace

TEST_CASE("rank order: a ring goes by pod, unit and host; a tree puts the fullest units first") {
    const PlacementIndex index(sched_test::grid(2, 2, 4)); // units 0-3 | 4-7 in the first pod, 8-11 | 12-15
    const Hosts hosts{15, 0, 9, 8, 4, 5, 14, 10, 11};
    CHECK(order_ranks(index, hosts, {}, 0, RankOrder::ring).ranks == Hosts{0, 4, 5, 8, 9, 10, 11, 14, 15});
    CHECK(order_ranks(index, hosts, {}, 0, RankOrder::tree).ranks == Hosts{8, 9, 10, 11, 14, 15, 4, 5, 0});
    CHECK(order_ranks(index, hosts, {}, 0, RankOrder::none).ranks == Hosts{0, 4, 5, 8, 9, 10, 11, 14, 15});
}

TEST_CASE("rank order: spares are what segments leave, then the last of the fullest unit") {
    const PlacementIndex index(sched_test::grid(1, 3, 4));
    const auto segmented = order_ranks(index, {0, 1, 2, 4, 5, 6, 7, 8, 9}, {2}, 3, RankOrder::ring);
    CHECK(segmented.ranks == Hosts{0, 1, 4, 5, 8, 9});
    CHECK(segmented.spares == Hosts{2, 6, 7});
    const auto plain = order_ranks(index, {0, 1, 2, 4, 5, 6, 7, 8}, {}, 2, RankOrder::ring);
    CHECK(plain.ranks ==
          Hosts{0, 1, 2, 4, 5, 8}); // 7 of the unit of four, then 6 of the last of the units of three
    CHECK(plain.spares == Hosts{6, 7});
}

TEST_CASE("rank order: hosts that cannot keep segments whole are ordered without") {
    const PlacementIndex index(sched_test::grid(1, 2, 4));
    const auto torn = order_ranks(index, {0, 1, 2, 4}, {2}, 1, RankOrder::ring);
    CHECK(torn.ranks == Hosts{0, 1, 4});
    CHECK(torn.spares == Hosts{2});
    const auto all = order_ranks(index, {3, 1}, {}, 9, RankOrder::ring);
    CHECK(all.ranks.size() == 1);
    CHECK(all.spares.size() == 1);
    CHECK(order_ranks(index, {}, {2}, 1, RankOrder::tree).ranks.empty());
}

TEST_CASE("rank order: segments stay whole in NVLink domains beside the spares") {
    auto fabric = sched_test::grid(1, 1, 8); // four hosts of each NVLink domain
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        fabric.hosts[h].domain_index = static_cast<int>(h / 4);
        if (h % 4 == 0) fabric.domains.push_back({"nvl" + std::to_string(h / 4 + 1), {}});
        fabric.domains.back().hosts.push_back(h);
    }
    const PlacementIndex index(fabric);
    const auto pairs = order_ranks(index, {0, 1, 2, 4, 5}, {2}, 1, RankOrder::ring);
    CHECK(pairs.ranks == Hosts{0, 1, 4, 5});
    CHECK(pairs.spares == Hosts{2});
    // Groups of 4 in domains of 4: the torn domain stands by whole.
    const auto fours = order_ranks(index, {0, 1, 2, 4, 5, 6, 7}, {2, 4}, 3, RankOrder::ring);
    CHECK(fours.ranks == Hosts{4, 5, 6, 7});
    CHECK(fours.spares == Hosts{0, 1, 2});
}

TEST_CASE("rank order: every host once, and a ring leaves each unit once") {
    std::mt19937 random(3);
    for (int round = 0; round < 2000; ++round) {
        const auto in_unit = static_cast<int>(1 + random() % 6), in_pod = static_cast<int>(1 + random() % 3),
                   pods = static_cast<int>(1 + random() % 3);
        const PlacementIndex index(sched_test::grid(pods, in_pod, in_unit));
        Hosts hosts;
        for (std::uint32_t h = 0; h < index.order.size(); ++h)
            if (random() % 3 != 0) hosts.push_back(h);
        std::shuffle(hosts.begin(), hosts.end(), random);
        const auto spares = static_cast<std::uint32_t>(random() % 4);
        const auto order = random() % 2 == 0 ? RankOrder::ring : RankOrder::tree;
        const auto ranked =
            order_ranks(index, hosts, {1 + static_cast<std::uint32_t>(random() % 4)}, spares, order);
        Hosts all = ranked.ranks;
        all.insert(all.end(), ranked.spares.begin(), ranked.spares.end());
        std::sort(all.begin(), all.end());
        std::sort(hosts.begin(), hosts.end());
        REQUIRE(all == hosts);
        if (hosts.empty()) continue;
        REQUIRE(ranked.spares.size() == std::min<std::size_t>(spares, hosts.size() - 1));
        std::set<std::uint32_t> units;
        for (const auto h : ranked.ranks)
            units.insert(index.unit_of[h]);
        REQUIRE(ring_crossings(index, ranked.ranks) == (units.size() == 1 ? 0 : units.size()));
    }
}
