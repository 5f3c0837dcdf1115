// What is to be done follows from what holds now: nothing is forgotten because it was considered once,
// nothing is done because it was decided once.

#include "restart/core/act/act.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;

namespace {

std::size_t times_noted(const World& world, std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(world.notes.begin(), world.notes.end(),
                      [&](const restart::Note& note) { return note.text.find(text) != std::string::npos; }));
}

} // namespace

TEST_CASE("a drain that a bound refused is done when there is room, and the refusal told once") {
    World world(10);
    world.policy.max_drained_absolute = 1;
    world.find("n001", Severity::fatal);
    world.run(5);
    world.find("n002", Severity::fatal);
    world.run(60);
    INFO(world.story());
    CHECK(times_noted(world, "no further host is drained: 1 hosts are drained already") == 1);
    CHECK_FALSE(world.node("n002").drain);
    REQUIRE(world.state().incidents.size() == 1);
    world.clear("n001");
    world.run(2);
    world.send(restart::OperatorResume{"n001", "alice"});
    world.run(5);
    CHECK(world.node("n002").drain);
    CHECK(world.count(ActionKind::drain_host) == 2);
    CHECK(world.state().incidents.empty());

    SECTION("but not of a host whose fault has ended meanwhile") {
        world.find("n003", Severity::evict);
        world.run(20);
        world.clear("n003");
        world.run(5);
        world.clear("n002");
        world.run(2);
        world.send(restart::OperatorResume{"n002", "alice"});
        world.run(30);
        CHECK_FALSE(world.node("n003").drain);
        CHECK(world.count(ActionKind::drain_host) == 2);
        CHECK(world.state().incidents.empty());
    }
}

TEST_CASE("a lost host that a bound kept from its drain is drained when there is room, if it is still away") {
    World world(10);
    world.policy.max_drained_absolute = 1;
    world.find("n001", Severity::fatal);
    world.run(5);
    world.power_off("n002");
    world.run(20);
    CHECK(world.node("n002").down);
    CHECK_FALSE(world.node("n002").drain);
    const bool returns = GENERATE(false, true);
    if (returns) world.start_agent("n002");
    world.clear("n001");
    world.run(2);
    world.send(restart::OperatorResume{"n001", "alice"});
    world.run(10);
    INFO(world.story());
    CHECK(world.node("n002").drain == !returns);
    CHECK(times_noted(world, "no further host is drained: 1 hosts") == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("jobs that begin on a bad host which a bound keeps in use are moved as well") {
    World world(10);
    world.policy.max_drained_absolute = 1;
    world.find("n001", Severity::fatal);
    world.run(5);
    world.find("n002", Severity::fatal);
    world.run(100);
    const auto job = world.submit({"n002", "n003"});
    const auto never = world.submit({"n002"}, false);
    world.run(10);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).excluded == std::vector<std::string>{"n002"});
    CHECK(world.job(never).restarts == 0);
    CHECK(times_noted(world, "job 2 is left to the resource manager: --restart=never") == 1);
}

TEST_CASE("what was only observed is acted on after the switch, when it still holds") {
    World world(16);
    world.policy.observe_only = true;
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.find("n001", Severity::evict);
    world.find("n005", Severity::fatal);
    world.find("n006", Severity::fatal);
    world.power_off("n007");
    world.run(3600);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(times_noted(world, "would drain n001 (observe_only)") == 1);
    CHECK(times_noted(world, "would requeue job 1 (observe_only)") == 1);
    world.clear("n006");
    world.run(5);
    world.policy.observe_only = false;
    world.run(60);
    CHECK(world.node("n001").drain);
    CHECK(world.node("n005").drain);
    CHECK_FALSE(world.node("n006").drain);
    CHECK(world.node("n007").down);
    CHECK(world.noted("job 1 is asked to save"));
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(times_noted(world, "observe_only is off, and this still holds") == 3);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that was being started when its host was drained is moved when it runs") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.never_restart = true;
    world.job(job).phase = JobPhase::pending; // CONFIGURING: it holds its hosts
    world.run(3);
    world.find("n002", Severity::fatal);
    world.run(30);
    INFO(world.story());
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).restarts == 0);
    world.job(job).phase = JobPhase::running;
    world.never_restart = false;
    world.run(10);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).nodes == std::vector<std::string>{"n001", "n003"});
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that was left on a bad host is moved when what spoke against it is over") {
    World world(16);
    const auto job = world.submit({"n001", "n002"});
    world.job(job).requeue = false;
    world.run(5);
    world.find("n001", Severity::fatal);
    world.run(30);
    INFO(world.story());
    CHECK(world.job(job).restarts == 0);
    CHECK(times_noted(world, "job 1 is left to the resource manager: it may not be requeued") == 1);
    world.job(job).requeue = true; // scontrol update Requeue=1
    world.run(10);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a fault that comes just after a host was resumed was not overruled by that") {
    World world(8);
    world.person_drains("n002");
    world.run(10);
    // The resource manager is not read again before the resumed host fails under its next job.
    world.rm_answers = false;
    world.person_resumes("n002");
    const auto job = world.submit({"n001", "n002"});
    world.find("n002", Severity::fatal);
    world.run(3);
    world.rm_answers = true;
    world.run(20);
    INFO(world.story());
    CHECK_FALSE(world.noted("was resumed in spite of"));
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("a person's resume stands while the fault holds, and no longer") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.find("n002", Severity::fatal);
    world.run(10);
    REQUIRE(world.node("n002").drain);
    const auto* how = GENERATE("by scontrol", "by railctl", "while restartd was away");
    if (how == std::string_view("by railctl"))
        world.send(restart::OperatorResume{"n002", "alice"});
    else
        world.person_resumes("n002");
    if (how == std::string_view("while restartd was away")) world.restart_daemon();
    world.run(2);
    const auto other = world.submit({"n002", "n008"});
    world.run(120);
    world.restart_daemon();
    world.run(30);
    INFO(world.story());
    CHECK_FALSE(world.node("n002").drain);
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.job(other).restarts == 0);
    CHECK(times_noted(world, "was resumed in spite of gpu3 gpu.throttle.hw_power_brake") == 1);
    CHECK(world.state().incidents.empty());
    CHECK(world.job(job).restarts == 1);

    SECTION("another fault is another matter") {
        world.find("n002", Severity::fatal, "gpu.lost");
        world.run(10);
        CHECK(world.node("n002").drain);
        CHECK(world.job(other).restarts == 1);
    }
    SECTION("and so is the same, when it comes again") {
        world.clear("n002");
        world.run(5);
        world.find("n002", Severity::fatal);
        world.run(10);
        CHECK(world.node("n002").drain);
    }
}

