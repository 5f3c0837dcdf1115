// Recovery inside the allocation: a job whose railrun starts its step again on a spare.
#include "world.hpp"

#include "base/hostlist.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::ActionKind;
using restart::Severity;

namespace {

// A gang of four ranks and two spares, the first of them in the ranks' unit.
struct Gang {
    explicit Gang(World& world) : job(world.submit({"n005", "n006", "n007", "n001", "n002", "n008"})) {
        world.run_inside(job, 2);
        world.commit(job, 100);
        world.run(2);
    }
    base::JobId job;
};

bool moved(const World& world) {
    return world.count(ActionKind::requeue_job) + world.count(ActionKind::update_job) > 0;
}

} // namespace

TEST_CASE("a lost host: it is set down, and the step starts again on a spare of its unit") {
    World world(16, 4);
    world.round_trip = 3;
    const Gang gang(world);
    world.power_off("n006");
    world.run(20);
    INFO(world.story());
    CHECK_FALSE(moved(world));
    CHECK(world.count(ActionKind::down_host) == 1);
    CHECK(world.job(gang.job).restarts == 0);
    CHECK(world.run_of(gang.job) == restart::JobRun{1, "n[005,008,007,001]", "n002", false});
    CHECK(world.noted("n006 is lost: start 1 job again inside its allocation without it"));
    CHECK(world.noted("job 1 runs again inside its allocation on n[005,008,007,001] (launch 1)"));
    CHECK(world.noted("kept"));
    CHECK(world.state().incidents.empty());
    CHECK(world.state().jobs.at(gang.job).requeues == 0);
}

TEST_CASE("a host with a fault: the job saves, the step starts again, and the host stands idle and drained") {
    World world(16, 4);
    const Gang gang(world);
    world.find("n001", Severity::evict);
    world.run(20);
    INFO(world.story());
    CHECK_FALSE(moved(world));
    CHECK(world.noted("let save, then drain n001 and start 1 job again inside its allocation without it"));
    CHECK(world.noted("job 1 saved step 200"));
    CHECK(world.run_of(gang.job) == restart::JobRun{1, "n[005-007,002]", "n008", false});
    CHECK(world.node("n001").drain);
    CHECK_FALSE(world.node("n001").down);
    const auto& nodes = world.job(gang.job).nodes;
    CHECK(std::find(nodes.begin(), nodes.end(), "n001") != nodes.end());
    // It is not decided on again as long as the job holds the host.
    const auto notes = world.notes.size();
    world.run(30);
    CHECK(world.notes.size() == notes);
    // Its own loss after that costs the job nothing.
    world.power_off("n001");
    world.run(20);
    CHECK_FALSE(moved(world));
    CHECK(world.run_of(gang.job).launch == 1);
    world.end_job(gang.job);
    world.run(5);
    INFO(world.story());
    CHECK(world.state().incidents.empty());
}

TEST_CASE("the commit that a job was asked for goes on to the order in the same answer") {
    World world(16, 4);
    world.autosave = false;
    const Gang gang(world);
    world.find("n001", Severity::evict);
    world.run(3);
    CHECK_FALSE(world.state().incidents.begin()->second.jobs.at(0).stopped);
    restart::Report report;
    report.host = "n005";
    report.jobs.push_back({gang.job, 0, world.job(gang.job).uid,
                           restart::Commit{300, "/scratch/c", world.now(), 0.5, 1}, world.run_of(gang.job)});
    world.send(restart::AgentReported{report});
    const auto reply = restart::reply_to(world.state(), report);
    REQUIRE(reply.jobs.size() == 1);
    CHECK(reply.jobs[0].order == restart::RunOrder{0, "n[005-007,002]", "i-1"});
    CHECK_FALSE(reply.jobs[0].save_by);
    report.jobs[0].uid = 4711; // another user's word
    CHECK(restart::reply_to(world.state(), report).jobs.empty());
}

TEST_CASE("an order tells that a host is lost, whose launcher waits for it") {
    World world(16, 4);
    world.follows_orders = false;
    const Gang gang(world);
    bool lost = false;
    world.power_off("n001");
    for (int second = 0; second < 20 && !lost; ++second) {
        world.run(1);
        restart::Report report;
        report.host = "n005";
        report.jobs.push_back({gang.job, 0, world.job(gang.job).uid, {}, world.run_of(gang.job)});
        const auto reply = restart::reply_to(world.state(), report);
        lost = !reply.jobs.empty() && reply.jobs[0].order && reply.jobs[0].order->lost;
    }
    CHECK(lost);
}

TEST_CASE("two hosts lost at once are left by one order") {
    World world(16, 4);
    const Gang gang(world);
    world.power_off("n006");
    world.power_off("n001");
    world.run(20);
    INFO(world.story());
    CHECK_FALSE(moved(world));
    CHECK(world.run_of(gang.job).launch <= 2);
    CHECK(world.run_of(gang.job).hosts == "n[005,008,007,002]");
    CHECK(world.state().jobs.at(gang.job).crashes == restart::CrashLoop{}); // what hosts do never counts
    CHECK(world.state().incidents.empty());
}

