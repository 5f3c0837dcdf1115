#include "../grid.hpp"
#include "easy.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>
#include <random>

using namespace sched;
using namespace sched::lsf;
using namespace sched_test;
using namespace std::chrono_literals;
using Hosts = std::vector<std::uint32_t>;
using Kind = Verdict::Kind;
using Plan = sched::lsf::Plan; // sched has another

namespace {

const base::Time now = base::time_from_seconds(1'772'367'600); // 2026-03-01 12:20 UTC

struct InUtc { // moments are printed in local time
    InUtc() {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
};

WaitingGang gang(base::JobId job, std::uint32_t nodes, std::optional<base::Duration> limit = {}) {
    WaitingGang gang;
    gang.job = job;
    gang.request.nodes = nodes;
    gang.eligible = now;
    gang.limit = limit;
    return gang;
}

HoldingJob holding(base::JobId job, Hosts hosts, std::optional<base::Duration> left = {}) {
    HoldingJob held;
    held.holder.job = job;
    held.holder.hosts = std::move(hosts);
    if (left) held.holder.ends = now + *left;
    held.since = now - 1h;
    return held;
}

Hosts range(std::uint32_t first, std::uint32_t count) {
    Hosts hosts(count);
    for (auto& h : hosts)
        h = first++;
    return hosts;
}

// A fabric and its queue.
struct Yard {
    explicit Yard(topo::Fabric made) : fabric(std::move(made)), placer(fabric) {
        queue.now = now;
        queue.snapshot = Snapshot::all_free(fabric);
    }
    Plan plan(const Options& options = {}) const {
        auto plan = dispatch(fabric, placer, queue, options);
        REQUIRE(plan);
        REQUIRE(plan->verdicts.size() == queue.waiting.size());
        return *plan;
    }
    std::string why(base::JobId job, const Options& options = {}) const {
        auto text = why_waits(fabric, placer, queue, options, plan(options), job);
        return text ? *text : text.error().text;
    }

    topo::Fabric fabric;
    Placer placer;
    Queue queue;
};

std::vector<Kind> kinds(const Plan& plan) {
    std::vector<Kind> kinds;
    for (const auto& verdict : plan.verdicts)
        kinds.push_back(verdict.kind);
    return kinds;
}

std::vector<base::JobId> started(const Plan& plan) {
    std::vector<base::JobId> jobs;
    for (const auto& start : plan.starts)
        jobs.push_back(start.job);
    return jobs;
}

} // namespace

TEST_CASE("gangs with a place start in LSF's order on hosts of one unit") {
    Yard yard(grid(1, 2, 4));
    yard.queue.waiting = {gang(7, 4), gang(3, 3, 1h)};
    const auto plan = yard.plan();
    REQUIRE(started(plan) == std::vector<base::JobId>{7, 3});
    CHECK(plan.starts[0].placement.score.units == 1);
    CHECK(plan.starts[1].placement.score.units == 1);
    CHECK_FALSE(plan.starts[0].ends);
    CHECK(plan.starts[1].ends == now + 1h);
    CHECK_FALSE(plan.starts[1].backfilled);
    CHECK(plan.reservations.empty());
    CHECK_FALSE(plan.resume);
}

TEST_CASE("a host on which any job holds slots is busy, whatever its state says") {
    Yard yard(grid(1, 1, 4));
    yard.queue.holding = {holding(1, {0}, 1h)};       // LSF's list said ok
    yard.queue.snapshot.states[1] = HostState::mixed; // of a job that nobody names
    yard.queue.waiting = {gang(5, 3, 1h), gang(6, 2, 1h)};
    const auto plan = yard.plan();
    CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::starts});
    CHECK(plan.starts[0].placement.hosts == Hosts{2, 3});
    CHECK(plan.starts[0].backfilled);
    CHECK(plan.reservations[0].at == now + 1h);
}

