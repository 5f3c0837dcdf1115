// Whose place a gang takes, held to all sets of jobs.
#include "sched/preempt.hpp"

#include "cases.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <random>

using namespace sched;
using sched_test::grid;
using Jobs = std::vector<std::uint32_t>;

namespace {

struct Case {
    topo::Fabric fabric;
    Snapshot snapshot;
    Request request;
    std::vector<Preemptee> jobs;
};

// Jobs of one to four hosts, scattered or side by side; `shared`: some have hosts of others, too.
Case random_case(std::mt19937_64& random, bool shared) {
    const auto upto = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto in_unit = static_cast<int>(2 + upto(3)), units = static_cast<int>(1 + upto(3)),
               pods = static_cast<int>(1 + upto(3));
    Case c{grid(pods, units, in_unit, 2), {}, {}, {}};
    c.snapshot = Snapshot::all_free(c.fabric);
    const auto hosts = static_cast<std::uint32_t>(c.fabric.hosts.size());
    std::vector<std::uint32_t> held;
    for (std::uint32_t h = 0; h < hosts; ++h)
        if (const auto kind = upto(8); kind < 5) {
            c.snapshot.states[h] = HostState::busy;
            held.push_back(h);
        } else if (kind == 5) {
            c.snapshot.states[h] = upto(2) == 0 ? HostState::busy : HostState::down; // of a job that stays
        }
    if (upto(2) == 0) std::shuffle(held.begin(), held.end(), random);
    for (std::size_t at = 0; at < held.size() && c.jobs.size() < 9;) {
        const auto size = std::min<std::size_t>(1 + upto(4), held.size() - at);
        Preemptee job{{held.begin() + static_cast<std::ptrdiff_t>(at),
                       held.begin() + static_cast<std::ptrdiff_t>(at + size)},
                      upto(3) == 0 ? upto(2) : 0,
                      upto(2) == 0 ? upto(100) : 10 * upto(4)};
        at += size;
        if (shared && upto(2) == 0)
            if (const auto other = held[upto(held.size())];
                std::find(job.hosts.begin(), job.hosts.end(), other) == job.hosts.end())
                job.hosts.push_back(other);
        c.jobs.push_back(std::move(job));
    }
    if (upto(4) == 0) {
        c.snapshot.health.assign(hosts, 1);
        c.snapshot.health[upto(hosts)] = 0;
    }
    c.request.nodes = 1 + upto(hosts);
    c.request.span = static_cast<Span>(upto(4));
    return c;
}

Snapshot without(const Case& c, std::uint32_t set) {
    auto snapshot = c.snapshot;
    for (const auto& job : c.jobs)
        for (const auto host : job.hosts) // what is kept for restarts is kept of the idle ones
            snapshot.states[host] = c.request.spare_floor > 0 ? HostState::mixed : HostState::free;
    for (std::uint32_t job = 0; job < c.jobs.size(); ++job)
        for (const auto host : c.jobs[job].hosts)
            if ((set >> job & 1) == 0) snapshot.states[host] = HostState::busy;
    return snapshot;
}

// The least risk of all sets that make room, of those whose highest order is the lowest.
std::optional<std::uint64_t> oracle(const Case& c) {
    std::optional<std::pair<std::uint32_t, std::uint64_t>> best;
    auto request = c.request;
    request.shared = request.spare_floor > 0;
    for (std::uint32_t set = 0; set < 1U << c.jobs.size(); ++set) {
        std::pair<std::uint32_t, std::uint64_t> cost{0, 0};
        for (std::uint32_t job = 0; job < c.jobs.size(); ++job)
            if ((set >> job & 1) != 0) {
                cost.first = std::max(cost.first, c.jobs[job].order);
                cost.second += c.jobs[job].risk;
            }
        if (best && *best <= cost) continue;
        if (Placer(c.fabric).fits(without(c, set), request)) best = cost;
    }
    return best ? std::optional(best->second) : std::nullopt;
}

} // namespace

