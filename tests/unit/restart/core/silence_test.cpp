// Many hosts silent at once: a network, a rack, this daemon or a plan of the resource manager, and seldom the
// hosts.
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using restart::ActionKind;
using restart::JobPhase;

namespace {

std::string name(int i) {
    return fmt::format("n{:03}", i);
}

// The management network of hosts first..last fails: neither restartd nor slurmctld hears them, but they
// live.
void partition(World& world, int first, int last) {
    for (int i = first; i <= last; ++i)
        world.power_off(name(i), 1.0);
}

void mend(World& world, int first, int last) {
    for (int i = first; i <= last; ++i)
        world.start_agent(name(i));
}

restart::FabricSwept dark(int first, int last) {
    restart::FabricReport sweep;
    sweep.complete = true;
    for (int i = first; i <= last; ++i)
        sweep.hosts[name(i)] = {0, 8};
    return {sweep};
}

} // namespace

TEST_CASE("a partition of less than half sets nobody down") {
    const int silent = GENERATE(3, 10, 49);
    World world(100);
    const auto job = world.submit({"n001", "n002", "n099"});
    world.run(2);
    partition(world, 1, silent);
    world.run(120);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.job(job).phase == JobPhase::running);
    REQUIRE(world.state().incidents.size() == 1);
    CHECK(world.noted(fmt::format("{} of 100 agents are silent", silent)));
    mend(world, 1, silent);
    world.run(20);
    CHECK(world.state().incidents.empty());
    CHECK(world.noted("of 100 agents report again"));
    CHECK(world.actions.empty());
}

TEST_CASE("the note of a group names its hosts, and a unit where all are of one") {
    World world(32);
    partition(world, 9, 16);
    world.run(10);
    INFO(world.story());
    CHECK(world.noted("8 of 32 agents are silent: n[009-016] (8 of the 8 agents of unit su2)"));
}

TEST_CASE("the fabric shows which of a silent group are lost, at once") {
    World world(100);
    world.policy.max_drained_percent = 100;
    const auto job = world.submit({"n001", "n099"});
    const auto other = world.submit({"n020", "n021"});
    world.run(2);
    partition(world, 1, 49);
    world.run(5);
    REQUIRE(world.actions.empty());
    world.send(dark(1, 8)); // a rack without power behind a network that failed
    world.run(10);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 8);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(other).restarts == 0);
}

TEST_CASE("a rack without power is found as soon as a single host is") {
    World world(100);
    world.policy.max_drained_percent = 100;
    const auto job = world.submit({"n001", "n099"});
    world.run(2);
    partition(world, 1, 8);
    const bool swept_first = GENERATE(true, false);
    if (swept_first) world.send(dark(1, 8));
    world.run(4);
    if (!swept_first) world.send(dark(1, 8));
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 8);
    world.run(5);
    CHECK(world.job(job).restarts == 1);
    for (const auto& [number, incident] : world.state().incidents)
        CHECK(incident.kind != restart::IncidentKind::mass_silence);
}

TEST_CASE(
    "half of all hosts, or all but two, without power: every job is elsewhere at once, each moved once") {
    const int gone = GENERATE(50, 98);
    World world(100); // with the bounds that a site has by default: they keep no recovery back
    const auto inside = world.submit({"n010", "n011"});
    const auto across = world.submit({"n050", "n100"});
    const auto outside = world.submit({"n099"});
    world.run(2);
    partition(world, 1, gone);
    world.run(1);
    world.send(dark(1, gone));
    world.run(5);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == static_cast<std::size_t>(gone));
    CHECK(world.job(inside).restarts == 1);
    CHECK(world.job(across).restarts == 1);
    CHECK(world.job(outside).restarts == 0);
    world.run(300);
    CHECK(world.job(inside).restarts == 1);
    CHECK(world.job(across).restarts == 1);
    CHECK(world.job(outside).phase == JobPhase::running);
    if (gone == 50) {
        CHECK(world.job(inside).phase == JobPhase::running);
        CHECK(world.job(across).phase == JobPhase::running);
        CHECK(world.state().incidents.empty());
    }
    mend(world, 1, gone); // the power is back
    world.run(30);
    for (int i = 1; i <= gone; ++i)
        world.send(restart::OperatorResume{name(i), "alice"});
    world.run(30);
    CHECK(world.state().incidents.empty());
    for (const auto& job : {inside, across}) {
        CHECK(world.job(job).phase == JobPhase::running);
        CHECK(world.job(job).restarts == 1);
    }
}

TEST_CASE(
    "a silent group is held back for a time, then each is judged by what the resource manager decides") {
    World world(16);
    world.policy.max_drained_percent = world.policy.max_lost_percent = 100;
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    partition(world, 1, 12);
    world.run(300);
    for (int i = 1; i <= 11; ++i)
        world.rm_sets_down(name(i)); // SlurmdTimeout; one still has only unanswered pings
    world.run(280);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 0);
    world.run(40);
    CHECK(world.count(ActionKind::down_host) == 11);
    CHECK(world.noted("look at the network"));
    CHECK_FALSE(world.state().hosts.at("n012").lost);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).nodes == std::vector<std::string>{"n013", "n014"});
}

