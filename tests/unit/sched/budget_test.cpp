// The budget of work: no request spends more, what fits is placed whatever is left of it, and what was left
// out is said.
#include "cases.hpp"
#include "dear.hpp"
#include "dense_oracle.hpp"
#include "grid.hpp"
#include "oracle.hpp"
#include "sched/advise/attempts.hpp"
#include "sched/search/cover.hpp"
#include "sched/search/fit.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

using namespace sched;
using namespace sched_test;

namespace {

unsigned long seed() {
    const char* given = std::getenv("RAIL_TEST_SEED");
    return given ? std::strtoul(given, nullptr, 10) : 20260302;
}

// What a placement breaks of its request; empty: nothing.
std::string fault_of(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request,
                     const Placement& placement) {
    const auto& hosts = placement.hosts;
    if (hosts.size() < request.nodes || hosts.size() > std::max(request.nodes, request.most)) return "size";
    const std::set<std::uint32_t> set(hosts.begin(), hosts.end());
    if (set.size() != hosts.size()) return "a host twice";
    for (const auto h : request.required)
        if (set.count(h) == 0) return "a required host is missing";
    std::map<int, std::uint32_t> ranks;
    std::set<int> pods;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto unit = fabric.hosts[hosts[i]].unit;
        if (i + placement.spares < hosts.size()) ++ranks[unit];
        pods.insert(fabric.units[static_cast<std::size_t>(unit)].pod);
        const auto state = snapshot.states[hosts[i]];
        if (state != HostState::free && !(request.shared && state == HostState::mixed))
            return "a host that is not free";
    }
    for (const auto& [unit, count] : ranks)
        if (count % std::max(request.segment, 1U) != 0) return "a segment is split";
    if (request.span == Span::pod && pods.size() > 1) return "the span is not kept";
    const bool said =
        std::any_of(placement.reasons.begin(), placement.reasons.end(),
                    [](const std::string& reason) { return reason.find("budget") != std::string::npos; });
    if (placement.exact == said) return "what was left out is not said";
    if (request.shared && request.spare_floor > 0) {
        const auto is_free = [&](std::uint32_t h) { return snapshot.states[h] == HostState::free; };
        std::int64_t idle = 0, taken = std::count_if(hosts.begin(), hosts.end(), is_free);
        for (std::uint32_t h = 0; h < snapshot.states.size(); ++h)
            idle += is_free(h) && (snapshot.health.empty() || snapshot.health[h] > 0) ? 1 : 0;
        if (taken > std::max<std::int64_t>(idle - request.spare_floor, 0) + request.spares)
            return "hosts that are kept for restarts are taken";
    }
    return {};
}

} // namespace

TEST_CASE("a range of sizes in segments beside a spare is placed at once on 4,096 and on 16,384 idle hosts") {
    for (const int pods : {32, 128}) {
        const auto fabric = grid(pods, 4, 32, 1);
        const Placer placer(fabric);
        const auto snapshot = Snapshot::all_free(fabric);
        Request request;
        request.nodes = 4;
        request.most = static_cast<std::uint32_t>(fabric.hosts.size());
        request.segment = 3;
        request.spares = 1;
        auto budget = placer.budget();
        const auto placement = placer.place(snapshot, request, budget);
        REQUIRE(placement);
        // 10 segments in each unit of 32, and the spare.
        CHECK(placement->hosts.size() == fabric.units.size() * 30 + 1);
        CHECK(fault_of(fabric, snapshot, request, *placement) == "");
        CHECK(budget.spent() < Budget::of(fabric.hosts.size()).left());
        CHECK(budget.cuts() > 0); // its tables would be too large
        CHECK(placement
                  ->exact); // and yet nothing is better: all units are used, and no segment fits what is left
    }
}