TEST_CASE("a gang takes the place of the jobs that lose the least work", "[sched]") {
    std::mt19937_64 random(9);
    int refused = 0, free = 0, preempted = 0, exact = 0, inexact = 0;
    for (int i = 0; i < 1500; ++i) {
        auto c = random_case(random, i % 3 == 0);
        if (i % 4 == 1) { // what is no plain covering
            c.request.segment = 1 + static_cast<std::uint32_t>(random() % 3);
            c.request.nodes =
                (c.request.nodes + c.request.segment - 1) / c.request.segment * c.request.segment;
            if (c.jobs.size() > 1 && random() % 2 == 0) c.request.required = {c.jobs[0].hosts[0]};
            if (random() % 3 == 0) c.request.spare_floor = 1;
        }
        CAPTURE(i);
        const Placer placer(c.fabric);
        auto budget = placer.budget();
        const auto found = preempt(placer, c.snapshot, c.request, c.jobs, budget);
        const auto least = oracle(c);
        REQUIRE(found.has_value() == least.has_value());
        if (!found) {
            ++refused;
            continue;
        }
        ++(found->jobs.empty() ? free : preempted);
        ++(found->exact ? exact : inexact);
        std::uint32_t set = 0;
        std::uint64_t risk = 0;
        for (const auto job : found->jobs) {
            set |= 1U << job;
            risk += c.jobs[job].risk;
        }
        CHECK(risk == found->risk);
        if (found->exact)
            CHECK(found->risk == *least);
        else
            CHECK(found->risk >= *least);
        // The hosts are those that have room then, and no other set was asked to go than whose hosts are
        // taken.
        const auto then = without(c, set);
        for (const auto host : found->placement.hosts)
            CHECK(then.states[host] <= HostState::mixed);
        for (const auto job : found->jobs)
            CHECK(std::any_of(c.jobs[job].hosts.begin(), c.jobs[job].hosts.end(), [&](auto host) {
                const auto& taken = found->placement.hosts;
                return std::find(taken.begin(), taken.end(), host) != taken.end();
            }));
    }
    CHECK(refused > 100);
    CHECK(free > 100);
    CHECK(preempted > 400);
    CHECK(inexact == 0); // nine jobs: all sets are tried
    CHECK(exact > 500);
}

TEST_CASE("work at risk counts whole jobs, and the manager's order before it", "[sched]") {
    const auto fabric = grid(1, 2, 4); // n1…n4, n5…n8
    auto snapshot = Snapshot::all_free(fabric);
    for (auto& state : snapshot.states)
        state = HostState::busy;
    // One job has half of each unit; its end makes room for a gang of four, but not within one unit.
    const std::vector<Preemptee> jobs{
        {{0, 1, 4, 5}, 0, 4000}, {{2}, 0, 900}, {{3}, 0, 900}, {{6, 7}, 0, 2500}};
    const Placer placer(fabric);
    Request request;
    request.nodes = 4;
    const auto ask = [&] {
        auto budget = placer.budget();
        auto found = preempt(placer, snapshot, request, jobs, budget);
        REQUIRE(found);
        return *std::move(found);
    };
    CHECK(ask().jobs == Jobs{0});
    request.nodes = 2;
    CHECK(ask().jobs == Jobs{1, 2});
    request.nodes = 4;
    request.span = Span::unit;
    CHECK(ask().jobs == Jobs{0, 1, 2});
    CHECK(ask().risk == 5800);
    CHECK(ask().considered == 4);
}

TEST_CASE("with hundreds of jobs the choice is exact, or says that it is not", "[sched]") {
    const auto fabric = grid(8, 4, 16); // 512 hosts
    auto snapshot = Snapshot::all_free(fabric);
    std::vector<Preemptee> jobs;
    std::mt19937_64 random(5);
    for (std::uint32_t h = 0; h < 512; h += 2) {
        snapshot.states[h] = snapshot.states[h + 1] = HostState::busy;
        jobs.push_back({{h, h + 1}, 0, 1 + random() % 10000});
    }
    const Placer placer(fabric);
    Request request;
    request.nodes = 100;
    auto budget = placer.budget();
    auto found = preempt(placer, snapshot, request, jobs, budget);
    REQUIRE(found);
    CHECK(found->exact);
    auto risks = std::vector<std::uint64_t>();
    for (const auto& job : jobs)
        risks.push_back(job.risk);
    std::sort(risks.begin(), risks.end());
    std::uint64_t least = 0; // of pairs all alike the 50 cheapest
    for (std::size_t i = 0; i < 50; ++i)
        least += risks[i];
    CHECK(found->risk == least);
    // Segments are not additive: none of the chosen can be spared, and that is all that is said.
    request.segment = 4;
    auto more = placer.budget();
    found = preempt(placer, snapshot, request, jobs, more);
    REQUIRE(found);
    CHECK_FALSE(found->exact);
    CHECK(found->risk >= least);
}
