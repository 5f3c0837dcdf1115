// Jobs that start again go back to the hosts they had. That the choice is exact on small fabrics is
// exact_test.cpp's.
#include "sched/search/keep.hpp"

#include "grid.hpp"
#include "sched/place.hpp"
#include "sched/score.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <tuple>

using namespace sched;
using sched_test::grid;
using Hosts = std::vector<std::uint32_t>;

namespace {

Snapshot fragmented(const topo::Fabric& fabric, std::mt19937_64& random) {
    auto snapshot = Snapshot::all_free(fabric);
    for (const auto& unit : fabric.units) {
        const auto busy = random() % 8;
        for (const auto h : unit.hosts)
            if (random() % 8 < busy) snapshot.states[h] = HostState::busy;
    }
    return snapshot;
}

// The terms above the hosts that are kept.
auto bar(const Score& s) {
    return std::tuple(s.tier, s.pods, s.units, s.misaligned_rails, std::lround(s.avoidance * 1000));
}

} // namespace

TEST_CASE("a lost host is replaced from its unit, the others are kept", "[sched]") {
    const auto fabric = grid(2, 3, 4);
    auto snapshot = Snapshot::all_free(fabric);
    Request request;
    request.nodes = 4;
    // It had two of unit 2 and two of unit 5 when other jobs held the rest, which have left.
    request.had = {4, 5, 16, 17};
    for (const auto h : {0U, 8U, 9U, 12U, 20U})
        snapshot.states[h] = HostState::busy;
    // One whole unit is a smaller part than two: nothing is kept that would cost more units.
    auto placed = place(fabric, snapshot, request);
    REQUIRE(placed);
    CHECK(placed->hosts == Hosts{4, 5, 6, 7});
    CHECK(placed->score.moved == 2);
    // As good as any other in what matters more, and fewer moves: the host that is gone comes from unit 2.
    request.had = {4, 5, 6, 17};
    request.excluded = {17};
    placed = place(fabric, snapshot, request);
    REQUIRE(placed);
    CHECK(placed->hosts == Hosts{4, 5, 6, 7});
    CHECK(placed->score == Score{0, 1, 1, 0, 0, 0, 0, 1});
    CHECK(placed->reasons[2] == "3 of the 4 nodes it had before; new to it is n8");
    CHECK(placed->exact);
    // Without it a whole unit would be spared.
    request.nodes = 2;
    request.had = {16, 17};
    request.excluded = {17};
    placed = place(fabric, snapshot, request);
    REQUIRE(placed);
    CHECK(placed->hosts == Hosts{16, 18});
    CHECK(placed->score.broken_units == 1);
    request.had.clear();
    CHECK(place(fabric, snapshot, request)->score.broken_units == 0);
}

TEST_CASE("health matters more than the hosts it had", "[sched]") {
    const auto fabric = grid(1, 1, 4);
    auto snapshot = Snapshot::all_free(fabric);
    snapshot.health = {1, 0.5F, 1, 1};
    Request request;
    request.nodes = 2;
    request.had = {0, 1};
    const auto placed = place(fabric, snapshot, request);
    REQUIRE(placed);
    CHECK(placed->hosts == Hosts{0, 2});
    CHECK(placed->score.avoidance == 0);
    CHECK(placed->score.moved == 1);
}

TEST_CASE("hosts that are gone, and hosts named twice, count for nothing", "[sched]") {
    const auto fabric = grid(1, 2, 4);
    auto snapshot = Snapshot::all_free(fabric);
    snapshot.states[0] = snapshot.states[1] = HostState::down;
    Request request;
    request.nodes = 2;
    request.had = {1, 0, 1, 0};
    const auto placed = place(fabric, snapshot, request);
    REQUIRE(placed);
    CHECK(placed->hosts == Hosts{2, 3}); // as without
    CHECK(placed->score.moved == 2);
    CHECK(placed->reasons[2] == "0 of the 2 nodes it had before");
    request.had = {99};
    CHECK(place(fabric, snapshot, request).error().code == base::Code::usage);
}

TEST_CASE("however little work is allowed, nothing that matters more gets worse", "[sched]") {
    std::mt19937_64 random(20261124);
    const auto fabric = grid(6, 6, 8);
    const Placer placer(fabric);
    int kept_more = 0;
    for (int round = 0; round < 200; ++round) {
        auto snapshot = fragmented(fabric, random);
        if (round % 3 == 0) {
            snapshot.health.assign(fabric.hosts.size(), 1);
            for (auto& health : snapshot.health)
                if (random() % 5 == 0) health = static_cast<float>(1 + random() % 4) / 4;
        }
        Request request;
        request.nodes = 2 + static_cast<std::uint32_t>(random() % 60);
        if (round % 2 == 0) request.segment = 2;
        request.nodes += request.nodes % 2;
        if (round % 4 == 0) request.spares = 2;
        auto again = request;
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
            if (random() % 4 == 0) again.had.push_back(h);
        for (const auto steps : {0ULL, 3'000ULL, 100'000ULL, 5'000'000ULL}) {
            Budget first(steps), second(steps);
            const auto without = placer.place(snapshot, request, first);
            const auto with = placer.place(snapshot, again, second);
            REQUIRE(without.has_value() == with.has_value());
            if (!with) break;
            INFO("round " << round << ", " << steps << " steps");
            CHECK(bar(with->score) <= bar(without->score));
            CHECK(compare(with->score, score_of(placer.index(), snapshot, again, with->hosts)) == 0);
            kept_more += with->score.moved < moved_hosts(again, without->hosts) ? 1 : 0;
        }
    }
    CHECK(kept_more > 100);
}

TEST_CASE("one lost host of a large gang on a fragmented fabric: all others are kept, proven", "[sched]") {
    std::mt19937_64 random(7);
    const auto fabric = grid(16, 8, 32);
    const Placer placer(fabric);
    int tried = 0;
    for (int round = 0; round < 6; ++round) {
        auto snapshot = fragmented(fabric, random);
        Request request;
        request.nodes = 64U << (round % 3) * 2;
        auto first = placer.place(snapshot, request);
        if (!first) continue;
        // While it ran others left and came.
        for (std::size_t h = 0; h < snapshot.states.size(); ++h)
            if (random() % 10 == 0) snapshot.states[h] = HostState::busy;
        for (const auto h : first->hosts)
            snapshot.states[h] = HostState::free;
        const auto lost = first->hosts[request.nodes / 2];
        snapshot.states[lost] = HostState::down;
        const auto& unit = fabric.units[static_cast<std::size_t>(fabric.hosts[lost].unit)].hosts;
        const auto other = std::find_if(unit.begin(), unit.end(), [&](std::uint32_t h) {
            return std::count(first->hosts.begin(), first->hosts.end(), h) == 0;
        });
        if (other == unit.end()) continue; // the gang had all of it
        snapshot.states[*other] = HostState::free;
        ++tried;
        request.had = first->hosts;
        const auto again = placer.place(snapshot, request);
        REQUIRE(again);
        CHECK(again->exact);
        const auto plain = [&] {
            auto anew = request;
            anew.had.clear();
            return placer.place(snapshot, anew)->score;
        }();
        CHECK(bar(again->score) == bar(plain));
        if (again->score.units == first->score.units)
            CHECK(again->score.moved == 1);
        else
            CHECK(again->score.units < first->score.units);
    }
    CHECK(tried >= 3);
}
