#include "restart/core/learn/learn.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace restart;
using namespace std::chrono_literals;

namespace {

std::uint64_t faults_of(const World& world) {
    return failure_rate(world.state(), world.policy).faults;
}
std::uint64_t shared_of(const World& world) {
    return failure_rate(world.state(), world.policy).shared;
}
double host_seconds(const World& world) {
    return failure_rate(world.state(), world.policy).host_hours * 3600;
}

} // namespace

TEST_CASE("time counts while hosts are in use and heard of") {
    World world(8);
    world.round_trip = 7;
    world.run(125);
    CHECK(host_seconds(world) == Approx(8 * 120).margin(8 * 11));
    SECTION("not of a host that is drained, off or silent") {
        world.person_drains("n001", "fan");
        world.set_away("n002", true);
        world.stop_agent("n003");
        world.run(15);
        const auto before = host_seconds(world);
        world.run(100);
        CHECK(host_seconds(world) - before == Approx(5 * 100).margin(5 * 11));
    }
    SECTION("not while this daemon stands still, nor by a clock that is set") {
        const auto before = host_seconds(world);
        world.sleep(GENERATE(3600.0, -3600.0, 1e8));
        world.run(12);
        CHECK(host_seconds(world) - before <= 8 * 12);
        const auto after = host_seconds(world);
        world.run(100);
        CHECK(host_seconds(world) - after == Approx(8 * 100).margin(8 * 11));
    }
    SECTION("over restarts of this daemon") {
        const auto before = host_seconds(world);
        world.restart_daemon();
        CHECK(host_seconds(world) == before);
        world.run(100);
        CHECK(host_seconds(world) - before == Approx(8 * 100).margin(8 * 11));
    }
    CHECK(faults_of(world) == 0);
}

TEST_CASE("a host that is lost and one with a fault count once each, from either life") {
    World world(8);
    world.round_trip = 1;
    world.submit({"n001", "n002"});
    world.run(10);
    world.find("n001", Severity::fatal);
    world.run(5);
    CHECK(faults_of(world) == 1);
    world.restart_daemon();
    world.find("n001", Severity::fatal, "gpu.xid.79"); // more of the same
    world.run(60);
    INFO(world.story());
    CHECK(faults_of(world) == 1);
    world.power_off("n003");
    world.run(60);
    CHECK(faults_of(world) == 2);
    world.restart_daemon();
    world.run(60);
    CHECK(faults_of(world) == 2);
    CHECK(shared_of(world) == 0);
}

TEST_CASE("what is no fault of a host is not counted") {
    World world(16);
    world.run(10);
    SECTION("an operator's wish") {
        world.send(OperatorDrain{"n001", "fan", "alice"});
        world.run(30);
        world.send(OperatorResume{"n001", "alice"});
    }
    SECTION("a host that a person has drained") {
        world.person_drains("n001", "service");
        world.run(5);
        world.find("n001", Severity::fatal);
        world.run(5);
        world.power_off("n001");
    }
    SECTION("a planned reboot") {
        world.set_away("n001", true);
        world.stop_agent("n001");
    }
    SECTION("a suspicion that is dropped") {
        world.stop_agent("n001");
    }
    SECTION("what is worth a line, or wants the host avoided") {
        world.find("n001", Severity::info, "gpu.xid.13");
        world.find("n002", Severity::warn, "gpu.xid.8");
    }
    world.run(120);
    INFO(world.story());
    CHECK(faults_of(world) == 0);
    CHECK(shared_of(world) == 0);
}

TEST_CASE("many hosts at once are one fault of what they share") {
    World world(16);
    world.policy.max_drained_percent = 100;
    world.run(10);
    SECTION("that have findings") {
        for (int i = 1; i <= 8; ++i)
            world.find("n00" + std::to_string(i), Severity::evict, "ib.link_down");
        world.run(30);
        CHECK(shared_of(world) == 1);
    }
    SECTION("whose agents fall silent") {
        for (int i = 1; i <= 8; ++i)
            world.stop_agent("n00" + std::to_string(i));
        world.run(60);
        CHECK(shared_of(world) == 1);
    }
    INFO(world.story());
    CHECK(faults_of(world) == 0);
}

TEST_CASE("a repair lasts from the fault until the host is in use again") {
    World world(8);
    world.round_trip = 3;
    world.submit({"n001", "n002"});
    world.run(20);
    SECTION("of a host that was drained, by whomever it is resumed") {
        world.find("n001", Severity::fatal);
        world.run(300);
        CHECK(repair_time(world.state(), world.policy, world.now()).ongoing == 1);
        world.clear("n001");
        world.run(300);
        world.send(OperatorResume{"n001", "alice"});
        world.run(30);
        INFO(world.story());
        const auto repair = repair_time(world.state(), world.policy, world.now());
        REQUIRE(repair.seen.count == 1);
        CHECK(base::to_seconds(repair.seen.mean) == Approx(610).margin(15));
        CHECK(repair.ongoing == 0);
        CHECK(repair.mean == (world.policy.repair_time + repair.seen.mean) / 2);
    }
    SECTION("not of a host that never left") {
        world.policy.observe_only = true;
        world.find("n001", Severity::fatal);
        world.run(60);
        world.clear("n001");
        world.run(60);
        CHECK(repair_time(world.state(), world.policy, world.now()).seen.count == 0);
        CHECK(repair_time(world.state(), world.policy, world.now()).ongoing == 0);
    }
    CHECK(faults_of(world) == 1);
}

