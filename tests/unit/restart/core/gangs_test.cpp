// Plans of gangs, where restartd chooses their hosts: each is carried out, checked, and over when the gang
// runs; what was lost on the way is done again.

#include "restart/core/act/act.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::ActionKind;
using restart::GangStage;
using restart::JobPhase;
using restart::Severity;

namespace {

const std::vector<std::string> first_two{"n001", "n002"}, next_two{"n003", "n004"};

const restart::JobState& state_of(const World& world, base::JobId job) {
    return world.state().jobs.at(job);
}

} // namespace

TEST_CASE("a gang that is planned runs on its hosts and is moved back as soon as it does") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    world.plan(job, {"n002", "n001"});
    world.run(5);
    INFO(world.story());
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).nodes == std::vector<std::string>{"n002", "n001"}); // in rank order
    CHECK(world.job(job).queue == "gang");
    CHECK_FALSE(state_of(world, job).plan);
    CHECK(world.count(ActionKind::place_job) == 1);
    CHECK(world.count(ActionKind::park_job) == 1);
    CHECK_FALSE(world.noted("has not chosen"));
}

TEST_CASE("gangs are placed while restartd only observes, and while it is paused") {
    World world(8);
    world.policy.observe_only = true;
    const auto job = world.submit_gang(2);
    world.run(2);
    world.send(restart::OperatorPause{{}, base::Duration(3'600'000), "upgrade", "alice"});
    world.plan(job, first_two);
    world.run(5);
    CHECK(world.job(job).phase == JobPhase::running);
}

TEST_CASE("no gang is placed on a host that was lost or drained since it was chosen") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    world.person_drains("n002");
    world.run(2);
    world.plan(job, first_two);
    CHECK(world.count(ActionKind::place_job) == 0);

    // Or between the plan and its action.
    world.perform = false;
    world.plan(job, next_two);
    REQUIRE(world.count(ActionKind::place_job) == 1);
    world.person_drains("n003");
    world.run(1.5);
    CHECK_FALSE(
        restart::why_obsolete(world.state(), world.policy, world.now(), world.actions.back()).empty());
}

TEST_CASE("a plan that was lost with the daemon is made anew, and one that was carried out is not repeated") {
    for (const bool carried_out : {false, true}) {
        World world(8);
        const auto job = world.submit_gang(2);
        world.run(2);
        world.perform = carried_out;
        world.report_outcomes = false;
        world.plan(job, first_two);
        world.restart_daemon();
        world.perform = world.report_outcomes = true;
        world.run(4);
        INFO(world.story());
        if (!carried_out) {
            CHECK_FALSE(state_of(world, job).plan); // it may be planned again
            world.plan(job, next_two);
            world.run(4);
        }
        CHECK(world.job(job).phase == JobPhase::running);
        CHECK(world.job(job).nodes == (carried_out ? first_two : next_two));
        CHECK(world.job(job).queue == "gang");
        CHECK_FALSE(world.noted("has not chosen"));
    }
}

TEST_CASE("a gang that is not started in time is taken back and waits longer each time") {
    World world(8);
    world.gang_start_delay = 1e6;
    const auto job = world.submit_gang(2);
    world.run(2);
    world.plan(job, first_two);
    world.run(30);
    CHECK(state_of(world, job).plan->stage == GangStage::released);
    world.plan(job, next_two); // it holds its hosts
    CHECK(world.count(ActionKind::place_job) == 1);
    world.run(35);
    INFO(world.story());
    CHECK(world.noted("was not started on n[001-002]"));
    CHECK(world.job(job).queue == "gang");
    world.run(5);
    world.gang_start_delay = 1;
    world.plan(job, next_two);
    world.run(4);
    CHECK(world.job(job).nodes == next_two);
}

TEST_CASE("a refused plan is noted once and tried again later, not at every pass") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    world.job(job).phase = JobPhase::running; // what the snapshot does not show yet: LSF refuses
    world.plan(job, first_two);
    world.job(job).phase = JobPhase::pending;
    for (int pass = 0; pass < 40; ++pass) {
        world.job(job).phase = JobPhase::running;
        world.plan(job, first_two);
        world.job(job).phase = JobPhase::pending;
        world.run(0.25);
    }
    CHECK(world.count(ActionKind::place_job) < 8);
    const auto told = std::count_if(world.notes.begin(), world.notes.end(), [](const restart::Note& note) {
        return note.text.find("not placed on") != std::string::npos;
    });
    CHECK(told == 1);
}

TEST_CASE("what ran without a plan is told, once") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    world.job(job).phase = JobPhase::running;
    world.job(job).nodes = next_two;
    world.job(job).start = world.now();
    world.run(5);
    CHECK(world.noted("runs on n[003-004], which Railyard has not chosen"));
    const auto told = world.notes.size();
    world.run(5);
    CHECK(world.notes.size() == told);
}

TEST_CASE("what ran elsewhere than planned is told") {
    World world(8);
    world.gang_start_delay = 1e6;
    const auto job = world.submit_gang(2);
    world.run(2);
    world.plan(job, first_two);
    world.run(1);
    world.job(job).phase = JobPhase::running;
    world.job(job).nodes = next_two;
    world.run(3);
    INFO(world.story());
    CHECK(world.noted("runs on n[003-004], but was placed on n[001-002]"));
    CHECK(world.job(job).queue == "gang");
}

