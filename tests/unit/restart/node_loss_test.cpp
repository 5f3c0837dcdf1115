#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;

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
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.count(ActionKind::drain_host) == 0);
    CHECK(world.node("n003").down);
    CHECK(world.node("n003").drain);
    CHECK_THAT(world.node("n003").reason, Catch::StartsWith("railyard[i-1]: host lost: agent silent for 3."));
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).nodes == std::vector<std::string>{"n001", "n002", "n004", "n005"});
    CHECK(world.job(job).excluded == std::vector<std::string>{"n003"});
    CHECK(world.job(job).restarts == 1);
    CHECK(world.noted("second witness: the resource manager says IDLE*"));
    CHECK(world.noted("job 1 is RUNNING on n[001-002,004-005] (restart 1)"));
    CHECK(world.noted("kept 5.0 s (checkpoint of step 400)"));
    CHECK(world.noted("closed; n003 stays out of use until it is resumed"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("silence alone drains nobody") {
    World world(4);
    world.submit({"n001", "n002"});
    world.stop_agent("n002");
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.noted("no second witness in 30.0 s: suspicion dropped"));
    CHECK(world.state().incidents.empty());

    SECTION("it is not suspected again until its agent has reported") {
        const auto told = world.notes.size();
        world.run(120);
        CHECK(world.notes.size() == told);
        world.start_agent("n002");
        world.run(5);
        world.power_off("n002");
        world.run(10);
        CHECK(world.count(ActionKind::down_host) == 1);
    }
}

TEST_CASE("a witness that comes late still counts when it is sure") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    world.power_off("n002", 100.0);
    world.run(50);
    REQUIRE(world.noted("suspicion dropped"));

    SECTION("slurmctld gave the host up and has requeued the job") {
        world.rm_sets_down("n002");
        world.run(8);
        CHECK(world.count(ActionKind::down_host) == 1); // for its drain
        CHECK(world.count(ActionKind::update_job) >= 1);
        CHECK(world.job(job).phase == JobPhase::running);
    }
    SECTION("the fabric lost its links") {
        restart::FabricReport sweep;
        sweep.complete = true;
        sweep.hosts["n002"] = {0, 8};
        world.tell(restart::FabricSwept{sweep});
        world.run(8);
        CHECK(world.count(ActionKind::requeue_job) == 1);
        CHECK(world.job(job).phase == JobPhase::running);
    }
    SECTION("an unanswered ping is not sure") {
        world.node("n002").not_responding = true;
        world.run(40);
        CHECK(world.actions.empty());
    }
    INFO(world.story());
    CHECK(world.state().incidents.empty());
}

TEST_CASE("an agent that reports again ends the suspicion") {
    World world(4);
    world.stop_agent("n002");
    world.run(6);
    CHECK(world.state().incidents.size() == 1);
    world.start_agent("n002");
    world.run(2);
    INFO(world.story());
    CHECK(world.state().incidents.empty());
    CHECK(world.noted("reports again: suspicion dropped"));
    CHECK(world.actions.empty());
}

TEST_CASE("an agent that was never heard is not suspected") {
    World world(4);
    world.add_silent_host("n900");
    world.node("n900").not_responding = true;
    world.run(60);
    CHECK(world.actions.empty());
    CHECK(world.notes.empty());
}

TEST_CASE("the fabric is a witness when all links of the host are down") {
    World world(4);
    world.stop_agent("n002");
    restart::FabricReport sweep;
    sweep.hosts["n002"] = {0, 8};
    world.run(4);

    SECTION("in a complete sweep") {
        sweep.complete = true;
        world.tell(restart::FabricSwept{sweep});
        CHECK(world.noted("all 8 links are down in the fabric"));
        CHECK(world.count(ActionKind::down_host) == 1);
    }
    SECTION("but not in one that ended early") {
        world.tell(restart::FabricSwept{sweep});
        CHECK(world.actions.empty());
    }
    SECTION("nor when one link is up") {
        sweep.complete = true;
        sweep.hosts["n002"] = {1, 8};
        world.tell(restart::FabricSwept{sweep});
        CHECK(world.actions.empty());
    }
}

TEST_CASE("what was broken long before the silence is no witness") {
    World world(4);
    world.node("n002").not_responding = true; // slurmd died, the host lives
    restart::FabricReport sweep;
    sweep.complete = true;
    sweep.hosts["n003"] = {0, 8};
    world.tell(restart::FabricSwept{sweep});
    world.run(120);
    world.stop_agent("n002");
    world.stop_agent("n003");
    world.run(20);
    INFO(world.story());
    CHECK(world.actions.empty());
}

TEST_CASE("many silent agents at once are one incident that only watches") {
    World world(8);
    world.submit({"n001", "n002"});
    for (const auto* host : {"n001", "n002", "n003", "n004", "n005"})
        world.power_off(host, 2.0);
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.state().incidents.size() == 1);
    CHECK(world.noted("of 8 agents fell silent at once"));
    for (const auto* host : {"n001", "n002", "n003", "n004", "n005"})
        world.start_agent(host);
    world.run(10);
    CHECK(world.state().incidents.empty());
    CHECK(world.actions.empty());
}

TEST_CASE("two hosts of many are two losses") {
    World world(8);
    world.power_off("n001");
    world.power_off("n002");
    world.run(15);
    CHECK(world.count(ActionKind::down_host) == 2);
}

TEST_CASE("hosts already lost do not make a mass of the next one") {
    World world(8);
    world.policy.max_drained_percent = 100;
    for (const auto* host : {"n001", "n002", "n003", "n004", "n005", "n006"}) {
        world.power_off(host);
        world.run(15);
    }
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 6);
}

TEST_CASE("after a restart of the daemon every agent gets a fresh grace") {
    World world(4);
    world.sleep(600); // the daemon was away
    world.node("n002").not_responding = true;
    world.restart_daemon();
    world.run(4);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.notes.empty());
}

TEST_CASE("a pause of the daemon blames nobody") {
    World world(4);
    world.node("n002").not_responding = true;
    world.sleep(30);
    world.run(3);
    CHECK(world.actions.empty());
    world.sleep(-3600); // a clock set back
    world.run(3);
    CHECK(world.actions.empty());
}

TEST_CASE("jobs that are not ours to restart are left to the resource manager") {
    World world(8);
    const auto never = world.submit({"n001"}, false);
    const auto silent = world.submit({"n002", "n003"}, std::nullopt);
    world.power_off("n001");
    world.run(15);
    world.power_off("n002");
    world.run(15);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 2);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.noted("job " + std::to_string(never) + " is left to the resource manager: --restart=never"));
    CHECK(world.noted("job " + std::to_string(silent) +
                      " is left to the resource manager: it was submitted without"));
}

TEST_CASE("a job the resource manager has requeued first is let begin without the lost host") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    world.power_off("n002", 0.5);
    world.rm_sets_down("n002");
    world.run(8);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.count(ActionKind::update_job) >= 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).excluded == std::vector<std::string>{"n002"});
}

TEST_CASE("a job whose processes take long to end is not put off") {
    World world(8);
    world.end_delay = 7;
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    world.power_off("n002");
    world.run(16);
    INFO(world.story());
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.count(ActionKind::update_job) == 1);
}
