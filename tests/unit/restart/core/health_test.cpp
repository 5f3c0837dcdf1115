#include "restart/core/detect/health.hpp"
#include "restart/core/learn/lemon.hpp"
#include "restart/core/store/state_json.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace std::chrono_literals;

using restart::Severity;

namespace {

base::HealthMap health_of(const restart::State& state, base::Time now) {
    return restart::health_of(state, now, std::chrono::days(14));
}

} // namespace

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
    world.send(restart::FabricSwept{sweep});
    weak = health_of(world.state(), world.now());
    CHECK(weak.at("n004").health == Approx(0.75));
    CHECK(weak.at("n004").why == "2 of 8 links down");

    world.clear("n002");
    world.run(2);
    CHECK_FALSE(health_of(world.state(), world.now()).contains("n002"));
}

TEST_CASE("a host that misses GPUs is avoided as one to be left, before it is") {
    World world(8);
    world.run(5);
    world.find("n002", Severity::warn, "gpu.missing");
    world.run(2);
    CHECK(health_of(world.state(), world.now()).at("n002").health == Approx(0.2));
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

TEST_CASE("faults count against a host for weeks, the older the less") {
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
    CHECK(weak.at("n002").why == "lemon score 1.0: it has failed before");
    const auto later = [&](int days) {
        return health_of(world.state(), world.now() + std::chrono::days(days));
    };
    CHECK(later(14).at("n002").health == Approx(std::pow(0.9, 0.5)));
    CHECK(later(14).at("n002").why == "lemon score 0.5: it has failed before");
    CHECK(later(71).empty());
    CHECK(later(-3).at("n002").health == Approx(0.9)); // the clock was set back
}

TEST_CASE("a lemon is who fails again; who fails with many others is none") {
    restart::HostState host;
    const base::Time now{std::chrono::days(20'000)};
    const auto week = std::chrono::days(7);
    CHECK(restart::lemon_score(host, now, week) == 0);
    for (int i = 0; i < 3; ++i)
        restart::remember_fault(host, now + i * week, "gpu0 gone", week);
    CHECK(restart::lemon_score(host, now + 2 * week, week) == Approx(1.75));
    CHECK(restart::lemon_score(host, now + 3 * week, week) == Approx(0.875));
    for (std::size_t i = 0; i < 2 * restart::most_faults; ++i)
        restart::remember_fault(host, now + 3 * week, "gpu0 gone", week);
    CHECK(host.faults.size() == restart::most_faults);
    restart::remember_fault(host, now + 9 * week, "gpu1 gone", week);
    REQUIRE(host.faults.size() == 1);
    CHECK(host.faults[0].what == "gpu1 gone");

    World world(16);
    world.policy.max_drained_percent = 100;
    world.run(10);
    for (int i = 1; i <= 8; ++i)
        world.find("n00" + std::to_string(i), Severity::evict, "ib.link_down");
    world.run(30);
    for (const auto& [name, state] : world.state().hosts) {
        INFO(name);
        CHECK(state.faults.empty());
    }
}

TEST_CASE("faults of a journal from before are taken up") {
    World world(2);
    world.run(2);
    auto text = to_json(world.state());
    const std::string place = "\"n001\":{";
    const auto at = text.find(place);
    REQUIRE(at != std::string::npos);
    text.insert(at + place.size(), "\"faults\":[1700000000,1700086400],");
    const auto state = restart::state_from_json(text);
    REQUIRE(state);
    REQUIRE(state->hosts.at("n001").faults.size() == 2);
    CHECK(state->hosts.at("n001").faults[1].at == base::time_from_seconds(1700086400));
    const auto again = restart::state_from_json(to_json(*state));
    REQUIRE(again);
    CHECK(again->hosts.at("n001").faults.size() == 2);
}