TEST_CASE("how many shared hosts fit beside those kept for restarts is known before the search") {
    const auto fabric = grid(32, 4, 32, 1);
    const Placer placer(fabric);
    auto snapshot = Snapshot::all_free(fabric);
    for (std::size_t h = 31; h < snapshot.states.size(); h += 32)
        snapshot.states[h] = HostState::mixed;
    Request request;
    request.nodes = 2;
    request.most = 4096;
    request.segment = 2;
    request.shared = true;
    request.spare_floor = 3967; // of 3,968: one may be taken, and a segment needs one
    auto budget = placer.budget();
    const auto one = placer.place(snapshot, request, budget);
    REQUIRE(one);
    CHECK(one->hosts.size() == 2);
    CHECK(one->exact);
    CHECK(budget.spent() < 1'000'000);

    for (std::size_t h = 0; h < snapshot.states.size(); ++h)
        snapshot.states[h] = h % 32 < 16 ? HostState::free : HostState::mixed;
    request.nodes = 17;
    request.segment = 17; // 16 in use and one that is idle, in 40 units
    request.spare_floor = 2008;
    budget = placer.budget();
    const auto many = placer.place(snapshot, request, budget);
    REQUIRE(many);
    CHECK(many->hosts.size() == 40 * 17);
    CHECK(fault_of(fabric, snapshot, request, *many) == "");
    CHECK(budget.spent() <= placer.budget().left());
}

TEST_CASE("hosts with exchanged cables are few ways to look at, also for a job that starts again") {
    auto fabric = grid(32, 4, 32, 8);
    for (std::size_t h = 0; h < fabric.hosts.size(); h += 5)
        std::swap(fabric.hosts[h].leaves[h / 5 % 4], fabric.hosts[h].leaves[4 + h / 20 % 4]);
    const Placer placer(fabric);
    auto snapshot = Snapshot::all_free(fabric);
    for (std::size_t h = 0; h < snapshot.states.size(); ++h)
        if (h % 9 == 1) snapshot.states[h] = HostState::busy;
    Request request;
    request.nodes = 27; // of 28 or 29 in a unit, of which 5 to 7 have exchanged cables
    request.had = {2049, 2050, 2051, 2052};
    auto budget = placer.budget();
    const auto placement = placer.place(snapshot, request, budget);
    REQUIRE(placement);
    CHECK(placement->score.tier == 0);
    CHECK(placement->score.misaligned_rails > 0);
    CHECK(placement->exact);
    CHECK(budget.spent() < placer.budget().left() / 2);
}

TEST_CASE("segments, many spares and required hosts in different pods are placed, not refused") {
    const auto fabric = grid(8, 4, 32, 8);
    const Placer placer(fabric);
    const auto snapshot = Snapshot::all_free(fabric);
    Request request;
    request.nodes = 168;
    request.segment = 2;
    request.spares = 48;
    request.required = {0, 32, 64, 96, 128, 160, 192, 224};
    auto budget = placer.budget();
    const auto placement = placer.place(snapshot, request, budget);
    REQUIRE(placement);
    CHECK(placement->score.units == 8); // all that are required
    CHECK(placement->score.pods == 2);
    CHECK(fault_of(fabric, snapshot, request, *placement) == "");
    CHECK(budget.spent() < Budget::of(1024).left());
}

namespace {

// Requests that could be dear, `nested`: in groups of groups.
void spend_on(const topo::Fabric& fabric, std::mt19937_64& random, int cases, bool nested) {
    const Placer placer(fabric);
    const auto most = placer.budget().left();
    std::uint64_t dearest = 0;
    for (int i = 0; i < cases; ++i) {
        auto c = dear(random, fabric);
        if (nested) nest(random, c.request);
        auto budget = placer.budget();
        const auto placement = placer.place(c.snapshot, c.request, budget);
        dearest = std::max(dearest, budget.spent());
        INFO("seed " << seed() << ", case " << i << " of " << fabric.hosts.size()
                     << " hosts: " << c.request.nodes << " to " << c.request.most << " nodes, segment "
                     << c.request.segment << ", " << c.request.outer_segments.size() << " outer, spares "
                     << c.request.spares << ", " << c.request.required.size() << " required");
        // The last piece of work is finished: it is small beside the whole.
        REQUIRE(budget.spent() <= most + most / 4);
        if (!placement) CHECK(placement.error().code == base::Code::unfit);
        if (placement) CHECK(fault_of(fabric, c.snapshot, c.request, *placement) == "");
        CHECK(placer.fits(c.snapshot, c.request).has_value() == placement.has_value());
    }
    CHECK(dearest > 0);
}

} // namespace

