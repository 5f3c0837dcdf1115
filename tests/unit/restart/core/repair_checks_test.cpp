// A repaired host is resumed when the site's program finds it sound ([repair] check_program), and not before.

#include "restart/core/repair/repair.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::ActionKind;
using restart::RepairStage;
using restart::Rung;
using restart::Severity;

namespace {

constexpr double minute = 60;

// One in which GPUs are rebooted, and n002's is gone.
World failing(std::optional<Rung> mended_by = Rung::reboot) {
    World world(8);
    auto& repair = world.policy.repair;
    repair.max_at_once = 2;
    repair.cycles_power = repair.checks = true;
    repair.clean_window = std::chrono::minutes(2);
    repair.rung_limit = std::chrono::minutes(10);
    world.config.emplace().reboots = true;
    world.run(2);
    world.find("n002", Severity::fatal, "gpu.lost", "gpu_gone");
    if (mended_by) world.mended_by["n002"] = *mended_by;
    return world;
}

std::vector<Rung> rungs_of(const World& world) {
    std::vector<Rung> done;
    for (const auto& action : world.actions)
        if (const auto* repair = restart::as<restart::RepairHost>(action)) done.push_back(repair->rung);
    return done;
}

bool is_in_use(World& world) {
    return !world.node("n002").drain && !world.node("n002").down;
}

std::optional<RepairStage> stage_of(const World& world) {
    const auto& repair = world.state().hosts.at("n002").repair;
    return repair ? std::optional(repair->stage) : std::nullopt;
}

base::Error finds_bad() {
    return {base::Code::unfit, "/usr/sbin/try: status 1: 9 results: 1 bad (gpu3 hbm.read)"};
}

// Until its check was ordered, and no further.
void run_to_check(World& world) {
    world.perform = true;
    for (int i = 0; i < 4 * 600 && stage_of(world) != RepairStage::checking; ++i) {
        if (stage_of(world) == RepairStage::watching) world.perform = false;
        world.run(0.25);
    }
    REQUIRE(stage_of(world) == RepairStage::checking);
}

} // namespace

TEST_CASE("a repaired host is tried after its time without a fault, and resumed when it has passed") {
    auto world = failing();
    world.run(200);
    INFO(world.story());
    CHECK(is_in_use(world));
    CHECK(rungs_of(world) == std::vector{Rung::reboot, Rung::check});
    CHECK(world.noted("check n002: no fault for 2 min 0 s after reboot"));
    CHECK(world.noted("resume n002: no fault for 2 min 0 s after reboot, and its check has passed"));
    CHECK(world.count(ActionKind::resume_host) == 1);
    CHECK(world.state().incidents.empty());
    const auto check = std::find_if(world.actions.begin(), world.actions.end(), restart::is_check);
    REQUIRE(check != world.actions.end());
    CHECK(restart::as<restart::RepairHost>(*check)->fault == restart::FaultClass::gpu_gone);
    CHECK(restart::as<restart::RepairHost>(*check)->after == Rung::reboot);
}

TEST_CASE(
    "what its check finds bad is not resumed: the next rung is taken, and in the end a person is called") {
    auto world = failing();
    world.check_verdict = finds_bad();
    world.run(200);
    INFO(world.story());
    CHECK_FALSE(is_in_use(world));
    CHECK(world.noted("check n002: bad: /usr/sbin/try: status 1: 9 results: 1 bad (gpu3 hbm.read)"));
    CHECK(world.noted("reboot did not help: its check finds n002 bad"));
    CHECK(rungs_of(world) == std::vector{Rung::reboot, Rung::check, Rung::power_cycle});
    if (GENERATE(false, true)) {
        world.check_verdict.reset();
        world.run(200);
        CHECK(is_in_use(world));
        return;
    }
    world.run(200);
    CHECK(stage_of(world) == RepairStage::hands);
    CHECK(rungs_of(world) == std::vector{Rung::reboot, Rung::check, Rung::power_cycle, Rung::check});
    CHECK(world.count(ActionKind::resume_host) == 0);
}

TEST_CASE("a fault that is over is tried, too, and its rung taken where the check finds it bad") {
    auto world = failing();
    world.node("n002").occupied = true; // the first rung waits
    world.run(10);
    world.clear("n002");
    world.run(2); // until it is reported
    world.node("n002").occupied = false;
    world.check_verdict = finds_bad();
    world.run(130);
    INFO(world.story());
    REQUIRE(world.noted("the fault of n002 is over: it is only watched"));
    CHECK(world.noted("the fault is not over: its check finds n002 bad"));
    CHECK(rungs_of(world) == std::vector{Rung::check, Rung::reboot});
    world.check_verdict.reset();
    world.run(200);
    CHECK(is_in_use(world));
}

TEST_CASE("a check that cannot be run finds nothing bad: it is tried again, and then a person is called") {
    auto world = failing();
    world.check_verdict = base::Error{base::Code::io, "/usr/sbin/try: status 255: no route to host"};
    world.run(200);
    INFO(world.story());
    CHECK_FALSE(is_in_use(world));
    CHECK(world.noted("check n002: not done: /usr/sbin/try: status 255: no route to host"));
    if (GENERATE(false, true)) {
        world.check_verdict.reset();
        world.run(130);
        CHECK(is_in_use(world));
        return;
    }
    world.run(4 * minute);
    CHECK(stage_of(world) == RepairStage::hands);
    CHECK(world.noted("hands needed (gpu_gone): its check could not be run"));
    CHECK(rungs_of(world) == std::vector{Rung::reboot, Rung::check, Rung::check, Rung::check});
}

TEST_CASE("a fault that comes while a host is tried counts, whatever the check finds") {
    auto world = failing();
    run_to_check(world);
    world.find("n002", Severity::fatal, "gpu.lost", "gpu_gone");
    world.run(5);
    world.perform = true;
    world.run(minute);
    INFO(world.story());
    CHECK_FALSE(is_in_use(world));
    CHECK(world.count(ActionKind::resume_host) == 0);
}

TEST_CASE("a person's drain or resume while a host is tried ends its repair") {
    auto world = failing();
    run_to_check(world);
    const bool drains = GENERATE(true, false);
    drains ? world.person_drains("n002") : world.person_resumes("n002");
    world.run(2);
    world.perform = true;
    world.run(5 * minute);
    INFO(world.story());
    CHECK_FALSE(stage_of(world));
    CHECK(is_in_use(world) == !drains);
    CHECK(world.count(ActionKind::resume_host) == 0);
}

TEST_CASE("nothing is tried behind a shut gate") {
    auto world = failing();
    world.run(90);
    world.policy.observe_only = true;
    world.run(5 * minute);
    INFO(world.story());
    CHECK(rungs_of(world) == std::vector{Rung::reboot});
    CHECK(world.noted("would check n002"));
    world.policy.observe_only = false;
    world.run(5);
    CHECK(is_in_use(world));
}

TEST_CASE("a check whose end a restart of restartd missed is made again after the same time") {
    auto world = failing();
    run_to_check(world);
    world.restart_daemon();
    world.perform = true;
    world.run(minute);
    INFO(world.story());
    CHECK_FALSE(is_in_use(world));
    CHECK(world.noted("what the check of n002 found is not known: restartd was restarted"));
    world.run(2 * minute);
    CHECK(is_in_use(world));
    CHECK(rungs_of(world) == std::vector{Rung::reboot, Rung::check, Rung::check});
}
