#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;

TEST_CASE("bounds stop new drains, never a recovery") {
    World world(10);
    SECTION("in percent, rounded up") {
        world.policy.max_drained_percent = 5;
    }
    SECTION("absolute") {
        world.policy.max_drained_absolute = 1;
    }
    SECTION("in a unit") {
        world.policy.max_drained_per_unit = 1;
    }
    world.find("n001", Severity::fatal);
    world.run(5);
    CHECK(world.count(ActionKind::drain_host) == 1);
    const auto job = world.submit({"n002", "n003"});
    world.run(2);
    world.find("n002", Severity::fatal);
    world.run(8);
    INFO(world.story());
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK_FALSE(world.node("n002").drain);
    CHECK(world.noted("n002 is not drained: 1 "));
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).excluded == std::vector<std::string>{"n002"});

    // A dead host is set down all the same, or its job would hang on it.
    world.power_off("n003");
    world.run(15);
    CHECK(world.node("n003").down);
    CHECK_FALSE(world.node("n003").drain);
    CHECK(world.noted("n003 is set down but not drained"));
    CHECK(world.job(job).restarts == 2);
}

TEST_CASE("a unit's bound leaves other units alone") {
    World world(16);
    world.policy.max_drained_per_unit = 1;
    world.find("n001", Severity::fatal);
    world.find("n009", Severity::fatal);
    world.run(5);
    CHECK(world.count(ActionKind::drain_host) == 2);
}

TEST_CASE("a resumed host makes room for the next drain") {
    World world(10);
    world.policy.max_drained_absolute = 1;
    world.find("n001", Severity::fatal);
    world.run(5);
    world.clear("n001");
    world.tell(restart::OperatorResume{"n001", "alice"});
    world.run(3);
    CHECK_FALSE(world.node("n001").drain);
    world.find("n002", Severity::fatal);
    world.run(5);
    CHECK(world.node("n002").drain);
}

TEST_CASE("a person's drain is neither overwritten nor undone") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.person_drains("n002");
    world.run(2);

    SECTION("by a bad host's incident") {
        world.find("n002", Severity::fatal);
        world.run(10);
        CHECK(world.count(ActionKind::drain_host) == 0);
        CHECK(world.noted("n002 is not drained: another has done so: fan"));
    }
    SECTION("by a loss, whose recovery goes on") {
        world.power_off("n002");
        world.run(12);
        CHECK(world.node("n002").down);
    }
    INFO(world.story());
    CHECK(world.node("n002").reason == "fan");
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).restarts == 1);
    world.tell(restart::OperatorResume{"n002", "alice"});
    REQUIRE(world.refused);
    CHECK(world.refused->code == base::Code::denied);
    CHECK(world.node("n002").reason == "fan");
}

TEST_CASE("a person's resume while an incident is open stands") {
    World world(4);
    world.never_restart = true; // keeps the incident open
    world.submit({"n001", "n002"});
    world.run(3);
    world.find("n002", Severity::fatal);
    world.run(5);
    REQUIRE(world.node("n002").drain);
    REQUIRE(world.state().incidents.size() == 1);
    world.person_resumes("n002");
    world.run(30);
    world.never_restart = false;
    world.run(10);
    INFO(world.story());
    CHECK_FALSE(world.node("n002").drain);
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.noted("n002 was resumed meanwhile by another, which stands"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("observe-only decides and does nothing") {
    World world(8);
    world.policy.observe_only = true;
    world.submit({"n001", "n002"});
    world.run(3);
    world.find("n001", Severity::evict);
    world.power_off("n002");
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.noted("would drain n001 (observe_only)"));
    CHECK(world.noted("would requeue job 1 (observe_only)"));
    CHECK(world.noted("would set down and drain n002 (observe_only)"));
    CHECK(world.state().incidents.size() == 2); // what they are about holds
    world.tell(restart::OperatorDrain{"n003", "test", "alice"});
    CHECK(world.refused);
    CHECK(world.actions.empty());
}

TEST_CASE("observe-only stops what is under way") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    SECTION("while a job saves") {
        world.autosave = false;
        world.find("n002", Severity::evict);
    }
    SECTION("while actions wait for the resource manager") {
        world.rm_answers = false;
        world.find("n002", Severity::fatal);
    }
    world.run(3);
    world.policy.observe_only = true;
    const auto before = world.actions.size();
    world.rm_answers = true;
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.size() == before);
    CHECK(world.job(job).restarts == 0);
    CHECK_FALSE(world.node("n002").drain);
    CHECK(world.state().incidents.size() == 1);
    world.clear("n002");
    world.run(5);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("operators drain and resume hosts under their name") {
    World world(4);
    world.tell(restart::OperatorDrain{"n001", "swap \x1b[31mGPU\n3", "alice"});
    CHECK_FALSE(world.refused);
    CHECK(world.node("n001").reason == "railyard[user:alice]: swap ?[31mGPU?3");
    world.run(3);
    CHECK(world.state().incidents.empty());

    world.tell(restart::OperatorDrain{"n001", "again", "bob"});
    REQUIRE(world.refused);
    CHECK_THAT(world.refused->text, Catch::Contains("is already") && Catch::Contains("swap"));
    world.tell(restart::OperatorDrain{"n999", "x", "bob"});
    REQUIRE(world.refused);
    CHECK(world.refused->code == base::Code::not_found);
    world.tell(restart::OperatorResume{"n002", "bob"});
    REQUIRE(world.refused);
    CHECK(world.refused->text == "n002 is not drained");

    world.tell(restart::OperatorResume{"n001", "bob"});
    CHECK_FALSE(world.refused);
    CHECK_FALSE(world.node("n001").drain);
    world.run(3);
    CHECK(world.noted("bob resumes n001"));
}

TEST_CASE("a lost host is resumed only after it reports again") {
    World world(4);
    world.power_off("n002");
    world.run(10);
    world.tell(restart::OperatorResume{"n002", "alice"});
    REQUIRE(world.refused);
    CHECK_THAT(world.refused->text, Catch::Contains("its agent does not report"));
    world.start_agent("n002");
    world.run(3);
    CHECK(world.noted("reports again after"));
    CHECK(world.node("n002").drain);
    world.tell(restart::OperatorResume{"n002", "alice"});
    CHECK_FALSE(world.refused);
    CHECK_FALSE(world.node("n002").drain);
}