TEST_CASE("no request spends more than its budget") {
    std::mt19937_64 random(seed());
    for (const auto& [pods, units, hosts, rails] : {std::tuple(32, 4, 32, 2), std::tuple(8, 16, 32, 1),
                                                    std::tuple(64, 4, 4, 1), std::tuple(3, 2, 171, 8)}) {
        auto fabric = grid(pods, units, hosts, rails);
        if (rails > 1) // some lack a rail, some meet elsewhere
            for (std::size_t h = 0; h < fabric.hosts.size(); h += 37)
                fabric.hosts[h].leaves[h % static_cast<std::size_t>(rails)] =
                    rails == 2 ? topo::none : static_cast<int>(h % fabric.switches.size());
        spend_on(fabric, random, 150, false);
    }
}

TEST_CASE("no request spends more than its budget where there are NVLink domains or groups of groups") {
    std::mt19937_64 random(seed());
    for (const auto& [pods, units, hosts, domain] :
         {std::tuple(28, 4, 36, 18), std::tuple(8, 1, 144, 18), std::tuple(4, 2, 144, 8),
          std::tuple(1, 1, 1152, 18), std::tuple(32, 4, 32, 0)}) {
        auto fabric = grid(pods, units, hosts, 1);
        if (domain > 0) add_domains(fabric, domain);
        spend_on(fabric, random, 60, false);
        spend_on(fabric, random, 60, true);
    }
}

TEST_CASE("what fits is placed whatever the budget, and no better than the best") {
    std::mt19937_64 random(seed() + 1);
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    std::size_t cut = 0, whole = 0, tight = 0, proven = 0, shared = 0, fewer = 0;
    for (int i = 0; i < 1500; ++i) {
        const auto hosts = static_cast<int>(1 + upto(5)), units = static_cast<int>(1 + upto(3)),
                   pods = static_cast<int>(1 + upto(4));
        const auto fabric = grid(pods, units, hosts);
        if (fabric.hosts.size() > 14) continue;
        const Placer placer(fabric);
        auto snapshot = Snapshot::all_free(fabric);
        for (auto& state : snapshot.states)
            if (upto(4) == 0) state = HostState::busy;
        if (upto(3) == 0) {
            snapshot.health.assign(fabric.hosts.size(), 1);
            snapshot.health[upto(fabric.hosts.size())] = 0.5F;
        }
        Request request;
        request.segment = upto(4);
        request.spares = upto(4);
        const auto segment = std::max(request.segment, 1U);
        request.nodes = (1 + upto(4)) * segment + request.spares;
        if (upto(3) == 0) request.most = request.nodes + upto(8);
        if (upto(5) == 0) request.span = static_cast<Span>(upto(4));
        for (std::uint32_t h = 0; h < fabric.hosts.size() && request.required.size() < request.nodes; ++h)
            if (upto(8) == 0) request.required.push_back(h);
        if (upto(3) == 0) {
            request.shared = true;
            request.spare_floor = upto(8);
            for (auto& state : snapshot.states)
                if (state == HostState::free && upto(3) == 0) state = HostState::mixed;
        }
        // Of required hosts beside spares, with a floor, only a search tells how many nodes fit.
        const bool sure = !request.shared || request.required.empty() || request.spares == 0 || segment == 1;
        const auto best = Oracle(fabric, snapshot, request.shared).best_of_range(request);
        for (const std::uint64_t steps : {0U, 100U, 3000U}) {
            Budget budget(steps);
            const auto placement = placer.place(snapshot, request, budget);
            INFO("seed " << seed() << ", case " << i << ", budget " << steps << ": " << request.nodes
                         << " to " << request.most << " nodes, segment " << request.segment << ", spares "
                         << request.spares);
            REQUIRE(placement.has_value() == best.has_value());
            if (!placement) continue;
            REQUIRE(fault_of(fabric, snapshot, request, *placement) == "");
            if (!sure && placement->hosts.size() < best->first) {
                REQUIRE_FALSE(placement->exact);
                ++fewer;
                continue;
            }
            REQUIRE(placement->hosts.size() == best->first);
            REQUIRE(terms(placement->score) >= best->second);
            REQUIRE(std::get<0>(terms(placement->score)) == std::get<0>(best->second)); // the tier always
            if (placement->exact) REQUIRE(terms(placement->score) == best->second);
            REQUIRE(placement->fewest.pods <= std::get<1>(best->second));
            if (placement->score.pods == std::get<1>(best->second))
                REQUIRE(placement->fewest.units <= std::get<2>(best->second));
            (budget.cuts() > 0 ? request.shared ? shared : cut : whole) += 1;
            if (budget.cuts() == 0 || request.shared)
                continue; // bounds disregard the hosts kept for restarts
            proven += placement->exact ? 1 : 0;
            tight +=
                placement->fewest == Fewest{std::get<1>(best->second), std::get<2>(best->second)} ? 1 : 0;
        }
    }
    CHECK(whole > 300);
    CHECK(cut > 200);
    CHECK(shared > 100);
    CHECK(fewer * 20 < shared);
    CHECK(proven > 100);         // by bounds alone
    CHECK(tight * 10 > cut * 9); // what is said to be proven is worth saying
}

