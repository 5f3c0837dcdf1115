// What must hold when the daemon or the resource manager goes away in the middle, and when a job cannot be
// helped.

#include "restart/core/store/state_json.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;

TEST_CASE("while the resource manager is away actions wait, and none is lost") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.find("n002", Severity::fatal);
    world.rm_answers = false;
    world.run(90);
    INFO(world.story());
    CHECK(world.performed.empty());
    CHECK(world.noted("the resource manager does not answer"));
    CHECK(world.count(ActionKind::requeue_job) > 1);  // tried again
    CHECK(world.count(ActionKind::requeue_job) < 12); // with growing pauses
    world.rm_answers = true;
    world.run(6);
    CHECK(world.performed.size() == 2);
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("a daemon killed before its actions does them once after its restart") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    SECTION("after a bad host") {
        world.find("n002", Severity::fatal);
    }
    SECTION("after a loss") {
        world.power_off("n002");
    }
    world.perform = false;
    world.run(5);
    REQUIRE(world.actions.size() == 2);
    REQUIRE(world.performed.empty());
    world.perform = true;
    world.restart_daemon();
    world.run(10);
    INFO(world.story());
    CHECK(world.performed.size() == 2);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.node("n002").drain);
    CHECK(world.state().incidents.empty());
    // The same actions, by the same names.
    CHECK(world.actions[2] == world.actions[0]);
    CHECK(world.actions[3] == world.actions[1]);
}

TEST_CASE("a daemon killed after its actions does not repeat them") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    SECTION("after a bad host") {
        world.find("n002", Severity::fatal);
    }
    SECTION("after a loss") {
        world.power_off("n002");
    }
    SECTION("after an operator's wish") {
        world.send(restart::OperatorDrain{"n002", "x", "alice"});
    }
    world.report_outcomes = false;
    world.run(5);
    const auto done = world.performed.size();
    world.report_outcomes = true;
    world.restart_daemon();
    world.run(10);
    INFO(world.story());
    CHECK(world.performed.size() == done);
    CHECK(world.job(job).restarts <= 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.node("n002").drain);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("an action that waited is dropped when a person was faster") {
    World world(8);
    world.rm_answers = false;
    world.find("n002", Severity::fatal);
    world.run(5);
    world.person_drains("n002", "mine");
    world.rm_answers = true;
    world.run(5);
    INFO(world.story());
    CHECK(world.node("n002").reason == "mine");
    CHECK(world.noted("not done: another has drained it: mine"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job is never held for hosts that are lost under it, not even before its first checkpoint") {
    World world(16);
    world.policy.max_drained_percent = 100;
    const auto job = world.submit({"n001", "n002"});
    for (int loss = 0; loss < 6; ++loss) {
        world.run(5);
        REQUIRE_FALSE(world.job(job).nodes.empty());
        world.power_off(world.job(job).nodes.front());
        world.run(15);
    }
    INFO(world.story());
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).restarts == 6);
    CHECK_FALSE(world.noted("is held"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job is moved off bad hosts however often, with and without progress") {
    World world(40);
    world.policy.max_drained_percent = 100;
    const auto job = world.submit({"n001", "n002"});
    for (int fault = 0; fault < 30; ++fault) {
        world.run(5);
        REQUIRE_FALSE(world.job(job).nodes.empty());
        world.find(world.job(job).nodes.front(), Severity::fatal);
        world.run(10);
    }
    INFO(world.story());
    CHECK(world.job(job).restarts == 30);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that ends before it is moved closes its incident") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.commit(job, 1, 20);
    world.run(2);
    world.find("n002", Severity::evict);
    world.run(3);
    world.end_job(job);
    world.run(5);
    INFO(world.story());
    CHECK(world.noted("job 1 has ended"));
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a requeued job that stays pending is told about once") {
    World world(2);
    world.submit({"n001", "n002"});
    world.run(3);
    world.find("n002", Severity::fatal);
    world.run(200);
    INFO(world.story());
    std::size_t times_noted = 0;
    for (const auto& note : world.notes)
        times_noted += note.text.find("still waits") != std::string::npos;
    CHECK(times_noted == 1);
    CHECK(world.count(ActionKind::requeue_job) == 1);
}

TEST_CASE("a requeue carries the hosts the job had, and the state those of the start before") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.find("n002", Severity::fatal);
    world.run(10);
    INFO(world.story());
    std::vector<std::string> had;
    for (const auto& action : world.actions)
        if (const auto* requeue = std::get_if<restart::RequeueJob>(&action.what)) had = requeue->had;
    CHECK(had == std::vector<std::string>{"n001", "n002"});
    REQUIRE(world.job(job).restarts == 1);
    REQUIRE(world.job(job).phase == JobPhase::running);
    CHECK(world.state().jobs.at(world.job(job).id).had == had);
    const auto text = to_json(world.state());
    CHECK(restart::state_from_json(text)->jobs.at(world.job(job).id).had == had);
}