TEST_CASE("drains after a silence of many keep to the bounds") {
    World world(40);
    world.policy.max_drained_percent = 10;
    partition(world, 1, 39);
    world.run(300);
    for (int i = 1; i <= 39; ++i)
        world.rm_sets_down(name(i));
    world.run(600);
    INFO(world.story());
    CHECK(restart::drained_by_us(world.state()) == 4);
}

TEST_CASE(
    "hosts that lose the network one a minute are not set down by the ping beyond the bound of drains") {
    World world(100);
    world.policy.max_drained_percent = 10;
    for (int i = 1; i <= 45; ++i) {
        world.power_off(name(i), 1.0);
        world.run(90);
    }
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) <= 11);
    CHECK(world.count(ActionKind::down_host) >= 5);
    mend(world, 1, 45);
    world.run(30);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("two of a group that are dead in truth are found when the others are back") {
    World world(100);
    const auto job = world.submit({"n001", "n050"});
    world.run(2);
    partition(world, 1, 20);
    world.run(60);
    mend(world, 3, 20);
    world.run(15); // the network may come back for these as well
    CHECK(world.count(ActionKind::down_host) == 0);
    world.run(30);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 2);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("hosts in power saving are neither suspected nor counted") {
    World world(100);
    world.round_trip = 40;
    const auto job = world.submit({"n098", "n099"});
    world.run(2);
    for (int i = 1; i <= 60; ++i)
        world.set_away(name(i), true);
    world.run(600);
    {
        INFO(world.story());
        CHECK(world.actions.empty());
        CHECK(world.state().incidents.empty());
    }
    world.power_off("n098"); // recovery is not switched off
    world.run(15);
    {
        INFO(world.story());
        CHECK(world.count(ActionKind::down_host) == 1);
        CHECK(world.job(job).restarts == 1);
    }
    // They come back; one of them never.
    for (int i = 1; i <= 59; ++i)
        world.set_away(name(i), false);
    world.set_away("n060", false);
    world.power_off("n060", 0.25);
    world.run(30);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 2);
    CHECK(world.state().hosts.at("n060").lost);
}

TEST_CASE("hosts that are drained or down by others do not count among the silent") {
    World world(20);
    const auto job = world.submit({"n019", "n020"});
    world.run(2);
    for (int i = 1; i <= 12; ++i) {
        world.person_drains(name(i));
        world.run(2);
        world.power_off(name(i)); // for hands
    }
    world.run(60);
    world.power_off("n020");
    world.run(15);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("a commit shows that all hosts of its job live") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    world.stop_agent("n002");
    world.node("n002").not_responding = false;
    for (int i = 1; i <= 10; ++i) {
        world.run(2);
        world.commit(job, static_cast<std::uint64_t>(100 * i));
    }
    world.power_off("n002", 0.25); // only its second network: slurmctld hears it no longer, the job goes on
    for (int i = 11; i <= 40; ++i) {
        world.run(2);
        world.commit(job, static_cast<std::uint64_t>(100 * i));
    }
    {
        INFO(world.story());
        CHECK(world.actions.empty());
    }
    world.rm_sets_down("n002"); // that is the end of it, whatever commits said
    world.run(10);
    INFO(world.story());
    CHECK(world.state().hosts.at("n002").lost);
}

TEST_CASE("losses that the resource manager alone confirms are bounded; the fabric's are not") {
    World world(60, 20);
    world.policy.max_drained_percent = 100;
    SECTION("in all") {
        world.policy.max_lost_percent = 10;
    }
    SECTION("in a unit") {
        world.policy.max_lost_percent = 100;
        world.policy.max_lost_per_unit = 6;
    }
    const auto job = world.submit({"n015", "n016"});
    world.run(2);
    partition(world, 1, 18);
    world.run(300);
    for (int i = 1; i <= 18; ++i)
        world.rm_sets_down(name(i)); // SlurmdTimeout
    world.run(600);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 6);
    CHECK(std::count_if(world.notes.begin(), world.notes.end(),
                        [](const restart::Note& note) { return note.alert; }) == 1);
    CHECK(world.noted("no further silent host is taken for lost but by the fabric"));
    world.send(dark(1, 18)); // it was no partition: all are lost in truth
    world.run(30);
    CHECK(world.count(ActionKind::down_host) == 18);
    CHECK(world.job(job).phase == JobPhase::running);
}

TEST_CASE("more losses are believed when the window has passed") {
    World world(60, 20);
    world.policy.max_drained_percent = 100;
    world.policy.max_lost_percent = 10;
    partition(world, 1, 8);
    world.run(300);
    for (int i = 1; i <= 8; ++i)
        world.rm_sets_down(name(i));
    world.run(600);
    CHECK(world.count(ActionKind::down_host) == 6);
    world.restart_daemon();
    world.run(3600);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 8);
}
