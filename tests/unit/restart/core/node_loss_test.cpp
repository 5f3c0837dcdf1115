#include "restart/core/detect/witnesses.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;

namespace {

restart::RmConfig giving_up_after(base::Duration silence) {
    return {silence, true, true, {}};
}

} // namespace

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
    CHECK(world.job(job).excluded.empty()); // the drain keeps it away
    CHECK(world.job(job).restarts == 1);
    CHECK(world.noted("second witness: the resource manager says IDLE*"));
    CHECK(world.noted("job 1 is RUNNING on n[001-002,004-005] (restart 1)"));
    CHECK(world.noted("kept 5.0 s (checkpoint of step 400)"));
    CHECK(world.noted("closed; n003 stays out of use until its repair or railctl resume gives it back"));
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
        const auto notes_before = world.notes.size();
        world.run(120);
        CHECK(world.notes.size() == notes_before);
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
        world.send(restart::FabricSwept{sweep});
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
        world.send(restart::FabricSwept{sweep});
        CHECK(world.noted("all 8 links are down in the fabric"));
        CHECK(world.count(ActionKind::down_host) == 1);
    }
    SECTION("but not in one that ended early") {
        world.send(restart::FabricSwept{sweep});
        CHECK(world.actions.empty());
    }
    SECTION("nor when one link is up") {
        sweep.complete = true;
        sweep.hosts["n002"] = {1, 8};
        world.send(restart::FabricSwept{sweep});
        CHECK(world.actions.empty());
    }
}

TEST_CASE("what was broken long before the silence is no witness") {
    World world(4);
    world.node("n002").not_responding = true; // slurmd died, the host lives
    restart::FabricReport sweep;
    sweep.complete = true;
    sweep.hosts["n003"] = {0, 8};
    world.send(restart::FabricSwept{sweep});
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
    CHECK(world.noted("of 8 agents are silent"));
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

TEST_CASE("hosts that the fabric knows to be lost do not make a mass of the next one") {
    World world(8);
    world.policy.max_drained_percent = 100;
    restart::FabricReport sweep;
    sweep.complete = true;
    for (const auto* host : {"n001", "n002", "n003", "n004", "n005", "n006"}) {
        world.power_off(host);
        sweep.hosts[host] = {0, 8};
        world.run(1);
        world.send(restart::FabricSwept{sweep});
        world.run(14);
    }
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 6);
}

TEST_CASE("hosts that go silent one by one are not half of all hosts by the resource manager's word alone") {
    World world(16);
    world.policy.max_drained_percent = 100;
    world.policy.group_wait = base::Duration(3'600'000);
    const auto job = world.submit({"n009", "n010"});
    world.round_trip = 50;
    const auto name = [](int i) { return (i < 10 ? "n00" : "n0") + std::to_string(i); };
    for (int i = 1; i <= 12;
         ++i) { // each is given up 300 s after its silence: when the next but one is silent
        world.power_off(name(i), 100.0);
        if (i > 2) world.rm_sets_down(name(i - 2));
        world.run(240);
    }
    for (int i = 11; i <= 12; ++i)
        world.rm_sets_down(name(i));
    world.run(600);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) > 3); // as long as it could be the hosts
    CHECK(world.count(ActionKind::down_host) < 8);
    CHECK(world.noted("8 of 16 agents are silent"));
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.has_job(job));
    for (int i = 1; i <= 12; ++i)
        world.start_agent(name(i));
    world.run(30);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a witness that comes after minutes is heard, also when restartd paused or was started meanwhile") {
    World world(8);
    world.config = giving_up_after(base::Duration(300'000));
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    world.power_off("n002", 90.0);
    world.run(120);
    INFO(world.story());
    REQUIRE(world.noted(
        "suspicion dropped, the agent alone may have died; taken up again when the resource manager "
        "gives it up, 5 min 0 s after its last answer"));
    const auto* meanwhile = GENERATE("nothing", "a pause", "a restart", "a person's drain");
    if (meanwhile == std::string_view("a pause")) world.sleep(10);
    if (meanwhile == std::string_view("a restart")) world.restart_daemon();
    if (meanwhile == std::string_view("a person's drain")) world.person_drains("n002");
    world.run(180);
    CHECK(world.actions.empty());
    world.rm_sets_down("n002");
    if (meanwhile == std::string_view("a person's drain")) {
        world.node("n002").automatic = false; // its reason is the person's
        world.node("n002").reason = "fan";
    }
    world.run(8);
    CHECK(world.state().hosts.at("n002").lost);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.node("n002").drain);
    CHECK(world.count(ActionKind::update_job) >= 1);
}

TEST_CASE("who can confirm a loss, and how soon, is told") {
    World world(4);
    const auto look = [&] { return restart::witnesses_of(world.state(), world.policy, world.now()); };
    const auto text = [&](std::size_t i) { return restart::sentences(look()).at(i); };
    CHECK(text(0) == "agents: 4 of 4 hosts are heard");
    CHECK(text(1) == "the fabric: no sweep has come (fabricwatchd(8))");
    CHECK(text(2) == "the resource manager: it has not told when it gives a silent host up");
    world.config = giving_up_after(base::Duration(300'000));
    world.add_silent_host("n900");
    world.run(2);
    CHECK(text(0) == "agents: 4 of 5 hosts are heard");
    CHECK(text(2) == "the resource manager: gives a silent host up after 5 min 0 s");
    CHECK(look().slow);
    restart::FabricReport sweep;
    sweep.complete = true;
    world.send(restart::FabricSwept{sweep});
    world.run(2);
    CHECK(text(1) == "the fabric: swept 2.0 s ago");
    CHECK_FALSE(look().slow);
    world.run(120);
    CHECK(text(1) == "the fabric: swept 2 min 2 s ago, too long to be a witness (fabricwatchd(8))");
    CHECK(look().slow);
    world.config = giving_up_after(base::Duration(20'000));
    world.run(2);
    CHECK_FALSE(look().slow);
    world.config = giving_up_after(base::Duration(0));
    world.run(2);
    CHECK(text(2) == "the resource manager: it never gives a silent host up");
    CHECK(look().slow);
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

TEST_CASE("nobody is blamed for a clock that is set by what comes before the next tick") {
    World world(4);
    const auto job = world.submit({"n002", "n003"});
    world.run(3);
    restart::FabricReport sweep; // all its links are down, and its agent reports
    sweep.complete = true;
    sweep.hosts_seen = 3;
    sweep.hosts["n002"] = {0, 8};
    for (int i = 0; i < 10; ++i) {
        world.send(restart::FabricSwept{sweep});
        world.run(2);
    }
    const auto before = world.job(job).restarts;
    world.sleep(3600);
    world.send(restart::FabricSwept{sweep});
    world.run(3);
    INFO(world.story());
    CHECK_FALSE(world.noted("second witness"));
    CHECK(world.job(job).restarts == before);
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
    CHECK(world.noted("job " + to_string(never) + " is left to the resource manager: --restart=never"));
    CHECK(world.noted("job " + to_string(silent) +
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
    CHECK(world.job(job).excluded.empty());
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
