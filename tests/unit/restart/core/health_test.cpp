#include "restart/core/health.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using restart::health_of;
using restart::Severity;

TEST_CASE("a sound fabric has no host to avoid") {
    World world(4);
    world.run(5);
    CHECK(health_of(world.state(), world.now()).empty());
}

TEST_CASE("a host is the weaker the more is known against it") {
    World world(8);
    world.run(5);
    world.find("n002", Severity::warn, "ib.symbol_errors");
    world.find("n003", Severity::info, "ib.note");
    world.run(2);
    auto weak = health_of(world.state(), world.now());
    REQUIRE(weak.size() == 1);
    CHECK(weak.at("n002").health == Approx(0.6));
    CHECK(weak.at("n002").why == "gpu3 ib.symbol_errors");
    world.find("n002", Severity::warn, "ib.link_downed");
    world.run(2);
    CHECK(health_of(world.state(), world.now()).at("n002").health == Approx(0.36));

    restart::FabricReport sweep;
    sweep.hosts["n004"] = {6, 8};
    sweep.hosts_seen = 8;
    sweep.complete = true;
    world.tell(restart::FabricSwept{sweep});
    weak = health_of(world.state(), world.now());
    CHECK(weak.at("n004").health == Approx(0.75));
    CHECK(weak.at("n004").why == "2 of 8 links down");

    world.clear("n002");
    world.run(2);
    CHECK_FALSE(health_of(world.state(), world.now()).contains("n002"));
}

TEST_CASE("a host that observing leaves in use is to be avoided most") {
    World world(8);
    world.policy.observe_only = true;
    world.run(5);
    for (const char* rule : {"a", "b", "c"})
        world.find("n002", Severity::fatal, rule);
    world.run(2);
    CHECK(health_of(world.state(), world.now()).at("n002").health == Approx(0.05));
}

TEST_CASE("faults count against a host for 30 days") {
    World world(8);
    world.round_trip = 1;
    const auto job = world.submit({"n001", "n002"});
    world.run(10);
    world.find("n002", Severity::fatal);
    world.run(10);
    INFO(world.story());
    REQUIRE(world.has_job(job));
    REQUIRE(world.state().incidents.empty());
    world.clear("n002");
    world.run(2);
    const auto weak = health_of(world.state(), world.now());
    REQUIRE(weak.size() == 1);
    CHECK(weak.at("n002").health == Approx(0.9));
    CHECK(weak.at("n002").why == "1 fault in 30 days");
    CHECK(health_of(world.state(), world.now() + 31 * 24h).empty());

    restart::HostState host;
    for (std::size_t i = 0; i < 2 * restart::most_faults; ++i)
        restart::remember_fault(host, world.now() + std::chrono::minutes(i));
    CHECK(host.faults.size() == restart::most_faults);
    restart::remember_fault(host, world.now() + 40 * 24h);
    CHECK(host.faults.size() == 1);
}
