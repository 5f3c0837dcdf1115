#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;

TEST_CASE("a lost host is set down and drained, its job restarts without it") {
    World world(16);
    const auto job = world.submit({"n001", "n002", "n003", "n004"});
    world.run(5);
    world.commit(job, 400);
    world.run(5);
    world.power_off("n003");
    world.run(12);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
    CHECK(world.count(ActionKind::requeue_job) + world.count(ActionKind::update_job) == 1);
    CHECK(world.node("n003").down);
    CHECK(world.node("n003").drain);
    CHECK_THAT(world.node("n003").reason, Catch::StartsWith("railyard[i-1]: host lost: agent silent for 3."));
    CHECK(world.job(job).phase == restart::JobPhase::running);
    CHECK(world.job(job).nodes == std::vector<std::string>{"n001", "n002", "n004", "n005"});
    CHECK(world.job(job).excluded == std::vector<std::string>{"n003"});
    CHECK(world.noted("second witness: the resource manager says IDLE*"));
    CHECK(world.noted("job 1 is RUNNING on n[001-002,004-005] (restart 1)"));
    CHECK(world.noted("kept 5.0 s (checkpoint of step 400)"));
    CHECK(world.noted("closed; n003 stays drained until it is resumed"));
    CHECK(world.state().incidents.empty());
}
