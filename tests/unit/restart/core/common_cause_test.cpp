// One culprit for many symptoms: one incident, no drain, and jobs that stay while it may come back.
#include "restart/core/detect/common_cause.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <random>

using restart::ActionKind;
using restart::IncidentKind;
using restart::JobPhase;
using restart::Severity;
using namespace std::chrono_literals;

namespace {

std::string name(int i) {
    return fmt::format("n{:03}", i);
}

std::vector<std::string> names(int first, int last) {
    std::vector<std::string> list;
    for (int i = first; i <= last; ++i)
        list.push_back(name(i));
    return list;
}

// The leaf of this rail fails at all hosts first..last, which is all of their unit.
void break_leaf(World& world, int rail, int first, int last) {
    for (int i = first; i <= last; ++i)
        world.find_port(name(i), rail);
}

void mend_leaf(World& world, int rail, int first, int last) {
    for (int i = first; i <= last; ++i)
        world.clear_port(name(i), rail);
}

std::size_t incidents_of(const World& world, IncidentKind kind) {
    return static_cast<std::size_t>(
        std::count_if(world.state().incidents.begin(), world.state().incidents.end(),
                      [&](const auto& entry) { return entry.second.kind == kind; }));
}

const restart::Incident& only(const World& world) {
    REQUIRE(world.state().incidents.size() == 1);
    return world.state().incidents.begin()->second;
}

restart::DownLink uplink(const std::string& leaf, int spine) {
    return {leaf, std::to_string(32 + spine), fmt::format("spine{}", spine), leaf};
}

} // namespace

TEST_CASE("a leaf of 32 hosts that restarts is one incident, no drain and no requeue") {
    World world(64, 32);
    world.wire_up(8);
    world.round_trip = 30;
    const auto wide = world.submit(names(1, 40));
    const auto small = world.submit(names(60, 61));
    world.run(10);
    break_leaf(world, 3, 1, 32);
    world.run(20);
    {
        INFO(world.story());
        CHECK(only(world).kind == IncidentKind::common_cause);
        CHECK(only(world).cause == "leaf switch su1r3");
        CHECK(world.noted("leaf switch su1r3: 32 of its links are bad, at n[001-032]"));
        CHECK(world.noted("jobs stay until 3 min 0 s after it began ([topology] switch_restart)"));
    }
    world.run(80);
    mend_leaf(world, 3, 1, 32);
    world.run(20);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.state().incidents.empty());
    CHECK(world.state().next_incident == 2);
    CHECK_FALSE(world.noted("cleared")); // of 32 hosts, each for itself
    CHECK(world.noted("leaf switch su1r3 is well again after 1 min 41 s"));
    CHECK(world.job(wide).restarts == 0);
    CHECK(world.job(small).restarts == 0);
    REQUIRE(world.state().switch_restarts.size() == 1);

    SECTION("and the next one is given half as long again") {
        break_leaf(world, 5, 33, 64);
        world.run(20);
        CHECK(world.noted("after it began (half as long again as the one restart that was seen)"));
        CHECK(only(world).wait_until - only(world).fault == 151'500ms);
        CHECK(world.actions.empty());
    }
}

TEST_CASE("a leaf that does not come back is left by the jobs that gain by it, within the bounds") {
    World world(64, 32);
    world.wire_up(8);
    world.policy.max_drained_percent = 10; // 7 hosts
    const auto ends = world.submit(names(1, 4));
    world.job(ends).ends = world.now() + 600s;
    const auto large = world.submit(names(5, 9)), little = world.submit(names(10, 11));
    const auto more = world.submit(names(12, 13));
    world.run(10);
    break_leaf(world, 3, 1, 32);
    world.run(170);
    CHECK(world.actions.empty());
    world.run(40);
    INFO(world.story());
    CHECK(world.noted("leaf switch su1r3 has not come back: jobs leave n[001-032] where that costs less"));
    CHECK(world.noted("job 1 stays: waiting costs"));
    CHECK(world.job(ends).restarts == 0);
    CHECK(world.job(large).restarts == 1);  // five hosts gain most,
    CHECK(world.job(little).restarts == 1); // and there is room for two more
    CHECK(world.job(more).restarts == 0);
    CHECK(world.noted(
        "would requeue job 4 (max_drained_percent): no more than 7 hosts are left or drained at a "
        "time"));
    CHECK(world.count(ActionKind::drain_host) == 0);
    CHECK(world.count(ActionKind::down_host) == 0);
    for (const auto job : {large, little})
        for (const auto& node : world.job(job).nodes)
            CHECK(node > "n032");
    CHECK(incidents_of(world, IncidentKind::bad_host) == 0);

    SECTION("and is used again when it is repaired") {
        world.run(600);
        mend_leaf(world, 3, 1, 32);
        world.run(20);
        CHECK(world.state().incidents.empty());
        CHECK(world.count(ActionKind::drain_host) == 0);
        CHECK(world.state().switch_restarts.empty()); // that was no restart
        CHECK(world.job(more).restarts == 0);
    }
}