TEST_CASE("a fault that comes and goes within an hour is one") {
    World world(8);
    world.policy.observe_only = true;
    world.run(10);
    for (int i = 0; i < 5; ++i) {
        world.find("n001", Severity::fatal);
        world.run(60);
        world.clear("n001");
        world.run(60);
    }
    CHECK(faults_of(world) == 1);
    world.run(3600);
    world.find("n001", Severity::fatal);
    world.run(60);
    CHECK(faults_of(world) == 2);
}

TEST_CASE("how long detection and restart take is seen") {
    World world(8);
    world.round_trip = 3;
    const auto job = world.submit({"n001", "n002"});
    world.run(20);
    world.power_off("n001");
    world.run(60);
    INFO(world.story());
    REQUIRE(world.job(job).restarts == 1);
    const auto& learned = world.state().learned;
    REQUIRE(learned.detections.size() == 1);
    CHECK(learned.detections[0] >= world.policy.silent);
    CHECK(learned.detections[0] <= world.policy.silent + 2s);
    // The job stopped with the host, but what passed before the decision is detection.
    REQUIRE(learned.restarts.size() == 1);
    CHECK(learned.restarts[0] > 0s);
    CHECK(base::to_seconds(learned.restarts[0]) <= world.start_delay + world.end_delay + 2);
    // All its work, 20 s of two hosts, as it had no checkpoint, and the time until it ran again.
    CHECK(world.state().jobs.at(job).lost_host_seconds >= 2 * 20);
    CHECK(world.state().jobs.at(job).lost_host_seconds <= 2 * 30);
}

TEST_CASE("the interval follows what is learned of the hosts") {
    World world(8);
    world.round_trip = 3;
    world.policy.mtbf_node = std::chrono::hours(8);
    world.policy.min_interval = 1s;
    const auto job = world.submit({"n001", "n002", "n003", "n004"});
    world.run(5);
    world.commit(job, 1, 2);
    world.run(5);
    const double before = world.interval_of(job);
    CHECK(before == Approx(exact_interval(Seconds{2}, Seconds{2 * 3600})->count()).epsilon(0.01));
    world.find("n008", Severity::fatal); // no host of the job's
    world.run(5);
    REQUIRE(faults_of(world) == 1);
    const auto choice = choose_interval(world.state(), world.state().jobs.at(job), world.policy);
    REQUIRE(choice);
    CHECK(choice->host_mtbf.count() == Approx(4 * 3600).epsilon(0.01)); // two in eight hours
    CHECK(world.interval_of(job) == Approx(choice->exact.count()).epsilon(0.01));
    CHECK(world.interval_of(job) == Approx(before / std::sqrt(2)).epsilon(0.01));
    CHECK(choice->worth >= choice->worth_young);
    CHECK(choice->worth >= choice->worth_daly);
    CHECK(choice->bound.empty());
}

TEST_CASE("a checkpoint written beside the work: the interval by what it blocks, the rest by its safety") {
    World world(8);
    world.policy.mtbf_node = std::chrono::hours(8);
    world.policy.min_interval = 1s;
    world.policy.save_max = 600s;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    auto report = [&](std::uint64_t step, double cost, double safe) {
        Report said;
        said.host = "n001";
        said.boot_id = "b1";
        said.jobs.push_back({job, 0, world.job(job).uid, Commit{step, "/ck", world.now(), cost, 1, safe}});
        world.send(AgentReported{said});
    };
    report(1, 2, 90);
    const auto& state = world.state().jobs.at(job);
    auto choice = choose_interval(world.state(), state, world.policy);
    REQUIRE(choice);
    CHECK(choice->exact == exact_interval(Seconds{2}, choice->mtbf).value_or(Seconds{0}));
    CHECK(choice->beside == Seconds{88});
    CHECK(choice->failure.restart == Seconds{88} + world.policy.restart_time); // as no step marks were made
    CHECK(choice->bound.empty());
    report(2, 0.001, 90); // the next cannot begin before the last is safe
    report(3, 0.001, 90);
    for (std::uint64_t step = 4; step < 20; ++step)
        report(step, 0.001, 90);
    choice = choose_interval(world.state(), state, world.policy);
    CHECK(choice->bound == "safe");
    CHECK(base::to_seconds(state.interval) == Approx(90).margin(1));
    // A job that is to save gets the time until its checkpoint is safe, not what it stands still for.
    world.mute_jobs = false;
    world.autosave = false;
    world.find("n001", Severity::evict);
    world.run(2);
    INFO(world.story());
    CHECK(world.noted("is asked to save within 4 min 30 s"));
}