TEST_CASE("what is behind a reservation starts only where it does not delay it") {
    const InUtc utc;
    Yard yard(grid(1, 2, 4));
    // su1 is busy for an hour, of su2 one host is free; job 10 needs a unit.
    yard.queue.holding = {holding(1, {0, 1, 2, 3}, 1h), holding(2, {4, 5, 6}, 3h)};
    yard.queue.waiting = {gang(10, 4, 5h)};
    yard.queue.waiting[0].hints.span = Span::unit;
    SECTION("it goes beside the reserved hosts, however long it runs") {
        yard.queue.waiting.push_back(gang(11, 1));
        const auto plan = yard.plan();
        CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::starts});
        CHECK(plan.reservations[0].at == now + 1h);
        CHECK(plan.reservations[0].placement.hosts == Hosts{0, 1, 2, 3});
        CHECK(plan.starts[0].placement.hosts == Hosts{7});
    }
    SECTION("on them it must end before") {
        yard.queue.holding = {holding(1, {0, 1}, 1h), holding(2, {4, 5, 6, 7}, 3h)};
        yard.queue.waiting.push_back(gang(11, 1));
        yard.queue.waiting.push_back(gang(12, 1, 61min));
        yard.queue.waiting.push_back(gang(13, 1, 60min));
        yard.queue.waiting.push_back(gang(14, 2, 60min));
        const auto plan = yard.plan();
        CHECK(kinds(plan) ==
              std::vector{Kind::reserved, Kind::would_delay, Kind::would_delay, Kind::starts, Kind::no_room});
        CHECK(yard.why(11) ==
              "fits now, but job 10 before it in the queue starts at 13:20, and would then start "
              "later; with a run limit of at most 1:00 (bsub -W) it need not wait for that");
        CHECK(yard.why(10) ==
              "needs 4 nodes in one unit; the fullest, su1, has 1 free, 3 busy; job 13 ends at 13:20 "
              "and makes it fit; it is the first that waits: no job that starts before it makes it "
              "later");
        CHECK(yard.why(14) ==
              "needs 2 nodes; the fabric has 1 free, 7 busy; job 1 ends at 13:20 and makes it fit "
              "in unit su1; job 10 before it in the queue starts at 13:20");
        CHECK(yard.why(13) == "starts now");
        CHECK(yard.why(99) == "job 99 does not wait in a parking queue");
    }
    SECTION("the reserved gang moves where it can have as good a moment elsewhere") {
        yard.queue.holding = {holding(1, {0, 1, 2}, 1h), holding(2, {4, 5}, 1h)};
        // Its best place spares the unit that the reserved gang could have too.
        yard.queue.waiting.push_back(gang(11, 1));
        const auto plan = yard.plan();
        CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::starts});
        CHECK(plan.starts[0].placement.hosts == Hosts{3});
        CHECK(plan.reservations[0].at == now + 1h);
        CHECK(plan.reservations[0].placement.hosts == Hosts{4, 5, 6, 7});
    }
}

TEST_CASE("jobs without a limit are waited for in the order in which they started, and no new one gets in "
          "the way") {
    const InUtc utc;
    Yard yard(grid(1, 1, 4));
    yard.queue.holding = {holding(3, {0}), holding(2, {1})};
    yard.queue.holding[1].since = now - 2h;
    yard.queue.waiting = {gang(10, 3), gang(11, 1), gang(12, 1), gang(13, 1, 100h)};
    const auto plan = yard.plan();
    // Job 10 waits for job 2 only: hosts 1, 2, 3 are for it; one host has no room for another endless job.
    CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::would_delay, Kind::would_delay, Kind::starts});
    CHECK_FALSE(plan.reservations[0].at);
    CHECK(plan.reservations[0].unlimited == std::vector<base::JobId>{2});
    CHECK(yard.why(11) ==
          "fits now, but job 10 before it in the queue starts when job 2 has ended, which has no run "
          "limit, and would then start later; with a run limit (bsub -W) it need not wait for that");
}

TEST_CASE("a gang that waits for drained hosts keeps nobody waiting, and comes first when they return") {
    Yard yard(grid(1, 1, 4));
    yard.queue.snapshot.states[3] = HostState::drained;
    yard.queue.waiting = {gang(10, 4), gang(11, 5), gang(12, 3)};
    CHECK(kinds(yard.plan()) == std::vector{Kind::hosts_away, Kind::never, Kind::starts});
    yard.queue.snapshot.states[3] = HostState::free;
    CHECK(kinds(yard.plan()) == std::vector{Kind::starts, Kind::never, Kind::reserved});
}

TEST_CASE("a restart may take the hosts kept for restarts, and before a gang with a reservation") {
    Yard yard(grid(1, 1, 4));
    Options options;
    options.spare_floor = 2;
    yard.queue.holding = {holding(1, {0}, 1h)};
    yard.queue.waiting = {gang(10, 2, 10h), gang(11, 1), gang(12, 2)};
    CHECK(kinds(yard.plan(options)) == std::vector{Kind::reserved, Kind::would_delay, Kind::no_room});
    yard.queue.waiting[2].restart = true;
    const auto plan = yard.plan(options);
    CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::would_delay, Kind::starts});
    // The floor is kept free of job 10 until then.
    CHECK_FALSE(plan.reservations[0].at);
    CHECK(plan.reservations[0].unlimited.empty());
}

