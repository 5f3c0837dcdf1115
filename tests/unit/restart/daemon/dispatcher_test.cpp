// From the queue and the state to the dispatcher's input, and back to plans.

#include "restart/daemon/dispatcher.hpp"

#include "restart/core/facts/former_hosts.hpp"
#include "topo/synth/synth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using base::HostState;
using base::JobId;
using restart::QueuePhase;

namespace {

const base::Time now{base::Duration(1'790'000'000'000)};

// Two units of four hosts.
class Yard {
public:
    Yard() {
        auto fabric = topo::synthesise(*topo::parse_synth("pods=1 units=2 hosts=4 rails=2"));
        REQUIRE(fabric);
        placing.emplace(*std::move(fabric));
        queue.read = now;
        for (const auto& host : placing->fabric.hosts) {
            restart::QueueNode node;
            node.name = host.name;
            node.state = HostState::free;
            queue.nodes.push_back(node);
        }
    }
    restart::QueueJob& job(std::uint64_t id, std::uint32_t hosts, bool waits = true) {
        auto& one = queue.jobs.emplace_back();
        one.id = JobId(id);
        one.least = hosts;
        one.phase = waits ? QueuePhase::waiting : QueuePhase::placed;
        one.waits_for = restart::WaitsFor::hosts;
        auto& gang = facts.gangs[one.id];
        gang.may_plan = waits;
        return one;
    }
    std::vector<std::string> plan_of(std::uint64_t id) {
        const auto planned = dispatcher.pass(queue, facts, *placing);
        REQUIRE(planned);
        for (const auto& gang : planned->gangs)
            if (gang.id == JobId(id)) return gang.hosts;
        return {};
    }
    const std::string& name(std::size_t host) const { return placing->fabric.hosts[host].name; }

