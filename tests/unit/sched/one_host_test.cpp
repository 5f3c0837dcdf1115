// Jobs of one host: the direct way chooses what place() chooses.
#include "sched/one_host.hpp"

#include "cases.hpp"
#include "sched/place.hpp"
#include "sched/score.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <tuple>

using namespace sched;
using sched_test::grid;

namespace {

// The terms above the preference for hosts in use.
auto bar(const Score& s) {
    return std::tuple(s.misaligned_rails, std::lround(s.avoidance * 1000), s.moved);
}

// By place() alone: among the hosts in use where one is as good in what matters more, else among all.
std::optional<std::uint32_t> by_place(const topo::Fabric& fabric, const Snapshot& snapshot,
                                      const Request& request) {
    const auto all = place(fabric, snapshot, request);
    if (!all) return {};
    auto used = request;
    for (std::uint32_t h = 0; h < snapshot.states.size(); ++h)
        if (snapshot.states[h] == HostState::free) used.excluded.push_back(h);
    const auto in_use = place(fabric, snapshot, used);
    return in_use && bar(in_use->score) == bar(all->score) ? in_use->hosts[0] : all->hosts[0];
}

} // namespace

TEST_CASE("the direct way to one host chooses what place() does", "[sched]") {
    std::mt19937_64 random(14);
    int none = 0, in_use = 0, lacking = 0;
    for (int i = 0; i < 4000; ++i) {
        auto c = sched_test::random_case(random, i % 2 == 1, false);
        if (i % 5 < 2) c = sched_test::with_domains(random, std::move(c));
        Request request;
        if (random() % 2 == 0) {
            request.shared = true;
            for (auto& state : c.snapshot.states)
                if (state == HostState::free && random() % 3 == 0) state = HostState::mixed;
        }
        for (std::uint32_t h = 0; h < c.snapshot.states.size() && i % 3 == 0; ++h)
            if (random() % 3 == 0) request.had.push_back(h);
        const auto expected = by_place(c.fabric, c.snapshot, request);
        const PlacementIndex index(c.fabric);
        const auto found = best_host(index, c.snapshot, request);
        CAPTURE(i);
        REQUIRE(found.has_value() == expected.has_value());
        if (!found) {
            ++none;
            continue;
        }
        // Where cables are crossed or there are domains place() may take another one that is as good.
        if (index.regular && index.domains.empty()) CHECK(found->host == *expected);
        CHECK(c.snapshot.states[found->host] == c.snapshot.states[*expected]);
        CHECK(score_of(index, c.snapshot, request, {found->host}) ==
              score_of(index, c.snapshot, request, {*expected}));
        CHECK(found->idle == (c.snapshot.states[found->host] == HostState::free));
        in_use += found->idle ? 0 : 1;
        lacking += place(c.fabric, c.snapshot, request)->score.misaligned_rails > 0 ? 1 : 0;
    }
    CHECK(none > 50); // each kind was there
    CHECK(in_use > 200);
    CHECK(lacking > 15);
}

TEST_CASE("one host is taken from the fullest unit, and never from a whole one without need", "[sched]") {
    const auto fabric = grid(1, 3, 4);
    auto snapshot = Snapshot::all_free(fabric);
    snapshot.states[1] = HostState::busy;
    snapshot.states[8] = snapshot.states[9] = HostState::busy;
    const PlacementIndex index(fabric);
    Request request;
    auto found = best_host(index, snapshot, request);
    REQUIRE(found);
    CHECK(found->host == 10);
    CHECK(found->left == 1);
    CHECK_FALSE(found->breaks);
    // A host in use with room spares the idle one, but only for those who may share it.
    snapshot.states[1] = HostState::mixed;
    CHECK(best_host(index, snapshot, request)->host == 10);
    request.shared = true;
    CHECK(best_host(index, snapshot, request)->host == 1);
    // Health matters more.
    snapshot.health.assign(12, 1);
    snapshot.health[1] = 0.5F;
    CHECK(best_host(index, snapshot, request)->host == 10);
    for (auto& state : snapshot.states)
        state = HostState::busy;
    CHECK_FALSE(best_host(index, snapshot, request));
}