TEST_CASE("a job that did not outlive a leaf's restart is started again, and the others stay") {
    World world(64, 32);
    world.wire_up(8);
    const auto lost = world.submit(names(1, 4)), other = world.submit(names(5, 8)),
               elsewhere = world.submit(names(60, 61));
    world.run(10);
    break_leaf(world, 3, 1, 32);
    const double after =
        GENERATE(0.0, 1.0, 20.0, 40.0); // before any host has said so, before they are joined, ...
    INFO(after);
    world.run(after);
    const bool late = after > 30;
    if (late) mend_leaf(world, 3, 1, 32); // in the very moment
    world.fail_job(lost, 1);
    if (after == 20.0) world.fail_job(elsewhere, 1); // which has nothing to do with it
    world.run(20);
    if (!late) mend_leaf(world, 3, 1, 32);
    world.run(60);
    INFO(world.story());
    CHECK(world.job(lost).restarts == 1);
    CHECK(world.job(lost).phase == JobPhase::running);
    CHECK(world.job(other).restarts == 0);
    CHECK(world.job(elsewhere).restarts == 0);
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.count(ActionKind::drain_host) + world.count(ActionKind::down_host) == 0);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that can stay on seven of eight rails stays when it ends soon or cannot be moved cheaply") {
    World world(16, 8);
    world.wire_up(8);
    world.mute_jobs = true;
    world.policy.max_drained_percent = 100;
    const auto job = world.submit(names(1, 8));
    world.run(7200);
    world.job(job).ends = world.now() + 3600s; // an eighth of an hour against two hours of lost work
    break_leaf(world, 0, 1, 8);
    world.run(400);
    INFO(world.story());
    CHECK(world.noted("has not come back"));
    CHECK(world.noted("job 1 stays: waiting costs"));
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.count(ActionKind::drain_host) == 0);
}

TEST_CASE("nothing depends on the order of reports of one moment") {
    std::mt19937 draw(3);
    std::optional<restart::State> first;
    for (int round = 0; round < 20; ++round) {
        World world(16, 8);
        world.wire_up(4);
        const auto job = world.submit(names(1, 10));
        world.run(5);
        std::vector<restart::AgentReported> reports;
        for (int i = 1; i <= 8; ++i) {
            restart::Report report;
            report.host = name(i);
            report.boot_id = "b-" + report.host;
            report.findings = {{"ib.link_down", "mlx5_2:1", Severity::evict, world.now(), "state DOWN"}};
            if (i <= 4)
                report.findings.push_back(
                    {"ib.link_down", "mlx5_1:1", Severity::evict, world.now(), "state DOWN"});
            reports.push_back({report});
            world.find_port(name(i), 2);
        }
        std::shuffle(reports.begin(), reports.end(), draw);
        for (const auto& report : reports)
            world.send(report);
        world.send(restart::Tick{});
        INFO(world.story());
        if (!first) {
            first = world.state();
            CHECK(first->incidents.size() == 2); // two leaves; half of the second one's hosts
        }
        CHECK(world.state() == *first);
        CHECK(world.actions.empty());
        CHECK(world.job(job).restarts == 0);
    }
}

TEST_CASE("hosts that see the leaf one after the other are one incident; one alone is its own") {
    World world(32, 16);
    world.wire_up(8);
    const auto job = world.submit(names(1, 2));
    world.run(10);
    const int hosts = GENERATE(1, 16);
    for (int i = 1; i <= hosts; ++i) {
        world.find_port(name(i), 3);
        if (i % 6 == 0) world.run(0.75);
    }
    world.run(20);
    INFO(world.story());
    if (hosts == 1) {
        CHECK(world.count(ActionKind::drain_host) == 1);
        CHECK(world.job(job).restarts == 1);
        CHECK_FALSE(world.noted("leaf switch"));
    } else {
        CHECK(only(world).cause == "leaf switch su1r3");
        CHECK(world.actions.empty());
    }
}

