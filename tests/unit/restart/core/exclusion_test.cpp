// Exclusions are the job's user's, but for those that we put there: they end with their reason.

#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;

namespace {
using Names = std::vector<std::string>;
} // namespace

TEST_CASE("a job on every host waits for the lost one's return, and runs on it again") {
    World world(4);
    const auto job = world.submit({"n001", "n002", "n003", "n004"});
    world.run(5);
    world.power_off("n003");
    world.run(20);
    INFO(world.story());
    REQUIRE(world.node("n003").drain);
    CHECK(world.job(job).phase == JobPhase::pending);
    CHECK(world.job(job).excluded.empty()); // our drain keeps it away
    if (GENERATE(false, true)) world.restart_daemon();
    world.run(10);
    world.start_agent("n003");
    world.run(5);
    world.send(restart::OperatorResume{"n003", "alice"});
    world.run(10);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).excluded.empty());
    CHECK(world.state().incidents.empty());
    CHECK(world.state().jobs.at(job).moved_off.empty());
}

TEST_CASE("where a bound keeps the host in use its jobs are excluded from it until its fault is over") {
    World world(3);
    world.policy.max_drained_percent = 0;
    const auto job = world.submit({"n001", "n002", "n003"});
    world.job(job).excluded = {"n900"}; // its user's own
    world.run(5);
    world.find("n002", Severity::fatal);
    world.run(20);
    INFO(world.story());
    CHECK_FALSE(world.node("n002").drain);
    CHECK(world.job(job).excluded == Names{"n900", "n002"});
    CHECK(world.job(job).phase == JobPhase::pending);
    if (GENERATE(false, true)) world.restart_daemon();
    world.clear("n002");
    world.run(20);
    CHECK(world.job(job).excluded == Names{"n900"});
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.noted("let job 1 use n002 again"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("an exclusion is left to the drain as soon as there is room for one") {
    World world(4);
    world.policy.max_drained_absolute = 1;
    world.find("n004", Severity::fatal);
    world.run(5);
    const auto job = world.submit({"n001", "n002", "n003"});
    world.run(2);
    world.find("n002", Severity::fatal);
    world.run(20);
    INFO(world.story());
    CHECK(world.job(job).excluded == Names{"n002"});
    world.clear("n004");
    world.run(2);
    world.never_restart = true;
    world.send(restart::OperatorResume{"n004", "alice"});
    world.run(10);
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).excluded.empty());
}

TEST_CASE("a person's resume of a faulty host lets the job it hurt stay away from it") {
    World world(4);
    const auto job = world.submit({"n001", "n002", "n003"});
    world.run(3);
    world.never_restart = true;
    world.find("n002", Severity::fatal);
    world.run(10);
    INFO(world.story());
    REQUIRE(world.node("n002").drain);
    CHECK(world.job(job).excluded.empty());
    SECTION("by railctl: before the host is back") {
        world.send(restart::OperatorResume{"n002", "alice"});
        CHECK(world.job(job).excluded == Names{"n002"});
        CHECK_FALSE(world.node("n002").drain);
    }
    SECTION("by scontrol") {
        world.person_resumes("n002");
    }
    world.run(60);
    CHECK(world.job(job).excluded == Names{"n002"});
    CHECK_FALSE(world.node("n002").drain);
    world.never_restart = false;
    world.run(10);
    CHECK(world.job(job).nodes == Names{"n001", "n003", "n004"});
    CHECK(world.state().incidents.empty());
    CHECK(world.count(ActionKind::keep_off) == 1);
}

TEST_CASE("what a user changes of the list is the user's") {
    World world(3);
    world.policy.max_drained_percent = 0;
    const auto job = world.submit({"n001", "n002", "n003"});
    world.run(5);
    world.find("n002", Severity::fatal);
    world.run(20);
    REQUIRE(world.job(job).excluded == Names{"n002"});
    const auto before = world.count(ActionKind::keep_off);
    SECTION("what was added to is kept") {
        world.job(job).excluded = {"n002", "n001"};
        world.run(5);
        world.clear("n002");
        world.run(20);
        CHECK(world.job(job).excluded == Names{"n002", "n001"});
    }
    SECTION("what was taken out is not put back") {
        world.never_restart = true;
        world.job(job).excluded.clear();
        world.run(20);
        CHECK(world.job(job).excluded.empty());
    }
    INFO(world.story());
    CHECK(world.count(ActionKind::keep_off) == before);
}

TEST_CASE("a job's exclusions are taken back at its next wait, not while it runs") {
    World world(6);
    world.policy.max_drained_percent = 0;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.find("n002", Severity::fatal);
    world.run(20);
    REQUIRE(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).excluded == Names{"n002"});
    world.clear("n002");
    world.run(20);
    CHECK(world.count(ActionKind::keep_off) == 0);
    world.find("n001", Severity::fatal);
    world.start_delay = 20;
    world.run(10);
    INFO(world.story());
    CHECK(world.job(job).excluded == Names{"n001"});
}