TEST_CASE("with no sound spare left the job is requeued") {
    World world(16, 4);
    const Gang gang(world);
    SECTION("used up") {
        for (const char* host : {"n006", "n007"}) {
            world.power_off(host);
            world.run(20);
        }
        CHECK_FALSE(moved(world));
        world.power_off("n001");
    }
    SECTION("lost themselves, which costs the job nothing") {
        world.power_off("n002");
        world.power_off("n008");
        world.run(20);
        CHECK(world.noted("goes on: n002 runs none of its ranks"));
        CHECK_FALSE(moved(world));
        world.power_off("n001");
    }
    SECTION("drained by a person") {
        world.person_drains("n002");
        world.person_drains("n008");
        world.run(2);
        world.power_off("n001");
    }
    world.run(30);
    INFO(world.story());
    CHECK(moved(world));
    CHECK(world.job(gang.job).restarts == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("the host of the batch script cannot be left inside") {
    World world(16, 4);
    const Gang gang(world);
    SECTION("lost") {
        world.power_off("n005");
    }
    SECTION("bad") {
        world.find("n005", Severity::evict);
    }
    world.run(40);
    INFO(world.story());
    CHECK(moved(world));
    CHECK(world.job(gang.job).restarts == 1);
}

TEST_CASE("a railrun that does not follow its order, gives up or dies leaves the job to the queue") {
    World world(16, 4);
    world.follows_orders = false;
    const Gang gang(world);
    world.power_off("n006");
    world.run(15);
    CHECK_FALSE(moved(world));
    SECTION("it hangs") {
        world.run(70);
        CHECK(world.noted("has not begun in"));
    }
    SECTION("it is over") {
        world.end_railrun(gang.job);
        world.run(10);
        CHECK(world.noted("its railrun has given up or ended"));
    }
    world.run(20);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.job(gang.job).restarts == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("an agent that is restarted forgets its railrun for a moment, which is no reason to requeue") {
    World world(16, 4);
    world.follows_orders = false;
    const Gang gang(world);
    const auto run = world.run_of(gang.job);
    world.power_off("n006");
    world.run(10);
    world.end_railrun(gang.job);
    world.run(2);
    world.run_inside(gang.job, 0);
    restart::Report report;
    report.host = "n005";
    report.jobs.push_back({gang.job, 0, world.job(gang.job).uid, {}, run});
    world.send(restart::AgentReported{report});
    CHECK(restart::reply_to(world.state(), report).jobs.at(0).order);
    CHECK_FALSE(moved(world));
}

TEST_CASE("the order outlives restartd") {
    World world(16, 4);
    world.follows_orders = false;
    const Gang gang(world);
    world.power_off("n006");
    world.run(10);
    world.restart_daemon();
    world.follows_orders = true;
    world.run(15);
    INFO(world.story());
    CHECK(world.run_of(gang.job).launch == 1);
    CHECK_FALSE(moved(world));
}

TEST_CASE("observe_only neither orders nor requeues") {
    World world(16, 4);
    world.policy.observe_only = true;
    const Gang gang(world);
    world.power_off("n006");
    world.run(30);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.run_of(gang.job).launch == 0);
    CHECK(world.noted("would start job 1 again inside its allocation"));
    world.policy.observe_only = false;
    world.run(20);
    CHECK(world.run_of(gang.job).launch == 1);
    CHECK_FALSE(moved(world));
}

TEST_CASE("however many hosts it loses before its first checkpoint, the job is not to blame") {
    World world(32);
    world.policy.no_progress = 2;
    const auto job = world.submit({"n001", "n002", "n003", "n004", "n005", "n006", "n007"});
    world.run_inside(job, 4);
    world.run(2);
    for (const std::uint32_t launch : {1U, 2U, 3U}) {
        const auto ranks = base::expand_hostlist(world.run_of(job).hosts);
        REQUIRE(ranks);
        world.power_off(ranks->back() == world.job(job).nodes.front() ? ranks->at(1) : ranks->back());
        world.run(20);
        INFO(world.story());
        CHECK(world.run_of(job).launch == launch);
    }
    CHECK_FALSE(moved(world));
    CHECK_FALSE(world.is_held(job));
}

TEST_CASE("a host that may be lost is told to the job's railrun, whose step has just failed") {
    World world(16, 4);
    const Gang gang(world);
    world.stop_agent("n006");
    world.run(5);
    INFO(world.story());
    restart::Report report;
    report.host = "n005";
    report.jobs.push_back({gang.job, 0, world.job(gang.job).uid, {}, world.run_of(gang.job)});
    CHECK(restart::reply_to(world.state(), report).jobs.at(0).suspected);
    world.start_agent("n006");
    world.run(3);
    CHECK_FALSE(restart::reply_to(world.state(), report).jobs.at(0).suspected);
}