TEST_CASE(
    "incidents of single hosts that came before the cause was seen are joined, and their drains undone") {
    World world(16, 8);
    world.wire_up(8);
    world.run(5);
    world.find_port("n001", 3);
    world.run(10); // a leaf that dies port by port
    CHECK(world.node("n001").drain);
    const auto job = world.submit({"n002", "n003"});
    world.autosave = false;
    world.run(3);
    world.commit(job, 100, 30.0); // it would take 90 s to give up waiting for its next one
    world.run(3);
    world.find_port("n002", 3);
    world.run(5);
    CHECK(world.noted("job 1 is asked to save"));
    for (int i = 3; i <= 8; ++i)
        world.find_port(name(i), 3);
    world.run(20);
    {
        INFO(world.story());
        CHECK(only(world).cause == "leaf switch su1r3");
        CHECK(world.noted("joined in i-3: the cause is leaf switch su1r3"));
        CHECK(world.noted("job 1 goes on where it runs: the cause is leaf switch su1r3"));
        CHECK(world.job(job).restarts == 0);
        CHECK(world.state().hosts.at("n002").faults.empty());
    }
    mend_leaf(world, 3, 1, 8);
    world.run(20);
    INFO(world.story());
    CHECK(world.state().incidents.empty());
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.count(ActionKind::resume_host) == 1);
    CHECK_FALSE(world.node("n001").drain);
}

TEST_CASE("hosts that do not come back with the others are judged alone") {
    World world(32, 16);
    world.wire_up(8);
    const auto job = world.submit({"n001", "n002"}), other = world.submit({"n005", "n006"});
    world.run(5);
    break_leaf(world, 3, 1, 16);
    world.run(60);
    mend_leaf(world, 3, 2, 16); // the cable of n001 did not survive it
    world.run(50);
    CHECK(world.actions.empty());
    world.run(50);
    INFO(world.story());
    CHECK(world.noted("15 of 16 are well again: n001 is judged alone"));
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.node("n001").drain);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(other).restarts == 0);
    CHECK(world.state().incidents.empty());
}

// As a file from iblinkinfo: "n002 HCA-1".
TEST_CASE("a leaf that restarts is one incident whatever the fabric file calls the HCAs") {
    World world(16, 8);
    restart::FabricLoaded fabric;
    for (int i = 1; i <= 16; ++i) {
        fabric.units[name(i)] = i <= 8 ? "su1" : "su2";
        for (int rail = 0; rail < 2; ++rail)
            fabric.ports[name(i)].push_back(
                {fmt::format("HCA-{}:1", rail + 1), rail, fmt::format("su{}r{}", i <= 8 ? 1 : 2, rail), {}});
    }
    world.send(fabric);
    world.port_names = {{"mlx5_0:1", "HCA-1:1"}, {"mlx5_1:1", "HCA-2:1"}};
    const auto job = world.submit(names(1, 8));
    world.run(10);
    break_leaf(world, 1, 1, 8);
    world.run(20);
    INFO(world.story());
    CHECK(only(world).cause == "leaf switch su1r1");
    CHECK(world.count(ActionKind::drain_host) == 0);
    CHECK(world.job(job).restarts == 0);
}

TEST_CASE("both ends of a link between two hosts are one incident") {
    World world(8);
    restart::FabricLoaded fabric;
    for (int i = 1; i <= 8; ++i) {
        fabric.units[name(i)] = "su1";
        fabric.ports[name(i)] = {{"mlx5_0:1", 0, {}, name(i % 2 == 1 ? i + 1 : i - 1) + " mlx5_0:1"}};
    }
    world.send(fabric);
    world.run(5);
    const bool both = GENERATE(true, false);
    world.find_port("n003", 0);
    if (both) world.find_port("n004", 0);
    world.run(20);
    INFO(world.story());
    if (both) {
        CHECK(only(world).cause == "link n003 mlx5_0:1 - n004 mlx5_0:1");
        CHECK(world.count(ActionKind::drain_host) == 0);
    } else {
        CHECK(world.count(ActionKind::drain_host) == 1);
    }
}