TEST_CASE("a wish for a span ends, and the reservation is for that moment") {
    Yard yard(grid(1, 2, 2));
    yard.queue.holding = {holding(1, {0}, 5h), holding(2, {2}, 6h)};
    yard.queue.waiting = {gang(10, 2), gang(11, 1, 30min), gang(12, 1, 29min), gang(13, 1, 29min)};
    auto& wish = yard.queue.waiting[0];
    wish.hints.span = Span::unit;
    wish.hints.span_wait = 40min;
    wish.eligible = now - 10min;
    const auto plan = yard.plan();
    CHECK(plan.reservations[0].at == now + 30min);
    CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::starts, Kind::starts, Kind::no_room});
    yard.queue.waiting.resize(1);
    wish.eligible = now - 40min;
    CHECK(kinds(yard.plan()) == std::vector{Kind::starts});
}

TEST_CASE("hosts may be shared where the free slots suffice") {
    Yard yard(grid(1, 1, 3));
    Options options;
    options.share_hosts = true;
    yard.queue.slots = {8, 8, 4};
    yard.queue.holding = {holding(1, {0}, 1h), holding(2, {1}, 2h)};
    yard.queue.holding[0].slots = {5};
    yard.queue.holding[1].slots = {2};
    yard.queue.snapshot.states = {HostState::mixed, HostState::mixed, HostState::free};
    const auto ask = [](base::JobId job, std::uint32_t nodes, std::uint32_t slots) {
        auto asked = gang(job, nodes, 3h);
        asked.slots = slots;
        return asked;
    };
    SECTION("those in use come first") {
        yard.queue.waiting = {ask(10, 1, 3), ask(11, 1, 6), ask(12, 1, 4)};
        const auto plan = yard.plan(options);
        REQUIRE(kinds(plan) == std::vector{Kind::starts, Kind::starts, Kind::starts});
        CHECK(plan.starts[0].placement.hosts == Hosts{0});
        CHECK(plan.starts[1].placement.hosts == Hosts{1});
        CHECK(plan.starts[2].placement.hosts == Hosts{2});
    }
    SECTION("free slots add up over the jobs' ends") {
        yard.queue.waiting = {ask(10, 2, 7)};
        auto plan = yard.plan(options);
        REQUIRE(kinds(plan) == std::vector{Kind::reserved});
        CHECK(plan.reservations[0].at == now + 2h);
        yard.queue.waiting = {ask(10, 2, 5), ask(11, 1, 4)};
        plan = yard.plan(options);
        REQUIRE(kinds(plan) == std::vector{Kind::reserved, Kind::starts});
        CHECK(plan.reservations[0].at == now + 1h);
        CHECK(plan.starts[0].placement.hosts == Hosts{2}); // on host 1 it would delay
    }
    SECTION("a gang without a count of slots wants the whole host") {
        yard.queue.waiting = {ask(10, 2, 0), ask(11, 1, 0)};
        const auto plan = yard.plan(options);
        CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::would_delay});
        CHECK(plan.reservations[0].at == now + 1h);
    }
    SECTION("more slots than a host has never fit") {
        yard.queue.waiting = {ask(10, 1, 9), ask(11, 3, 5)};
        CHECK(kinds(yard.plan(options)) == std::vector{Kind::never, Kind::never});
    }
    SECTION("a host that LSF calls full is full") {
        yard.queue.snapshot.states[0] = HostState::busy;
        yard.queue.waiting = {ask(10, 3, 1)};
        CHECK(yard.plan(options).reservations[0].at == now + 1h);
    }
}

TEST_CASE("bad input has a verdict of its own and does no harm") {
    Yard yard(grid(1, 1, 4));
    yard.queue.holding = {holding(9, {0, 0, 77, 4'000'000'000}, -100h), holding(9, {}, 1h),
                          holding(8, {1}, 1h)};
    yard.queue.holding[1].holder.ends = base::Time::max();
    yard.queue.holding[2].holder.ends = base::Time::min();
    yard.queue.waiting = {gang(5, 0), gang(6, 1), gang(6, 1), gang(9, 1), gang(7, 1)};
    yard.queue.waiting[1].limit = base::Duration::max();
    yard.queue.waiting[4].request.required = {2};
    yard.queue.waiting[4].request.excluded = {2};
    yard.queue.waiting[1].eligible = base::Time::max();
    const auto plan = yard.plan();
    CHECK(kinds(plan) == std::vector{Kind::refused, Kind::starts, Kind::placed, Kind::placed, Kind::refused});
    CHECK(plan.verdicts[0].text == "asks for 0 nodes: ask for at least 1");
    CHECK(plan.verdicts[4].text == "n3 is both required and excluded");
    CHECK(started(plan) == std::vector<base::JobId>{6});
    yard.queue.snapshot.states.pop_back();
    const auto wrong = dispatch(yard.fabric, yard.placer, yard.queue);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == base::Code::usage);
}

TEST_CASE("a run limit of nothing still holds the hosts") {
    Yard yard(grid(1, 1, 1));
    yard.queue.waiting = {gang(1, 1, 0s), gang(2, 1, -5h)};
    CHECK(kinds(yard.plan()) == std::vector{Kind::starts, Kind::reserved});
}

TEST_CASE("a job beyond its limit is taken to need as long again") {
    Yard yard(grid(1, 1, 2));
    yard.queue.holding = {holding(1, {0}, -2h)};
    yard.queue.waiting = {gang(10, 2), gang(11, 1, 3h), gang(12, 1, 2h)};
    const auto plan = yard.plan();
    CHECK(plan.reservations[0].at == now + 2h);
    CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::would_delay, Kind::starts});
}

