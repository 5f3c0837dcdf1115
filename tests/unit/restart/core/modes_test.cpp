// What keeps restartd from acting for a time: a person's pause, and maintenance. Nothing is lost by it.

#include "restart/core/act/act.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using restart::ActionKind;
using restart::JobPhase;
using restart::OperatorGo;
using restart::OperatorPause;
using restart::Phase;
using restart::Severity;

namespace {

constexpr base::Duration an_hour{3'600'000};

const restart::Incident& only_incident(const World& world) {
    REQUIRE(world.state().incidents.size() == 1);
    return world.state().incidents.begin()->second;
}

std::vector<std::string> withheld_by(const restart::Incident& incident, std::string_view key) {
    std::vector<std::string> what;
    for (const auto& kept : incident.withheld)
        if (kept.key == key) what.push_back(kept.what);
    return what;
}

} // namespace

TEST_CASE("a pause keeps back everything that restartd would do by itself, until a person ends it") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.send(OperatorPause{{}, an_hour, "switch upgrade", "alice"});
    REQUIRE_FALSE(world.refused);
    const bool lost = GENERATE(false, true);
    if (lost)
        world.power_off("n002");
    else
        world.find("n002", Severity::fatal);
    world.run(30);
    world.restart_daemon(); // it outlives restartd
    world.run(30);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(withheld_by(only_incident(world), "pause") ==
          std::vector<std::string>{"requeue job 1", lost ? "set down and drain n002" : "drain n002"});
    CHECK(only_incident(world).phase == Phase::withheld);
    CHECK(world.noted("alice pauses restartd for 1 h 0 min: switch upgrade"));

    world.send(OperatorGo{{}, "bob"});
    REQUIRE_FALSE(world.refused);
    world.run(20);
    CHECK(world.noted("bob ends the pause of alice"));
    CHECK(world.noted("pause is off, and this still holds"));
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.state().incidents.empty());
    world.send(OperatorGo{{}, "bob"});
    REQUIRE(world.refused);
    CHECK(world.refused->text == "restartd is not paused");
}

