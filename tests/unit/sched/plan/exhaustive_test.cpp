// railplan's oracle against the test oracle, which shares no code with it, and against place().
#include "../grid.hpp"
#include "../oracle.hpp"

#include "sched/plan/exhaustive.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace sched;
using sched_test::grid;

namespace {

struct Case {
    topo::Fabric fabric;
    Snapshot snapshot;
    Request request;
};

Case random_case(std::mt19937& random) {
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto in_unit = static_cast<int>(2 + below(2)), units = static_cast<int>(1 + below(3)),
               pods = static_cast<int>(1 + below(2));
    Case c{grid(pods, units, in_unit), {}, {}};
    for (auto& host : c.fabric.hosts)
        if (below(10) == 0) host.leaves[below(2)] = topo::none;
    const auto hosts = c.fabric.hosts.size();
    c.snapshot = Snapshot::all_free(c.fabric);
    c.snapshot.health.assign(hosts, 1);
    for (std::size_t h = 0; h < hosts; ++h) {
        constexpr HostState states[] = {HostState::free, HostState::free, HostState::free, HostState::mixed,
                                        HostState::busy};
        c.snapshot.states[h] = states[below(5)];
        if (below(6) == 0) c.snapshot.health[h] = static_cast<float>(below(5)) / 4;
        if (below(12) == 0)
            c.request.required.push_back(static_cast<std::uint32_t>(h));
        else if (below(12) == 0)
            c.request.excluded.push_back(static_cast<std::uint32_t>(h));
    }
    c.request.nodes = 1 + below(6);
    if (c.request.required.size() > c.request.nodes) c.request.required.resize(c.request.nodes);
    if (below(3) == 0) c.request.most = c.request.nodes + below(4);
    c.request.span = static_cast<Span>(below(4));
    if (below(3) == 0) c.request.segment = 1 + below(3);
    if (below(3) == 0) c.request.spares = below(3);
    c.request.shared = below(2) == 0;
    if (below(4) == 0) c.request.spare_floor = below(4);
    return c;
}

} // namespace

TEST_CASE("every set of hosts is tried as the test oracle tries them, and place agrees", "[sched][plan]") {
    std::mt19937 random(11);
    int fitting = 0;
    for (int round = 0; round < 600; ++round) {
        const auto c = random_case(random);
        INFO("round " << round);
        const Placer placer(c.fabric);
        const auto placement = placer.place(c.snapshot, c.request);
        if (!placement && placement.error().code == base::Code::usage) continue;
        const auto truth = plan::exhaustive(placer.index(), c.snapshot, c.request);
        REQUIRE(truth);
        const auto best = sched_test::Oracle(c.fabric, c.snapshot, c.request.shared).best_of_range(c.request);
        REQUIRE(truth->hosts.empty() == !best);
        REQUIRE(placement.has_value() == best.has_value());
        if (!best) continue;
        ++fitting;
        CHECK(truth->hosts.size() == best->first);
        CHECK(sched_test::terms(truth->score) == best->second);
        CHECK(sched_test::terms(placement->score) == best->second);
        CHECK(truth->best >= 1);
    }
    CHECK(fitting > 150);
}

TEST_CASE("more sets than permitted are refused with their number", "[sched][plan]") {
    const auto fabric = grid(1, 4, 8);
    const PlacementIndex index(fabric);
    Request request;
    request.nodes = 16;
    const auto refused = plan::exhaustive(index, Snapshot::all_free(fabric), request);
    REQUIRE(!refused);
    CHECK(refused.error().code == base::Code::usage);
    CHECK(refused.error().text.find("16 of 32 candidates are 6.01e+08 sets") == 0);
    request.nodes = 2;
    CHECK(plan::exhaustive(index, Snapshot::all_free(fabric), request, 32 * 31 / 2)->sets == 32 * 31 / 2);
    CHECK(!plan::exhaustive(index, Snapshot::all_free(fabric), request, 32 * 31 / 2 - 1));
}

TEST_CASE("a request for nothing but spares is refused", "[sched][plan]") {
    const auto fabric = grid(1, 1, 4);
    Request request;
    request.nodes = request.spares = 2;
    CHECK(!plan::exhaustive(PlacementIndex(fabric), Snapshot::all_free(fabric), request));
}
