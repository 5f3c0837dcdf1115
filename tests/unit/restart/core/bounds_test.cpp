#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

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
    SECTION("of a leaf") {
        world.policy.max_drained_per_leaf = 1;
    }
    SECTION("of a pod") {
        world.policy.max_drained_per_pod = 1;
    }
    SECTION("within an hour") {
        world.policy.max_drained_per_hour = 1;
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
    CHECK(world.noted("no further host is drained: 1 "));
    REQUIRE(world.state().incidents.size() == 1);
    const auto& kept = world.state().incidents.begin()->second.withheld;
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].what == "drain n002");
    CHECK_THAT(kept[0].key, Catch::StartsWith("max_drained_"));
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).excluded == std::vector<std::string>{"n002"});

    // A dead host is set down all the same, or its job would hang on it.
    world.power_off("n003");
    world.run(15);
    CHECK(world.node("n003").down);
    CHECK_FALSE(world.node("n003").drain);
    CHECK(std::count_if(world.notes.begin(), world.notes.end(),
                        [](const restart::Note& note) { return note.alert; }) == 1); // not for each host
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

TEST_CASE("a leaf's and a pod's bound count hosts at each of their leaves, and leave others alone") {
    World world(16, 4); // leaves of two rails, pods of two units
    SECTION("a leaf") {
        world.policy.max_drained_per_leaf = 1;
    }
    SECTION("a pod") {
        world.policy.max_drained_per_pod = 1;
    }
    const bool leaves = world.policy.max_drained_per_leaf != 0;
    world.find("n001", Severity::fatal);
    world.run(3);
    for (const char* host : {"n002", "n005", "n009"})
        world.find(host, Severity::fatal);
    world.run(5);
    INFO(world.story());
    CHECK_FALSE(world.node("n002").drain);     // of the same leaves
    CHECK(world.node("n005").drain == leaves); // of other leaves, in the same pod
    CHECK(world.node("n009").drain);           // of another pod
}

TEST_CASE("drains begun within the hour are bounded, by the daemon's clock and over its restarts") {
    World world(40);
    world.policy.max_drained_per_hour = 2;
    for (const char* host : {"n001", "n002", "n003"}) {
        world.find(host, Severity::fatal);
        world.run(3);
    }
    CHECK(world.count(ActionKind::drain_host) == 2);
    world.clear("n001");
    world.run(2);
    world.send(restart::OperatorResume{"n001", "alice"});       // makes no room: it was begun all the same
    world.send(restart::OperatorDrain{"n010", "fan", "alice"}); // a person's drain does not count
    CHECK_FALSE(world.refused);
    world.restart_daemon();
    world.run(1800);
    INFO(world.story());
    CHECK_FALSE(world.node("n003").drain);
    world.run(1800);
    INFO(world.story());
    CHECK(world.node("n003").drain);
}

TEST_CASE("a clock that is set back does not keep the bound of an hour for ever") {
    World world(40);
    world.policy.max_drained_per_hour = 1;
    world.find("n001", Severity::fatal);
    world.run(5);
    REQUIRE(world.node("n001").drain);
    world.sleep(-86'400);
    world.find("n002", Severity::fatal);
    world.run(3590);
    CHECK_FALSE(world.node("n002").drain);
    world.run(30);
    CHECK(world.node("n002").drain);
}

TEST_CASE("a bound that is crossed is told once, and again only after it kept nothing back for a while") {
    World world(40);
    world.policy.max_drained_absolute = 1;
    const auto told = [&] {
        return std::count_if(world.notes.begin(), world.notes.end(),
                             [](const restart::Note& note) { return note.alert; });
    };
    world.find("n001", Severity::fatal);
    world.run(3);
    for (int i = 2; i <= 20; ++i)
        world.find("n0" + std::string(i < 10 ? "0" : "") + std::to_string(i), Severity::fatal);
    world.run(60);
    CHECK(told() == 1);
    REQUIRE(world.state().crossings.contains("max_drained_absolute"));
    world.restart_daemon();
    for (int i = 2; i <= 20; ++i)
        world.clear("n0" + std::string(i < 10 ? "0" : "") + std::to_string(i));
    world.run(300);
    world.find("n002", Severity::fatal); // before it is over
    world.run(10);
    world.clear("n002");
    world.run(590);
    CHECK(told() == 1);
    INFO(world.story());
    CHECK(world.state().crossings.size() == 1);
    world.run(30);
    CHECK(world.state().crossings.empty());
    CHECK(world.noted("max_drained_absolute keeps nothing back any more"));
    world.find("n003", Severity::fatal);
    world.run(5);
    INFO(world.story());
    CHECK(told() == 2);
}

TEST_CASE("a resumed host makes room for the next drain") {
    World world(10);
    world.policy.max_drained_absolute = 1;
    world.find("n001", Severity::fatal);
    world.run(5);
    world.clear("n001");
    world.send(restart::OperatorResume{"n001", "alice"});
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
    world.send(restart::OperatorResume{"n002", "alice"});
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
    world.send(restart::OperatorDrain{"n003", "test", "alice"});
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
    world.send(restart::OperatorDrain{"n001", "swap \x1b[31mGPU\n3", "alice"});
    CHECK_FALSE(world.refused);
    CHECK(world.node("n001").reason == "railyard[user:alice]: swap ?[31mGPU?3");
    world.run(3);
    CHECK(world.state().incidents.empty());

    world.send(restart::OperatorDrain{"n001", "again", "bob"});
    REQUIRE(world.refused);
    CHECK_THAT(world.refused->text, Catch::Contains("is already") && Catch::Contains("swap"));
    world.send(restart::OperatorDrain{"n999", "x", "bob"});
    REQUIRE(world.refused);
    CHECK(world.refused->code == base::Code::not_found);
    world.send(restart::OperatorResume{"n002", "bob"});
    REQUIRE(world.refused);
    CHECK(world.refused->text == "n002 is not drained");

    world.send(restart::OperatorResume{"n001", "bob"});
    CHECK_FALSE(world.refused);
    CHECK_FALSE(world.node("n001").drain);
    world.run(3);
    CHECK(world.noted("bob resumes n001"));
}

TEST_CASE("a lost host is resumed only after it reports again") {
    World world(4);
    world.power_off("n002");
    world.run(10);
    world.send(restart::OperatorResume{"n002", "alice"});
    REQUIRE(world.refused);
    CHECK_THAT(world.refused->text, Catch::Contains("its agent does not report"));
    world.start_agent("n002");
    world.run(3);
    CHECK(world.noted("reports again after"));
    CHECK(world.node("n002").drain);
    world.send(restart::OperatorResume{"n002", "alice"});
    CHECK_FALSE(world.refused);
    CHECK_FALSE(world.node("n002").drain);
}
