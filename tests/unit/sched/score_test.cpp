// A score worked out from hosts is the one the search arrived at, and the one the oracle counts.
#include "grid.hpp"
#include "oracle.hpp"

#include "sched/score.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace sched;
using sched_test::grid;

TEST_CASE("no hosts score nothing", "[sched]") {
    const auto fabric = grid(1, 2, 4);
    const PlacementIndex index(fabric);
    CHECK(score_of(index, Snapshot::all_free(fabric), {}, {}) == Score{});
}

TEST_CASE("the score of what place chose is the score it returned", "[sched]") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const auto units = static_cast<int>(1 + random() % 3), pods = static_cast<int>(1 + random() % 3);
        auto fabric = grid(pods, units, 4);
        for (auto& host : fabric.hosts)
            if (random() % 12 == 0) host.leaves[random() % 2] = topo::none;
        const Placer placer(fabric);
        auto snapshot = Snapshot::all_free(fabric);
        snapshot.health.assign(fabric.hosts.size(), 1);
        for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
            if (random() % 2 == 0) snapshot.states[h] = HostState::busy;
            if (random() % 6 == 0) snapshot.health[h] = static_cast<float>(random() % 10) / 10;
        }
        Request request;
        request.nodes = 1 + static_cast<std::uint32_t>(random() % 12);
        const auto placement = placer.place(snapshot, request);
        if (!placement) continue;
        auto hosts = placement->hosts;
        std::shuffle(hosts.begin(), hosts.end(), random);
        const auto score = score_of(placer.index(), snapshot, request, hosts);
        CHECK(compare(score, placement->score) == 0);
        CHECK(sched_test::terms(score) == sched_test::Oracle(fabric, snapshot).score(hosts));
    }
}

TEST_CASE("hosts that are not free are scored too", "[sched]") {
    const auto fabric = grid(2, 2, 4);
    const PlacementIndex index(fabric);
    auto snapshot = Snapshot::all_free(fabric);
    snapshot.states[0] = HostState::busy;
    const auto score = score_of(index, snapshot, {}, {0, 1, 8});
    CHECK(score == Score{2, 2, 2, 0, 0, 1, 5});
}

TEST_CASE("scores are compared term by term, the first difference decides", "[sched]") {
    const Score a{1, 1, 3, 0, 0.5, 0, 9}, b{1, 1, 3, 0, 0.5, 1, 0}, c{0, 1, 1, 4, 2, 1, 9};
    CHECK(compare(a, b) < 0);
    CHECK(compare(b, a) > 0);
    CHECK(compare(c, a) < 0);
    CHECK(compare(a, a) == 0);
    auto close = a;
    close.avoidance += 1e-9; // sums of floats
    CHECK(compare(a, close) == 0);
    REQUIRE(terms_of(b).size() == 11);
    CHECK(terms_of(b)[8].key == "broken_units");
    CHECK(terms_of(b)[8].value == 1);
    auto moved = a;
    moved.moved = 1; // matters more than what it breaks
    CHECK(compare(b, moved) < 0);
    CHECK(compare(a, moved) < 0);
    moved.avoidance = 0.4;
    CHECK(compare(moved, a) < 0);
}
