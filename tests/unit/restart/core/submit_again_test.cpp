// Jobs that the resource manager has forgotten, which are submitted again from what was kept of them.
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::ActionKind;
using restart::JobPhase;

namespace {

restart::RmFailure failure(std::uint32_t code) {
    restart::RmFailure failure;
    failure.code = code;
    return failure;
}

restart::RmFailure unknown() {
    auto how = failure(0);
    how.unknown = true;
    return how;
}

// A job whose host n002 has lost power, and that the resource manager forgets at that time.
base::JobId forgotten_beside_a_lost_host(World& world, const restart::RmFailure& how,
                                         const restart::Forgotten& forgotten = {}) {
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.commit(job, 1200);
    world.run(3);
    world.power_off("n002");
    world.run(0.25);
    world.forget_job(job, how, forgotten);
    return job;
}

} // namespace

TEST_CASE(
    "a job that a lost host ended is submitted again where its record is gone, and goes on where it was") {
    World world(8);
    world.round_trip = 3;
    forgotten_beside_a_lost_host(world, failure(GENERATE(0U, 3U, 137U)));
    world.run(60);
    INFO(world.story());
    CHECK(world.count(ActionKind::submit_again) == 1);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.noted("submit job 1 again without n002"));
    CHECK(world.noted("job 1 was submitted again as job 2"));
    CHECK(world.noted("job 2 is job 1 submitted again, whose record was gone"));
    REQUIRE(world.has_job(2));
    CHECK(world.job(2).phase == JobPhase::running);
    CHECK(std::find(world.job(2).nodes.begin(), world.job(2).nodes.end(), "n002") ==
          world.job(2).nodes.end());
    REQUIRE(world.state().jobs.at(2).commit);
    CHECK(world.state().jobs.at(2).commit->step == 1200);
    CHECK(world.state().jobs.at(2).requeues == 1);
    CHECK_FALSE(world.state().jobs.contains(1));
}

TEST_CASE("a job that its user may have cancelled is submitted again, and waits for its user") {
    World world(8);
    world.round_trip = 3;
    forgotten_beside_a_lost_host(world, unknown());
    world.run(60);
    INFO(world.story());
    REQUIRE(world.has_job(2));
    CHECK(world.is_held(2));
    CHECK(world.noted("submit job 1 again without n002, held"));
    CHECK(world.noted("nobody knows whether its user had cancelled job 1; release job 2 to start it"));
}

TEST_CASE("of a forgotten job nothing is decided while its accounting is asked how it ended") {
    World world(8);
    const auto job = forgotten_beside_a_lost_host(world, unknown(), {{}, true});
    world.run(25);
    INFO(world.story());
    CHECK(world.count(ActionKind::submit_again) == 0);
    SECTION("by its user: nothing is done") {
        world.end_job(job);
        world.run(30);
        CHECK(world.count(ActionKind::submit_again) == 0);
    }
    SECTION("by the fault") {
        world.job(job).forgotten->asking = false;
        world.job(job).failure->unknown = false;
        world.job(job).failure->code = 3;
        world.run(30);
        REQUIRE(world.has_job(2));
        CHECK_FALSE(world.is_held(2));
        CHECK(world.state().jobs.at(2).commit);
    }
}

TEST_CASE("of a forgotten job that cannot be submitted again the reason and the way out are noted") {
    World world(8);
    forgotten_beside_a_lost_host(world, failure(3),
                                 {"tasks of an array are not submitted again one by one", false});
    world.run(60);
    INFO(world.story());
    CHECK(world.count(ActionKind::submit_again) + world.count(ActionKind::notify_job) == 0);
    CHECK(
        world.noted("job 1 cannot be started again: slurmctld has no record of it any more, and tasks of an "
                    "array are not submitted again one by one: submit it again by hand"));
}

TEST_CASE("a job whose record goes while its requeue is on its way is submitted again") {
    World world(8);
    world.failure_settles = 30; // the requeue finds no failure yet
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.power_off("n002");
    world.run(0.25);
    world.fail_job(job, 3);
    while (world.count(ActionKind::requeue_job) == 0 && world.seconds() < 40)
        world.run(0.25);
    world.forget_job(job, failure(3));
    world.run(60);
    INFO(world.story());
    CHECK(world.count(ActionKind::submit_again) == 1);
    CHECK(world.noted("job 1 was submitted again as job 2"));
}

TEST_CASE("a job is submitted again once, though restartd dies before it can write that down") {
    World world(8);
    world.report_outcomes = false;
    forgotten_beside_a_lost_host(world, failure(3));
    while (!world.has_job(2) && world.seconds() < 60)
        world.run(0.25);
    world.report_outcomes = true;
    world.restart_daemon();
    world.run(60);
    INFO(world.story());
    CHECK(world.noted("job 1 was submitted again as job 2"));
    CHECK_FALSE(world.has_job(3));
}

TEST_CASE(
    "a forgotten job that failed by itself is submitted again as its user said, and its failures count on") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.job(job).restart_on = *sched::parse_restart_on(GENERATE("any", "host"));
    const bool any = world.job(job).restart_on.matches(1);
    world.run(5);
    world.forget_job(job, failure(1));
    world.run(30);
    INFO(world.story());
    CHECK(world.has_job(2) == any);
    if (any) CHECK(world.state().jobs.at(2).crashes.all == 1);
}

TEST_CASE("while only observed a forgotten job is not submitted again") {
    World world(8);
    world.policy.observe_only = true;
    forgotten_beside_a_lost_host(world, failure(3));
    world.run(60);
    INFO(world.story());
    CHECK(world.count(ActionKind::submit_again) == 0);
    CHECK(world.noted("would requeue job 1 (observe_only)"));
}
