// What is left over of gangs on their hosts, and gangs whose processes were ended while a host was cut off.
#include "restart/core/facts/kept_jobs.hpp"

#include "world.hpp"

#include <catch2/catch.hpp>

#include <set>

using restart::ActionKind;
using restart::JobPhase;
using restart::Kept;

namespace {

const std::vector<std::string> first_two{"n001", "n002"}, next_two{"n003", "n004"};

base::JobId running_gang(World& world, const std::vector<std::string>& hosts = first_two) {
    const auto job = world.submit_gang(static_cast<std::uint32_t>(hosts.size()));
    world.run(2);
    world.plan(job, hosts);
    world.run(5);
    REQUIRE(world.job(job).phase == JobPhase::running);
    for (const auto& host : hosts)
        world.keep(host, job, Kept::here);
    world.run(5);
    return job;
}

} // namespace

TEST_CASE("processes of a gang that runs where they are go on") {
    World world(8);
    running_gang(world);
    world.run(30);
    CHECK(world.told_to_end.empty());
    CHECK(restart::hosts_with_left_overs(world.state()).empty());
}

TEST_CASE("what is left over of a gang that waits again is ended, and its host gets no gang until then") {
    World world(8);
    const auto job = running_gang(world);
    world.never_restart = true;
    world.job(job).phase = JobPhase::pending; // LSF has rerun it
    world.job(job).nodes.clear();
    ++world.job(job).restarts;
    world.run(1.5);
    CHECK(restart::hosts_with_left_overs(world.state()) == std::set<std::string>{"n001", "n002"});
    world.run(5);
    INFO(world.story());
    REQUIRE(world.told_to_end["n001"].size() == 1);
    CHECK_THAT(world.told_to_end["n001"][0], Catch::EndsWith("waits to be started again"));
    CHECK(world.told_to_end["n002"].size() == 1);
    CHECK(restart::hosts_with_left_overs(world.state()).empty());
}

TEST_CASE("what runs where it was placed again is not taken for left over") {
    World world(8);
    const auto job = running_gang(world);
    world.job(job).phase = JobPhase::pending;
    world.job(job).nodes.clear();
    ++world.job(job).restarts;
    for (const auto& host : first_two)
        world.release(host, job);
    world.run(2);
    // It is started, and its processes are reported before the resource manager shows it.
    world.gang_start_delay = 20;
    world.plan(job, next_two);
    for (const auto& host : next_two)
        world.keep(host, job, Kept::here);
    world.run(40);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.told_to_end.empty());
}

TEST_CASE("while the resource manager does not answer nothing is taken for left over") {
    World world(8);
    const auto job = running_gang(world);
    world.rm_answers = false;
    world.run(5);
    world.keep("n005", job, Kept::here); // started there, and restartd knows an older state only
    world.run(60);
    CHECK(world.told_to_end.empty());
}

TEST_CASE("what a gang's first host leaves behind when it is lost is ended before it starts again") {
    World world(8);
    const auto job = running_gang(world, {"n001", "n002", "n003"});
    world.job(job).restart = true;
    world.never_restart = true;
    world.power_off("n001");
    world.run(20);
    INFO(world.story());
    CHECK(world.told_to_end["n002"].size() == 1);
    CHECK(world.told_to_end["n003"].size() == 1);
    CHECK_FALSE(world.told_to_end.contains("n001"));
}

TEST_CASE("another user's claim ends nothing") {
    World world(8);
    const auto job = running_gang(world);
    restart::Report report;
    report.host = "n005";
    report.jobs.push_back({job, 0, world.job(job).uid + 1, std::nullopt});
    report.jobs.back().kept = Kept::here;
    for (int i = 0; i < 10; ++i) {
        world.send(restart::AgentReported{report});
        CHECK(restart::reply_to(world.state(), report).ends.empty());
        world.run(1);
    }
    CHECK(restart::hosts_with_left_overs(world.state()).empty());
}

TEST_CASE("a gang whose processes were ended while its host was cut off is requeued, once") {
    World world(8);
    const auto job = running_gang(world);
    const auto before = world.job(job).restarts;
    world.keep("n001", job, Kept::ended);
    world.run(6);
    INFO(world.story());
    CHECK(world.noted("n001 was cut off, and its processes there were ended: it is requeued"));
    world.release("n001", job);
    world.release("n002", job);
    world.run(10);
    CHECK(world.job(job).restarts == before + 1);
    CHECK(world.count(ActionKind::requeue_job) == 1);
}

TEST_CASE("witnesses are sound, of all places, others for each host, and few") {
    World world(64);
    world.run(3);
    auto state = world.state();
    int number = 0;
    for (auto& [name, host] : state.hosts) {
        host.node->address = name;
        host.node->port = 6882;
        host.unit = number % 4 == 0 ? "su1" : number % 4 == 1 ? "su2" : "su3";
        ++number;
    }
    state.hosts.at("n007").lost = true;
    std::set<std::string> chosen;
    for (const auto& [name, host] : state.hosts) {
        const auto witnesses = restart::witnesses_for(state, name);
        REQUIRE(witnesses.size() == restart::most_witnesses);
        std::set<std::string> units;
        for (const auto& witness : witnesses) {
            CHECK(witness.host != name);
            chosen.insert(witness.host);
            units.insert(state.hosts.at(witness.host).unit);
        }
        CHECK(units.size() == 3);
    }
    CHECK(chosen.size() > 48);
    CHECK_FALSE(chosen.contains("n007"));
    for (auto& [name, host] : state.hosts)
        host.node->port = 0; // nowhere is known where to look
    CHECK(restart::witnesses_for(state, "n001").empty());
}