TEST_CASE("a pause ends by its time, and a fault that is over by then is left") {
    World world(8);
    world.send(OperatorPause{{}, base::Duration(600'000), "test", "alice"});
    world.find("n001", Severity::fatal);
    world.find("n002", Severity::fatal);
    world.run(590);
    CHECK(world.actions.empty());
    world.clear("n001");
    world.run(20);
    INFO(world.story());
    CHECK(world.noted("the pause of alice is over"));
    CHECK(world.state().pauses.empty());
    CHECK_FALSE(world.node("n001").drain);
    CHECK(world.node("n002").drain);
}

TEST_CASE("a pause stops what is under way: saves, waiting actions, and what was given and not yet done") {
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
    world.send(OperatorPause{{}, an_hour, "test", "alice"});
    const auto before = world.actions.size();
    world.rm_answers = true;
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.size() == before);
    CHECK(world.job(job).restarts == 0);
    CHECK_FALSE(world.node("n002").drain);
    restart::Report report;
    report.host = "n001";
    report.jobs.push_back({job, 0, 1000, {}});
    for (const auto& answer : restart::reply_to(world.state(), report).jobs)
        CHECK_FALSE(answer.save_by);
    world.send(OperatorGo{{}, "alice"});
    world.run(90);
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.state().jobs.at(job).requeues == 1);
}

TEST_CASE("what was done before a pause is not called withheld") {
    World world(8);
    world.never_restart = true; // the job waits: the incident stays open
    world.submit({"n001", "n002"});
    world.run(3);
    world.find("n002", Severity::fatal);
    world.run(10);
    REQUIRE(world.node("n002").drain);
    world.send(OperatorPause{{}, an_hour, "test", "alice"});
    world.run(10);
    INFO(world.story());
    CHECK(only_incident(world).withheld.empty());
    CHECK(only_incident(world).phase == Phase::verifying);
}

TEST_CASE("a person's own drain and resume are done under a pause and in maintenance") {
    World world(8);
    if (GENERATE(false, true))
        world.send(OperatorPause{{}, an_hour, "test", "alice"});
    else
        world.send(restart::MaintenanceWindows{{{"daily 00:00-24:00", {}}}});
    world.send(restart::OperatorDrain{"n003", "fan", "bob"});
    REQUIRE_FALSE(world.refused);
    CHECK(world.node("n003").drain);
    world.run(3);
    world.send(restart::OperatorResume{"n003", "bob"});
    REQUIRE_FALSE(world.refused);
    CHECK_FALSE(world.node("n003").drain);
    world.run(3);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a host that was drained before a pause can be resumed under it, though its job was not moved") {
    World world(8);
    world.submit({"n001", "n002"});
    world.run(3);
    world.done = [&](const restart::Action& action) { // the pause comes between the drain and the requeue
        if (kind_of(action) == ActionKind::drain_host)
            world.node("n002").reason = restart::as<restart::DrainHost>(action)->reason;
    };
    world.perform = false;
    world.find("n002", Severity::fatal);
    world.run(2);
    REQUIRE(world.actions.size() == 2);
    world.node("n002").drain = true;
    world.node("n002").reason = restart::as<restart::DrainHost>(world.actions[0])->reason;
    world.send(restart::ActionDone{world.actions[0].id, {}, false});
    world.send(OperatorPause{{}, an_hour, "test", "alice"});
    world.send(restart::ActionDone{
        world.actions[1].id,
        base::Error{base::Code::unfit,
                    restart::why_obsolete(world.state(), world.policy, world.now(), world.actions[1])},
        true});
    world.perform = true;
    world.run(5);
    INFO(world.story());
    REQUIRE(only_incident(world).phase == Phase::withheld);
    world.send(restart::OperatorResume{"n002", "bob"});
    CHECK_FALSE(world.refused);
    CHECK_FALSE(world.node("n002").drain);
}

TEST_CASE("a pause of some hosts leaves the others alone, and their pause can be ended apart") {
    World world(16);
    world.send(OperatorPause{{"n001", "n003", "n002"}, an_hour, "rack 1", "alice"});
    REQUIRE_FALSE(world.refused);
    for (const char* host : {"n001", "n002", "n009"})
        world.find(host, Severity::fatal);
    world.run(10);
    CHECK(world.node("n009").drain);
    CHECK_FALSE(world.node("n001").drain);
    CHECK_FALSE(world.node("n002").drain);
    world.send(OperatorGo{{"n009"}, "bob"});
    REQUIRE(world.refused);
    CHECK(world.refused->text == "none of these hosts is paused");
    world.send(OperatorGo{{"n001"}, "bob"});
    REQUIRE_FALSE(world.refused);
    world.run(5);
    CHECK(world.node("n001").drain);
    CHECK_FALSE(world.node("n002").drain);
    world.send(OperatorPause{{}, an_hour, "all", "carol"});
    CHECK(world.state().pauses.size() == 2);
    world.send(OperatorGo{{"n002"}, "bob"});
    REQUIRE(world.refused);
    CHECK_THAT(world.refused->text, Catch::Contains("carol has paused restartd for all hosts"));
    world.send(OperatorGo{{}, "bob"});
    world.run(5);
    INFO(world.story());
    CHECK(world.node("n002").drain);
}

TEST_CASE("a later pause takes the place of an earlier one, and a bad one is refused") {
    World world(4);
    world.send(OperatorPause{{}, an_hour, "one", "alice"});
    world.send(OperatorPause{{}, 2 * an_hour, "two", "bob"});
    REQUIRE(world.state().pauses.size() == 1);
    CHECK(world.state().pauses[0].user == "bob");
    world.send(OperatorPause{{"n001"}, an_hour, "part", "alice"});
    CHECK(world.state().pauses.size() == 2);
    world.send(OperatorPause{{"n999"}, an_hour, "part", "alice"});
    REQUIRE(world.refused);
    CHECK(world.refused->code == base::Code::not_found);
    world.send(OperatorPause{{}, base::Duration(1'000), "short", "alice"});
    REQUIRE(world.refused);
    CHECK(world.refused->code == base::Code::input);
    world.send(OperatorPause{{}, 1000 * an_hour, "long", "alice"});
    CHECK(world.refused);
    CHECK(world.state().pauses.size() == 2);
    CHECK(world.state().pauses[0].until == world.now() + 2 * an_hour);
}

TEST_CASE("hosts in maintenance are neither suspected nor drained; what still holds afterwards is handled") {
    World world(12, 4);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    const bool by_window = GENERATE(true, false);
    const auto serve = [&](bool on) {
        if (by_window) {
            restart::MaintenanceWindows windows;
            if (on) windows.open.push_back({"Sun 02:00-06:00", {"n002", "n003", "n004"}});
            world.send(windows);
        } else {
            for (const char* host : {"n002", "n003", "n004"})
                world.node(host).maintenance = on;
            world.run(1);
        }
    };
    serve(true);
    world.find("n003", Severity::fatal);
    world.find("n009", Severity::fatal); // not in maintenance
    world.power_off("n002", 0.5);
    world.power_off("n004", 0.5);
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.size() == 1);
    CHECK(world.node("n009").drain);
    CHECK(world.state().incidents.empty());
    CHECK(world.job(job).restarts == 0);
    CHECK(world.noted("maintenance"));
    world.start_agent("n004");
    world.run(2);
    serve(false);
    world.run(2);
    CHECK(world.node("n003").drain);
    world.run(2);
    CHECK_FALSE(world.state().hosts.at("n004").lost);
    world.rm_sets_down("n002"); // it has not come back
    world.run(40);
    CHECK(world.node("n002").down);
    CHECK(world.state().hosts.at("n002").lost);
    CHECK_FALSE(world.node("n004").drain);
    CHECK(world.job(job).phase == JobPhase::running);
}

TEST_CASE("an incident that is open when maintenance begins waits for its end") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.find("n002", Severity::evict);
    world.run(2);
    REQUIRE(only_incident(world).phase == Phase::saving);
    world.send(restart::MaintenanceWindows{{{"Sun 02:00-06:00", {}}}});
    world.run(300);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(withheld_by(only_incident(world), "maintenance").size() == 2);
    world.restart_daemon(); // the daemon gives the windows anew
    world.run(5);
    CHECK(world.actions.empty());
    world.send(restart::MaintenanceWindows{});
    world.run(90);
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("a suspicion ends when maintenance begins, and hosts in maintenance are in no silent group") {
    World world(12);
    world.stop_agent("n001");
    world.run(5);
    REQUIRE(only_incident(world).phase == Phase::suspected);
    world.node("n001").maintenance = true;
    world.run(2);
    CHECK(world.state().incidents.empty());
    CHECK(world.noted("is in maintenance: suspicion dropped"));
    for (int i = 2; i <= 11; ++i) {
        world.node(fmt::format("n{:03}", i)).maintenance = true;
        world.stop_agent(fmt::format("n{:03}", i));
    }
    world.run(1);
    world.power_off("n012", 0.5); // alone among those that ought to be heard
    world.run(10);
    INFO(world.story());
    CHECK(world.state().hosts.at("n012").lost);
    CHECK(world.node("n012").down);
    CHECK(world.count(ActionKind::down_host) == 1);
}

TEST_CASE("hosts in maintenance say nothing about the fabric file") {
    World world(8);
    for (int i = 1; i <= 8; ++i)
        world.reads_file(fmt::format("n{:03}", i), "d1");
    for (int i = 1; i <= 6; ++i) {
        world.node(fmt::format("n{:03}", i)).maintenance = true;
        world.find(fmt::format("n{:03}", i), Severity::evict, "ib.missing"); // unplugged
    }
    world.run(120);
    INFO(world.story());
    CHECK(world.state().incidents.empty());
    world.find("n008", Severity::evict, "ib.missing");
    world.run(120);
    CHECK(world.node("n008").drain); // the other of those that count has it
}