TEST_CASE("what a pass has no budget for is looked at first in the next") {
    Yard yard(grid(1, 2, 8));
    yard.queue.holding = {holding(1, range(0, 15), 1h)};
    yard.queue.waiting = {gang(1000, 16)};
    for (std::uint32_t i = 0; i < 40; ++i) // each asks for something else, only the last has a place
        yard.queue.waiting.push_back(gang(base::JobId(1001 + i), 2, std::chrono::minutes(i + 1)));
    for (std::uint32_t i = 0; i < 39; ++i)
        yard.queue.waiting[i + 1].request.required = {i % 15, 15};
    for (std::uint32_t i = 0; i < 39; ++i)
        yard.queue.waiting[i + 1].request.excluded = {i % 14 == i % 15 ? 14 : i % 14};
    yard.queue.waiting.back() = gang(1040, 1, 30min);
    Options options;
    options.steps = 1;
    int passes = 0;
    for (; passes < 60; ++passes) {
        const auto plan = yard.plan(options);
        CHECK(plan.verdicts[0].kind == Kind::reserved);
        if (!plan.starts.empty()) break;
        REQUIRE(plan.resume);
        CHECK(plan.resume != yard.queue.resume);
        yard.queue.resume = plan.resume;
    }
    CHECK(passes > 5);
    CHECK(passes < 41);
    yard.queue.resume.reset();
    options.steps = 1'000'000'000;
    const auto plan = yard.plan(options);
    CHECK(started(plan) == std::vector<base::JobId>{1040});
    CHECK_FALSE(plan.resume);
}

TEST_CASE("gangs of one shape that do not fit are judged once") {
    Yard yard(grid(1, 2, 8));
    yard.queue.holding = {holding(1, range(0, 12), 1h)};
    yard.queue.waiting = {gang(1, 16, 1h), gang(2, 8, 1h)};
    const auto two = yard.plan().steps;
    for (std::uint32_t i = 0; i < 5000; ++i)
        yard.queue.waiting.push_back(gang(base::JobId(3 + i), 8, std::chrono::minutes(1 + i)));
    const auto plan = yard.plan();
    CHECK(plan.steps == two);
    CHECK(plan.verdicts.back().kind == Kind::no_room);
}

TEST_CASE("with several reservations none is made later by what is behind it") {
    Yard yard(grid(1, 1, 4));
    yard.queue.holding = {holding(1, {0, 1}, 1h), holding(2, {2}, 2h)};
    yard.queue.waiting = {gang(10, 3, 1h), gang(11, 4, 1h), gang(12, 1, 90min), gang(13, 1, 1h)};
    Options options;
    auto plan = yard.plan(options);
    CHECK(plan.reservations.size() == 1);
    CHECK(plan.reservations[0].at == now + 1h);
    CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::no_room, Kind::would_delay, Kind::starts});
    options.reservations = 2;
    plan = yard.plan(options);
    REQUIRE(plan.reservations.size() == 2);
    CHECK(plan.reservations[1].at == now + 2h);
    CHECK(kinds(plan) == std::vector{Kind::reserved, Kind::reserved, Kind::would_delay, Kind::starts});
}

TEST_CASE("a later reservation may follow an earlier one on its hosts") {
    Yard yard(grid(1, 1, 2));
    yard.queue.holding = {holding(1, {0}, 1h)};
    yard.queue.waiting = {gang(10, 2, 30min), gang(11, 2, 30min), gang(12, 2, 30min), gang(13, 1, 1h)};
    Options options;
    options.reservations = 3;
    const auto plan = yard.plan(options);
    REQUIRE(plan.reservations.size() == 3);
    CHECK(plan.reservations[0].at == now + 60min);
    CHECK(plan.reservations[1].at == now + 90min);
    CHECK(plan.reservations[2].at == now + 120min);
    CHECK(started(plan) == std::vector<base::JobId>{13});
}
