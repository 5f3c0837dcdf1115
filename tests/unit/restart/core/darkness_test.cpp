// Links of hosts going down, as the fabric tells within milliseconds, and what heartbeats then say.
#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;

namespace {

restart::FabricSwept told(const std::vector<std::string>& hosts, std::uint32_t up) {
    restart::FabricReport report;
    report.changes = true;
    for (const auto& host : hosts)
        report.hosts[host] = {up, 8};
    return {report};
}

restart::FabricSwept sweep(double age_s, const std::vector<std::string>& dark = {}) {
    restart::FabricReport report;
    report.complete = true;
    report.age_s = age_s;
    for (const auto& host : dark)
        report.hosts[host] = {0, 8};
    return {report};
}

// The resource manager does not notice.
constexpr double never = 1e6;

} // namespace

TEST_CASE("a host that went dark is lost at its first missed heartbeat") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.power_off("n002", never);
    world.send(told({"n002"}, 0));
    world.run(1.5);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
    CHECK(world.noted("second witness: all 8 links are down in the fabric"));
    world.run(5);
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("darkness takes the time of a heartbeat, not less") {
    World world(8);
    world.run(5);
    world.power_off("n002", never);
    world.send(told({"n002"}, 0));
    world.run(0.5);
    CHECK(world.actions.empty());
}

TEST_CASE("a dark host whose agent reports is not lost") {
    World world(8);
    world.run(5);
    world.send(told({"n002"}, 0));
    world.run(3);
    // A heartbeat has come since then, so one that is late is not what the dark links are evidence of.
    world.stop_agent("n002");
    world.run(2);
    INFO(world.story());
    CHECK(world.actions.empty());
}

TEST_CASE("links that come back in time are nothing") {
    World world(8);
    world.run(5);
    world.stop_agent("n002"); // dies with the flap: one alone is as before a matter of two witnesses
    world.send(told({"n002"}, 0));
    world.run(0.75);
    world.send(told({"n002"}, 8));
    world.run(20);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.state().hosts.at("n002").links == restart::HostLinks{});
}

TEST_CASE("one link that is up is no darkness") {
    World world(8);
    world.run(5);
    world.power_off("n002", never);
    world.send(told({"n002"}, 1));
    world.run(20);
    CHECK(world.actions.empty());
}

TEST_CASE("hosts that go dark together must be silent as long as any") {
    World world(16);
    world.policy.max_drained_percent = 100;
    world.run(5);
    for (const auto* host : {"n001", "n002", "n003"})
        world.power_off(host, never);
    world.send(told({"n001", "n002", "n003"}, 0));
    world.run(2);
    INFO(world.story());
    CHECK(world.actions.empty());

    SECTION("leaves that restart come back") {
        world.send(told({"n001", "n002", "n003"}, 8));
        for (const auto* host : {"n001", "n002", "n003"})
            world.start_agent(host);
        world.run(10);
        CHECK(world.actions.empty());
    }
    SECTION("a rack without power does not") {
        world.run(2);
        CHECK(world.count(ActionKind::down_host) == 3);
    }
}

TEST_CASE("a sweep knows nothing of what changed while it read") {
    World world(8);
    world.run(5);
    world.send(told({"n002"}, 0));
    SECTION("it began before") {
        world.send(sweep(0.5));
        CHECK(world.state().hosts.at("n002").dark_since);
    }
    SECTION("it began later") {
        world.run(1);
        world.send(sweep(0.5));
        CHECK_FALSE(world.state().hosts.at("n002").dark_since);
    }
    SECTION("links that came back stay back") {
        world.send(told({"n002"}, 8));
        world.send(sweep(0.5, {"n002"}));
        CHECK_FALSE(world.state().hosts.at("n002").dark_since);
    }
}

TEST_CASE("changes are no sweep, and of hosts that nobody knows nothing is kept") {
    World world(4);
    world.run(5);
    world.send(told({"n900"}, 0));
    CHECK_FALSE(world.state().swept);
    CHECK_FALSE(world.state().hosts.contains("n900"));
}