    std::optional<sched::Placing> placing;
    restart::RmQueue queue;
    restart::DispatchFacts facts;
    restart::Dispatcher dispatcher;
};

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

TEST_CASE("a gang is planned on free hosts of one unit, for its coming start") {
    Yard yard;
    yard.job(1, 4);
    yard.facts.gangs[JobId(1)].epoch = 3;
    const auto planned = yard.dispatcher.pass(yard.queue, yard.facts, *yard.placing);
    REQUIRE(planned);
    REQUIRE(planned->gangs.size() == 1);
    CHECK(planned->gangs.front().epoch == 3);
    CHECK(planned->gangs.front().hosts.size() == 4);
}

TEST_CASE(
    "hosts that the state knows to be unfit, that LSF does not name and that a plan holds are left out") {
    Yard yard;
    yard.facts.unfit.insert(yard.name(0));
    yard.queue.nodes.erase(yard.queue.nodes.begin() + 1);
    yard.job(1, 2);
    yard.facts.gangs[JobId(1)].may_plan = false;
    yard.facts.gangs[JobId(1)].holds = {yard.name(2), yard.name(3)};
    yard.job(2, 4);
    const auto hosts = yard.plan_of(2);
    REQUIRE(hosts.size() == 4);
    for (std::size_t host = 0; host < 4; ++host)
        CHECK_FALSE(has(hosts, yard.name(host)));
}

TEST_CASE("what a job excludes it is not given, and what a fault ended comes first") {
    Yard yard;
    yard.job(1, 5);
    auto& again = yard.job(2, 4);
    again.excluded = {yard.name(1)};
    yard.facts.gangs[JobId(2)].restart = true;
    const auto hosts = yard.plan_of(2);
    REQUIRE(hosts.size() == 4);
    CHECK_FALSE(has(hosts, yard.name(1)));
    CHECK(yard.plan_of(1).empty()); // the others are too few
}

TEST_CASE("nothing is planned that LSF keeps waiting, or that has been refused a moment ago") {
    Yard yard;
    yard.job(1, 2).waits_for = restart::WaitsFor::other; // PSUSP
    yard.job(2, 2);
    yard.facts.gangs[JobId(2)].may_plan = false;
    CHECK(yard.plan_of(1).empty());
    CHECK(yard.plan_of(2).empty());
}

TEST_CASE("hosts in use count until the limits of their jobs") {
    Yard yard;
    auto& running = yard.job(1, 8, false);
    for (std::size_t host = 0; host < 8; ++host)
        running.nodes.push_back(yard.name(host));
    running.ends = now + base::Duration(600'000);
    yard.job(2, 1);
    CHECK(yard.plan_of(2).empty());
}

TEST_CASE("a gang that starts again goes back to the hosts it had, unless its user wants none of that") {
    Yard yard;
    auto& again = yard.job(2, 2);
    yard.facts.gangs[JobId(2)].had = {yard.name(6), yard.name(7)};
    again.excluded = {yard.name(7)};
    auto hosts = yard.plan_of(2);
    REQUIRE(hosts.size() == 2);
    CHECK(has(hosts, yard.name(6)));
    CHECK((has(hosts, yard.name(4)) || has(hosts, yard.name(5))));
    again.hints.keep = false;
    hosts = yard.plan_of(2);
    CHECK_FALSE(has(hosts, yard.name(6)));
}

TEST_CASE(
    "the hosts of a job's last start are those before the one it waits for, and then before the one it has") {
    restart::JobState job;
    job.ran_on = {"n1", "n2"};
    job.ran_epoch = 1;
    job.had = {"n7"};
    job.rm.restarts = 2;
    CHECK(restart::hosts_before(job) == job.ran_on);
    job.rm.restarts = 3; // nobody saw start 2
    CHECK(restart::hosts_before(job).empty());
    job.rm.restarts = 1;
    CHECK(restart::hosts_before(job) == job.had);
    job.crashes.futile = 2; // it may be the hosts
    CHECK(restart::hosts_before(job).empty());
    job.rm.restarts = 2;
    CHECK(restart::hosts_before(job).empty());
    CHECK(restart::hosts_before({}).empty());
}

TEST_CASE("the state's gangs become facts") {
    restart::State state;
    auto& job = state.jobs[JobId(5)];
    job.rm.id = JobId(5);
    job.rm.queue = job.rm.home = "gang";
    job.rm.restarts = 2;
    job.requeued_epoch = 1;
    auto facts = restart::dispatch_facts(state, restart::Policy(), now);
    CHECK(facts.gangs.at(JobId(5)).may_plan);
    CHECK(facts.gangs.at(JobId(5)).restart);
    CHECK(facts.gangs.at(JobId(5)).epoch == 2);
    CHECK(facts.gangs.at(JobId(5)).had.empty());
    job.ran_on = {"n003"};
    job.ran_epoch = 1;
    CHECK(restart::dispatch_facts(state, restart::Policy(), now).gangs.at(JobId(5)).had == job.ran_on);
    job.plan = restart::GangPlan{1, 2, {"n001"}, now, restart::GangStage::released, {}, 0};
    facts = restart::dispatch_facts(state, restart::Policy(), now);
    CHECK_FALSE(facts.gangs.at(JobId(5)).may_plan);
    CHECK(facts.gangs.at(JobId(5)).holds == std::vector<std::string>{"n001"});
    job.plan->stage = restart::GangStage::failed;
    job.plan->next_try = now + base::Duration(1'000);
    CHECK_FALSE(restart::dispatch_facts(state, restart::Policy(), now).gangs.at(JobId(5)).may_plan);
    CHECK(restart::dispatch_facts(state, restart::Policy(), now + base::Duration(1'000))
              .gangs.at(JobId(5))
              .may_plan);
    job.rm.home.clear();
    CHECK(restart::dispatch_facts(state, restart::Policy(), now).gangs.empty()); // a job of another queue
}

TEST_CASE("a gang is placed anew once nothing of its last start can run") {
    using base::Duration;
    restart::State state;
    auto& job = state.jobs[JobId(5)];
    job.rm.id = JobId(5);
    job.rm.uid = 1000;
    job.rm.queue = job.rm.home = "gang";
    job.left = now;
    auto& host = state.hosts["n003"];
    host.last_report = now;
    host.kept[JobId(5)] = {0, 1000, restart::Kept::here, now};
    restart::Policy policy;
    policy.cut_off_after = Duration(20'000);
    const auto may_plan = [&](Duration after) {
        return restart::dispatch_facts(state, policy, now + after).gangs.at(JobId(5)).may_plan;
    };
    // The agent is heard: as long as it says so, half a minute at most.
    CHECK_FALSE(may_plan(Duration(1'000)));
    host.last_report = now + Duration(29'000);
    CHECK_FALSE(may_plan(Duration(29'000)));
    host.last_report = now + Duration(30'000);
    CHECK(may_plan(Duration(30'000)));
    host.kept.clear();
    CHECK(may_plan(Duration(1'000)));
    // It is silent: if it lives, it ends them as of a host that is cut off.
    host.kept[JobId(5)] = {0, 1000, restart::Kept::here, now};
    host.last_report = now;
    host.lost = true;
    CHECK_FALSE(may_plan(Duration(24'000)));
    CHECK(may_plan(Duration(25'000)));
    policy.cut_off_after = {};
    CHECK(may_plan(Duration(4'000)));
    // Another user's job of the same number, as before a new start of LSF's counting.
    policy.cut_off_after = Duration(20'000);
    job.rm.uid = 1001;
    CHECK(may_plan(Duration(4'000)));
}