TEST_CASE("a lost host that a person resumes without its agent is left to that person") {
    World world(8);
    world.power_off("n002");
    world.run(12);
    REQUIRE(world.node("n002").drain);
    world.person_resumes("n002");
    world.run(300);
    INFO(world.story());
    CHECK_FALSE(world.node("n002").drain);
    CHECK(world.count(ActionKind::down_host) == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("an action that waited is checked by what is known when it is performed") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.perform = false; // as while the journal cannot be written
    std::vector<restart::Action> late;
    SECTION("a lost host has come back") {
        world.power_off("n002", 0.5);
        world.run(6);
        late = world.actions;
        REQUIRE(late.size() == 2);
        REQUIRE(kind_of(late[0]) == ActionKind::down_host);
        world.start_agent("n002");
    }
    SECTION("a finding has cleared") {
        world.find("n002", Severity::fatal);
        world.run(2);
        late = world.actions;
        REQUIRE(late.size() == 2);
        world.clear("n002");
    }
    world.run(2);
    for (const auto& action : late) {
        const auto why = restart::why_obsolete(world.state(), world.policy, world.now(), action);
        INFO(restart::describe(action));
        CHECK_FALSE(why.empty());
        world.send(restart::ActionDone{action.id, base::Error{base::Code::unfit, why}, true});
    }
    world.perform = true;
    world.run(20);
    INFO(world.story());
    CHECK(world.performed.empty());
    CHECK(world.job(job).restarts == 0);
    CHECK(world.state().jobs.at(job).requeues == 0);
    CHECK(world.state().incidents.empty());

    // What is asked for afterwards is done.
    world.find("n002", Severity::fatal, "gpu.lost");
    world.run(10);
    CHECK(world.node("n002").drain);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.state().jobs.at(job).requeues == 1);
}

TEST_CASE("a loss that returned and was lost again is not set down by the first loss's order") {
    World world(8);
    world.perform = false;
    world.power_off("n002", 0.5);
    world.run(6);
    const auto late = world.actions;
    REQUIRE(late.size() == 1);
    CHECK(restart::why_obsolete(world.state(), world.policy, world.now(), late[0]).empty());
    world.start_agent("n002");
    world.run(3);
    world.power_off("n002", 0.5);
    world.run(6);
    REQUIRE(world.state().hosts.at("n002").lost);
    CHECK(restart::why_obsolete(world.state(), world.policy, world.now(), late[0]) ==
          "its agent reports again");
}

TEST_CASE("a drain that is refused for good is not asked for at each turn") {
    World world(8);
    world.perform = false;
    world.watch = [](const restart::Action&) {};
    world.find("n002", Severity::fatal);
    world.run(2);
    REQUIRE(world.actions.size() == 1);
    world.send(restart::ActionDone{world.actions[0].id, base::Error{base::Code::denied, "no right"}, false});
    world.run(300);
    INFO(world.story());
    CHECK(world.actions.size() == 1);
    world.run(400);
    CHECK(world.actions.size() == 2);
}
