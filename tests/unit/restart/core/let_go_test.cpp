// A host that its job runs without is taken out of the job, so that it is repaired while the job goes on.
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::ActionKind;
using restart::FaultClass;
using restart::Rung;
using restart::Severity;

namespace {

constexpr double minute = 60;

World ready() {
    World world(16, 4);
    auto& repair = world.policy.repair;
    repair.max_at_once = 2;
    repair.clean_window = std::chrono::minutes(2);
    repair.rung_limit = std::chrono::minutes(5);
    world.config.emplace().reboots = true;
    world.run(2);
    return world;
}

// Four ranks, the script on the first of them, and a spare.
base::JobId gang(World& world) {
    const auto job = world.submit({"n005", "n006", "n007", "n008", "n001"});
    world.run_inside(job, 1);
    world.commit(job, 100);
    world.run(2);
    return job;
}

void fails(World& world, const std::string& host, FaultClass fault, Severity severity = Severity::fatal) {
    world.find(host, severity, "gpu.some", std::string(to_string(fault)));
}

bool holds(World& world, base::JobId job, const std::string& host) {
    const auto& nodes = world.job(job).nodes;
    return std::find(nodes.begin(), nodes.end(), host) != nodes.end();
}

} // namespace

TEST_CASE(
    "a host that its job runs without is taken out of it, repaired and used again, and the job goes on") {
    auto world = ready();
    const auto job = gang(world);
    world.mended_by["n006"] = Rung::reboot;
    fails(world, "n006", FaultClass::gpu_gone);
    world.run(30);
    INFO(world.story());
    CHECK(world.run_of(job).launch == 1);
    CHECK_FALSE(holds(world, job, "n006"));
    CHECK(world.noted("take n006 out of job 1, which runs without it"));
    CHECK(world.noted("reboot n006 (gpu_gone): attempt 1"));
    CHECK(world.node("n006").drain);
    world.run(4 * minute);
    INFO(world.story());
    CHECK_FALSE(world.node("n006").drain);
    CHECK_FALSE(world.node("n006").down);
    CHECK(world.count(ActionKind::free_host) == 1);
    CHECK(world.count(ActionKind::down_host) == 0);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.job(job).restarts == 0);
    CHECK(world.run_of(job).launch == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a host that waits for hands is given to them while the job goes on") {
    auto world = ready();
    world.config->reboots = false;
    const auto job = gang(world);
    fails(world, "n006", FaultClass::gpu_gone);
    world.run(minute);
    INFO(world.story());
    CHECK_FALSE(holds(world, job, "n006"));
    CHECK(world.node("n006").reason.find("hands needed") != std::string::npos);
    CHECK(world.count(ActionKind::free_host) == 1);
}

TEST_CASE("a fault that is only waited for leaves the host in its job, which may use it again") {
    auto world = ready();
    const auto job = gang(world);
    fails(world, "n006", FaultClass::gpu_slow, Severity::evict);
    world.run(30);
    REQUIRE(world.run_of(job).launch == 1);
    world.clear("n006");
    world.run(3 * minute);
    INFO(world.story());
    CHECK(holds(world, job, "n006"));
    CHECK_FALSE(world.node("n006").drain);
    CHECK(world.count(ActionKind::free_host) == 0);
}

TEST_CASE("no host is taken out of a job that would end by it, nor from under another job") {
    auto world = ready();
    const auto job = gang(world);
    const auto* what = GENERATE("another job", "not known to survive it");
    INFO(what);
    const std::string_view is = what;
    if (is == "another job") world.job(world.submit({"n006"})).restart = false;
    if (is == "not known to survive it") world.job(job).no_kill = false;
    fails(world, "n006", FaultClass::gpu_gone);
    world.run(30);
    world.run(minute);
    INFO(world.story());
    CHECK(world.count(ActionKind::free_host) == 0);
    CHECK(world.count(ActionKind::repair_host) == 0);
    CHECK_FALSE(world.node("n006").down);
}

TEST_CASE("what is kept back or refused is done later, and once over any restart") {
    auto world = ready();
    const auto job = gang(world);
    world.mended_by["n006"] = Rung::reboot;
    const auto* what = GENERATE("pause", "restarts");
    INFO(what);
    const std::string_view is = what;
    fails(world, "n006", FaultClass::gpu_gone);
    if (is == "pause") {
        while (world.run_of(job).launch == 0)
            world.run(0.25);
        world.send(restart::OperatorPause{{}, std::chrono::hours(1), "look", "alice"});
        world.run(minute);
        CHECK(holds(world, job, "n006"));
        world.send(restart::OperatorGo{{}, "alice"});
    } else if (is == "restarts") {
        for (int i = 0; i < 120; ++i) {
            world.run(0.25);
            world.restart_daemon();
        }
    }
    world.run(4 * minute);
    INFO(world.story());
    CHECK_FALSE(holds(world, job, "n006"));
    CHECK_FALSE(world.node("n006").drain);
    CHECK(world.job(job).restarts == 0);
    CHECK(world.count(ActionKind::repair_host) == 1);
}
