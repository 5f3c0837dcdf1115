// A plan that is narrowed before its programme is filled keeps the best of its choices. A choice that is
// asked for with a limit on units is always narrowed, a small one without is not: their costs are the same.
#include "grid.hpp"
#include "sched/ask/index.hpp"
#include "sched/search/choose.hpp"
#include "sched/search/loads.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <random>

using namespace sched;
using namespace sched_test;

namespace {

unsigned long seed() {
    const char* given = std::getenv("RAIL_TEST_SEED");
    return given ? std::strtoul(given, nullptr, 10) : 20261125;
}

std::vector<Group> all_pods(const PlacementIndex& index, const Loads& loads) {
    std::vector<Group> groups;
    for (std::uint32_t p = 0; p < index.pods.size(); ++p)
        groups.push_back({index.pods[p].first, index.pods[p].size, loads.pod_quanta(p), false});
    return groups;
}

} // namespace

TEST_CASE("a narrowed plan has the same best choice: units, avoidance, broken units and hosts left") {
    CAPTURE(seed());
    std::mt19937_64 random(seed());
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    int compared = 0, impaired = 0, several = 0;
    for (int round = 0; round < 3000; ++round) {
        const auto hosts = static_cast<int>(1 + upto(6)), units = static_cast<int>(1 + upto(4)),
                   pods = static_cast<int>(2 + upto(9));
        const auto fabric = grid(pods, units, hosts, 1);
        const PlacementIndex index(fabric);
        auto snapshot = Snapshot::all_free(fabric);
        const auto busy = upto(4), weak = upto(3) == 0 ? 0 : 1 + upto(8);
        for (std::size_t h = 0; h < snapshot.states.size(); ++h) {
            if (upto(4) < busy) snapshot.states[h] = HostState::busy;
            if (weak != 0 && upto(weak) == 0) snapshot.weaken(h, 0.25F * static_cast<float>(1 + upto(3)));
        }
        Request request;
        request.segment = upto(3) == 0 ? 2 : 1;
        request.nodes = request.segment * (1 + upto(fabric.hosts.size() / request.segment + 1));
        const Loads loads(index, snapshot, request);
        Budget whole(1U << 30), narrowed(1U << 30);
        const auto best = choose(loads, all_pods(index, loads), false, {}, whole);
        if (!best) continue;
        const auto same =
            choose(loads, all_pods(index, loads), false, {best->cost.groups, best->cost.units, 0}, narrowed);
        CAPTURE(round, request.nodes, request.segment);
        REQUIRE(same);
        CHECK(same->cost.groups == best->cost.groups);
        CHECK(same->cost.units == best->cost.units);
        CHECK(same->cost.avoidance == best->cost.avoidance);
        CHECK(same->cost.broken == best->cost.broken);
        CHECK(same->cost.left == best->cost.left);
        ++compared;
        impaired += best->cost.avoidance > 0 ? 1 : 0;
        several += best->cost.groups > 1 ? 1 : 0;
    }
    CHECK(compared > 1000);
    CHECK(impaired > 50);
    CHECK(several > 500);
}