TEST_CASE("a gang that somebody moved to the run queue is moved back") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    world.job(job).queue = "gangrun";
    world.run(3);
    CHECK(world.job(job).queue == "gang");
}

TEST_CASE("a gang that waits held and may start without a plan is held again") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    CHECK(world.count(ActionKind::park_job) == 0);
    world.job(job).resumed = true; // by its user, or by LSF after the loss of its first host
    world.run(2);
    CHECK(world.count(ActionKind::park_job) == 1);
    CHECK_FALSE(world.job(job).resumed);
    world.run(5);
    CHECK(world.count(ActionKind::park_job) == 1);
}

TEST_CASE(
    "a hold that was ordered before a restart of the daemon is ordered again, one of the user's is not") {
    for (const bool ordered : {true, false}) {
        World world(8);
        const auto job = world.submit_gang(2);
        world.run(2);
        world.report_outcomes = false;
        world.job(job).resumed = ordered;
        world.run(2);
        CHECK(world.count(ActionKind::park_job) == (ordered ? 1 : 0));
        world.restart_daemon();
        world.report_outcomes = true;
        world.job(job).held = true; // as rm has it of a hold that it has not seen come
        world.run(5);
        INFO(world.story());
        CHECK(world.count(ActionKind::park_job) == (ordered ? 2 : 0));
        CHECK(world.job(job).held == !ordered);
    }
}

TEST_CASE("a hold found after a restart is the user's where the gang had been started, else it stood") {
    for (const bool known : {true, false}) {
        World world(8);
        world.gang_start_delay = 1e6;
        const auto job = world.submit_gang(2);
        world.run(2);
        world.report_outcomes = known;
        world.plan(job, first_two);
        world.job(job).queue = "gang"; // it waits held, and is held again
        world.restart_daemon();
        world.report_outcomes = true;
        world.job(job).held = true;
        world.run(5);
        INFO(world.story());
        CHECK(world.count(ActionKind::park_job) == (known ? 0 : 1));
        CHECK(world.job(job).held == known);
    }
}

TEST_CASE("a gang that loses a host is requeued without it and placed anew") {
    World world(8);
    world.policy.observe_only = false;
    const auto job = world.submit_gang(2);
    world.run(2);
    world.plan(job, first_two);
    world.run(5);
    REQUIRE(world.job(job).phase == JobPhase::running);
    world.find("n002", Severity::fatal);
    world.run(8);
    INFO(world.story());
    REQUIRE(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::pending); // until it is planned
    world.plan(job, {"n001", "n003"});
    world.run(5);
    CHECK(world.job(job).nodes == std::vector<std::string>{"n001", "n003"});
    CHECK(world.noted("is RUNNING on n[001,003]"));
}

TEST_CASE("a gang is heard whatever its host counts its starts") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    world.plan(job, first_two);
    world.run(5);
    REQUIRE(world.job(job).phase == JobPhase::running);
    restart::Report report;
    report.host = "n001";
    report.boot_id = "b-n001";
    report.jobs.push_back({});
    report.jobs.back().id = job;
    report.jobs.back().uid = 1000;
    report.jobs.back().epoch = 7;
    const auto reply = restart::reply_to(world.state(), report);
    REQUIRE(reply.jobs.size() == 1);
    CHECK(reply.jobs.front().epoch == 7); // its own word for it comes back
}

TEST_CASE("a gang whose host is drained before it starts is placed anew at once") {
    World world(8);
    world.gang_start_delay = 10;
    const auto job = world.submit_gang(2);
    world.run(2);
    world.plan(job, first_two);
    world.run(2);
    world.person_drains("n002");
    world.run(3);
    CHECK(world.noted("n002 is drained before it was started there"));
    CHECK(world.job(job).queue == "gang");
    world.run(3);
    world.plan(job, next_two);
    world.run(12);
    CHECK(world.job(job).nodes == next_two);
}

TEST_CASE("a gang that has ended when its action comes is nothing to tell of") {
    World world(8);
    const auto job = world.submit_gang(2);
    world.run(2);
    const auto told = world.notes.size();
    world.perform = false;
    world.plan(job, first_two);
    const auto action = world.actions.back().id;
    world.send(restart::ActionDone{action, base::Error{base::Code::not_found, "job 1 has ended"}, false, {}});
    CHECK_FALSE(state_of(world, job).plan);
    CHECK(world.notes.size() == told);
}

TEST_CASE("a gang under railrun starts again on its spare, without a requeue") {
    World world(16, 4);
    const auto gang = world.submit_gang(4);
    world.run(2);
    world.plan(gang, {"n001", "n002", "n003", "n004"});
    world.run(6);
    REQUIRE(world.job(gang).phase == JobPhase::running);
    world.run_inside(gang, 1);
    world.run(2);
    world.power_off("n002");
    world.run(20);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.run_of(gang) == restart::JobRun{1, "n[001,004,003]", "", false});
    CHECK(world.noted("runs again inside its allocation on n[001,004,003] (launch 1)"));
}
