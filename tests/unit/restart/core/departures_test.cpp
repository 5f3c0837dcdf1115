// Hosts that are rebooted by hand: without a word to the resource manager, but in order.
#include "restart/core/learn/learn.hpp"
#include "restart/core/learn/lemon.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

using namespace restart;

namespace {

const HostState& host(const World& world, const std::string& name) {
    return world.state().hosts.find(name)->second;
}
bool in_use(World& world, const std::string& name) {
    return !world.node(name).down && !world.node(name).drain;
}
std::uint64_t faults_of(const World& world) {
    return failure_rate(world.state(), world.policy).faults;
}
double score(const World& world, const std::string& name) {
    return lemon_score(host(world, name), world.now(), world.policy.lemon_half_life);
}

} // namespace

TEST_CASE("an idle host that is rebooted by hand is kept free of jobs and comes back by itself") {
    World world(8);
    world.round_trip = 1;
    world.submit({"n001", "n002"});
    world.run(10);
    world.shut_down("n005");
    world.run(20);
    INFO(world.story());
    CHECK(world.node("n005").drain);
    CHECK(world.noted("n005 is lost"));
    world.run(40);
    world.switch_on("n005");
    world.run(5);
    CHECK(world.node("n005").drain); // whether it is sound is not known yet
    world.run(25);
    CHECK(in_use(world, "n005"));
    CHECK(world.node("n005").reason.empty());
    CHECK(world.count(ActionKind::resume_host) == 1);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(faults_of(world) == 0);
    CHECK(score(world, "n005") == 0);
    CHECK(!host(world, "n005").departure);
    CHECK(world.state().incidents.empty());
    // The next time it says nothing: it has crashed.
    world.power_off("n005");
    world.run(20);
    CHECK(faults_of(world) == 1);
}

TEST_CASE("over a restart of this daemon at any time") {
    World world(8);
    world.run(10);
    world.shut_down("n005");
    const auto at = GENERATE(0, 2, 20, 65, 75, 80);
    for (int second = 0; second < 120; ++second) {
        if (second == at) world.restart_daemon();
        if (second == 60) world.switch_on("n005");
        world.run(1);
    }
    INFO(world.story());
    CHECK(in_use(world, "n005"));
    CHECK(faults_of(world) == 0);
}

TEST_CASE("all idle hosts at once are no network that failed, and no fault that they share") {
    World world(16);
    world.run(10);
    for (const auto* name : {"n003", "n004", "n005", "n006", "n007"})
        world.shut_down(name);
    world.run(60);
    for (const auto* name : {"n003", "n004", "n005", "n006", "n007"})
        world.switch_on(name);
    world.run(60);
    INFO(world.story());
    CHECK(!world.noted("agents are silent"));
    for (const auto* name : {"n003", "n004", "n005", "n006", "n007"})
        CHECK(in_use(world, name));
    CHECK(faults_of(world) == 0);
    CHECK(failure_rate(world.state(), world.policy).shared == 0);
}

TEST_CASE("a host that said nothing, or that jobs ran on, is one that was lost") {
    World world(8);
    world.submit({"n001", "n002"});
    world.run(10);
    const bool crashed = GENERATE(true, false);
    const std::string name = crashed ? "n005" : "n001";
    crashed ? world.power_off(name) : world.shut_down(name);
    world.run(60);
    world.switch_on(name);
    world.run(120);
    INFO(world.story());
    CHECK(world.node(name).drain);
    CHECK(faults_of(world) == 1);
    CHECK(world.count(ActionKind::requeue_job) == (crashed ? 0 : 1));
    CHECK(world.count(ActionKind::resume_host) == 0);
}

TEST_CASE("what keeps a host out of use that had been shut down") {
    World world(8);
    world.run(10);
    world.shut_down("n005");
    world.run(60);
    SECTION("a fault") {
        world.switch_on("n005");
        world.find("n005", Severity::fatal);
        world.run(120);
        CHECK(world.node("n005").drain);
    }
    SECTION("a person") {
        world.node("n005").reason = "new disk";
        world.drained_by_person.insert("n005");
        world.switch_on("n005");
        world.run(120);
        CHECK(world.node("n005").drain);
        CHECK(world.node("n005").reason == "new disk");
    }
    SECTION("hours: whoever mended it says when it is") {
        world.run(2 * 3600);
        world.switch_on("n005");
        world.run(120);
        CHECK(world.node("n005").drain);
    }
    SECTION("a loss that follows at once") {
        world.switch_on("n005");
        world.run(5);
        world.power_off("n005");
        world.run(120);
        CHECK(world.node("n005").drain);
    }
    SECTION("no answer to the resource manager") {
        world.switch_on("n005");
        world.node("n005").not_responding = true;
        world.run(120);
        CHECK(world.node("n005").drain);
        world.node("n005").not_responding = false;
        world.run(10);
        CHECK(in_use(world, "n005"));
    }
    INFO(world.story());
    CHECK(world.count(ActionKind::resume_host) == (in_use(world, "n005") ? 1 : 0));
}

TEST_CASE("a shutdown that was called off is none") {
    World world(8);
    world.run(10);
    Report last;
    last.host = "n005";
    last.boot_id = "b-n005";
    last.leaving = true;
    world.deliver(last);
    world.run(10);
    CHECK(!host(world, "n005").departure);
    CHECK(world.actions.empty());
    world.power_off("n005");
    world.run(20);
    CHECK(faults_of(world) == 1);
}

TEST_CASE("the resource manager sets a host down that was back before anybody missed it") {
    World world(8);
    world.run(10);
    const bool in_order = GENERATE(true, false);
    if (in_order) world.shut_down("n005");
    world.switch_on("n005");
    auto& node = world.node("n005");
    node.down = node.automatic = true;
    node.state = "DOWN";
    node.reason = "Node unexpectedly rebooted";
    world.run(60);
    INFO(world.story());
    CHECK(in_use(world, "n005") == in_order); // what crashed a person looks at, as ReturnToService says
    CHECK(faults_of(world) == 0);
}