TEST_CASE("a spine that a sweep sees dead is one incident in which nothing is moved") {
    World world(64, 8); // 16 leaves
    world.wire_up(2, 4);
    const auto job = world.submit(names(1, 64));
    world.run(5);
    std::vector<restart::DownLink> down;
    for (int unit = 1; unit <= 8; ++unit)
        for (int rail = 0; rail < 2; ++rail)
            down.push_back(uplink(fmt::format("su{}r{}", unit, rail), 2));
    world.sweep(down, GENERATE(true, false));
    world.run(20);
    {
        INFO(world.story());
        CHECK(only(world).cause == "spine switch spine2");
        CHECK(world.noted("spine switch spine2: 16 of its links are down"));
    }
    world.run(300);
    {
        INFO(world.story());
        CHECK(world.noted("has not come back: no host has lost its links, and no job is moved"));
        CHECK(world.job(job).restarts == 0);
        CHECK(world.actions.empty());
    }
    world.sweep({});
    world.run(5);
    INFO(world.story());
    CHECK(world.state().incidents.empty());
}

TEST_CASE("one link between switches is one incident for both of its ends") {
    World world(16, 8);
    world.wire_up(2, 4);
    world.run(5);
    world.sweep({uplink("su1r0", 2)});
    world.run(10);
    INFO(world.story());
    CHECK(only(world).cause == "link spine2 port su1r0 - su1r0 port 34");
    CHECK(world.actions.empty());
    world.sweep({});
    world.run(5);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("links of hosts that are off accuse no switch") {
    World world(16, 8);
    world.wire_up(1, 4);
    for (int i = 1; i <= 8; ++i)
        world.set_away(name(i), true);
    world.run(5);
    std::vector<restart::DownLink> down;
    for (int i = 1; i <= 8; ++i)
        down.push_back({name(i), "mlx5_0:1", "su1r0", std::to_string(i)});
    world.sweep(down);
    world.run(10);
    INFO(world.story());
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a rack's power brake is one incident; its jobs leave when it goes on") {
    World world(32, 16);
    for (int i = 1; i <= 32; ++i)
        world.policy.racks[name(i)] = fmt::format("r{}", (i - 1) / 4);
    world.policy.max_drained_percent = 25;
    const auto job = world.submit(names(1, 4)), other = world.submit(names(5, 6));
    world.run(10);
    for (int i = 1; i <= 4; ++i)
        world.find(name(i), Severity::evict);
    world.run(100);
    {
        INFO(world.story());
        CHECK(only(world).cause == "rack r0");
        CHECK(world.noted("rack r0: the GPUs of 4 of its hosts are slowed: n[001-004]"));
        CHECK(world.actions.empty());
    }
    SECTION("it ends") {
        for (int i = 1; i <= 4; ++i)
            world.clear(name(i));
        world.run(10);
        CHECK(world.state().incidents.empty());
        CHECK(world.actions.empty());
    }
    SECTION("it stays") {
        world.run(120);
        INFO(world.story());
        CHECK(world.job(job).restarts == 1);
        CHECK(world.job(job).phase == JobPhase::running);
        CHECK(world.job(other).restarts == 0);
        CHECK(world.count(ActionKind::drain_host) == 0);
    }
}

TEST_CASE("hosts of a unit that were judged alone are joined where no rack is known") {
    World world(16, 8);
    for (int i = 1; i <= 8; ++i)
        world.find(name(i), Severity::evict);
    world.run(30);
    INFO(world.story());
    CHECK(incidents_of(world, IncidentKind::common_cause) == 1);
    CHECK(world.count(ActionKind::drain_host) <= 8);
}

TEST_CASE("what began at different times has no common cause") {
    World world(16, 8);
    world.wire_up(8);
    world.policy.max_drained_percent = 100;
    for (int i = 1; i <= 5; ++i) {
        world.find_port(name(i), 3);
        world.find(name(i + 8), Severity::evict);
        world.run(400);
    }
    INFO(world.story());
    CHECK(incidents_of(world, IncidentKind::common_cause) == 0);
    CHECK(world.count(ActionKind::drain_host) == 10);
    CHECK_FALSE(world.noted("one fault"));
}

TEST_CASE("a fatal finding on a host of a failed leaf is handled at once") {
    World world(16, 8);
    world.wire_up(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    break_leaf(world, 3, 1, 8);
    world.run(20);
    world.find("n002", Severity::fatal, "gpu.lost");
    world.run(10);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.node("n002").drain);
    CHECK_FALSE(world.node("n001").drain);
}

TEST_CASE("observe_only tells what a leaf's jobs would do, once") {
    World world(16, 8);
    world.wire_up(8);
    world.policy.observe_only = true;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    break_leaf(world, 3, 1, 8);
    world.run(400);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.job(job).restarts == 0);
    CHECK(std::count_if(world.notes.begin(), world.notes.end(), [](const restart::Note& note) {
              return note.text.find("would requeue job 1 (observe_only)") != std::string::npos;
          }) == 1);
}