TEST_CASE("pods and units of segments and spares are the fewest") {
    std::mt19937_64 random(seed() + 2);
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    std::size_t compared = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto hosts = static_cast<int>(2 + upto(9)), units = static_cast<int>(1 + upto(4)),
                   pods = static_cast<int>(2 + upto(5));
        const auto fabric = grid(pods, units, hosts, 1);
        const PlacementIndex index(fabric);
        auto snapshot = Snapshot::all_free(fabric);
        const auto size = fabric.units.front().hosts.size();
        for (const auto& unit : fabric.units) {
            auto busy = upto(size + 1);
            for (const auto h : unit.hosts)
                if (busy-- > 0 && busy < size) snapshot.states[h] = HostState::busy;
        }
        Request request;
        request.segment = 2 + upto(3);
        request.spares = 1 + upto(fabric.hosts.size() / 3);
        request.nodes = (1 + upto(fabric.hosts.size() / request.segment)) * request.segment + request.spares;
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
            if (snapshot.states[h] == HostState::free && upto(30) == 0) request.required.push_back(h);
        const Loads loads(index, snapshot, request);
        if (!largest_that_fits(loads, request.nodes, request.nodes)) continue;
        Budget some(1'000'000'000);
        const auto held = cover(loads, 0, static_cast<std::uint32_t>(index.pods.size()), some);
        INFO("seed " << seed() << ", case " << i << ": " << request.nodes << " nodes, segment "
                     << request.segment << ", spares " << request.spares << ", " << request.required.size()
                     << " required");
        REQUIRE(held);
        REQUIRE(some.cuts() == 0);
        const auto held_pods = static_cast<std::uint32_t>(held->pods.size());
        const auto least =
            DenseOracle(fabric, snapshot, request).fewest(request.nodes, held_pods, held->units);
        REQUIRE(least);
        REQUIRE(std::pair(least->pods, least->units) == std::pair(held_pods, held->units));
        ++compared;
    }
    CHECK(compared > 500);
}

TEST_CASE("all attempts of a question share one budget") {
    const auto fabric = grid(32, 4, 32, 1);
    const Placer placer(fabric);
    Ask ask;
    ask.request.nodes = 31;
    ask.request.most = 4096;
    ask.request.segment = 3;
    ask.request.spares = 1;
    ask.free_at.resize(fabric.hosts.size());
    std::mt19937_64 random(seed() + 3);
    for (auto& at : ask.free_at)
        at = static_cast<std::int64_t>(random() % 4000); // one moment each: enough are free at some of them
    Attempts attempts(placer, ask);
    for (int i = 0; i < 8; ++i)
        if (!attempts.next()) break;
    const auto most = placer.budget().left();
    CHECK(attempts.budget().spent() <= most + most / 4);
}
