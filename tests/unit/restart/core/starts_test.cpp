// How long programs need from their start until they work, by the marks of their first steps.
#include "restart/core/estimate/starts.hpp"

#include "restart/core/decide/cost.hpp"
#include "restart/core/learn/learn.hpp"
#include "restart/core/store/state_rows.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace restart;
using namespace std::chrono_literals;

namespace {

constexpr base::Duration configured = 2min;

World training(base::JobId& job) {
    World world(8);
    world.policy.restart_time = configured;
    world.round_trip = 1;
    world.run(10);
    job = world.submit({"n001", "n002"});
    world.job(job).title = "train";
    return world;
}

// The agent of the job's first host says that a process there made its first step so long ago.
void steps(World& world, base::JobId id, double seconds_ago) {
    const auto& job = world.job(id);
    Report report;
    report.host = job.nodes.front();
    report.boot_id = "b-" + report.host;
    JobReport said;
    said.id = id;
    said.epoch = job.restarts;
    said.uid = job.uid;
    const auto& known = world.state().jobs.at(id).run;
    if (known) said.run = world.run_of(id);
    said.stepped_s = seconds_ago;
    report.jobs.push_back(said);
    world.send(AgentReported{report});
}

ProgramTime known(const World& world, std::uint32_t uid = 1000, std::string_view title = "train") {
    return program_time(world.state().programs, uid, title, configured);
}

CostTerm restart_term(const World& world, base::JobId id) {
    const auto& state = world.state();
    return cost_of(state.jobs.at(id), 0.5, "x", state, world.policy, world.now()).terms.at(2);
}

double since_start(const World& world, base::JobId id) {
    return base::to_seconds(world.now() - world.state().jobs.at(id).rm.start);
}

} // namespace

TEST_CASE("a program's first step tells how long its start takes, and a restart's tells it better") {
    base::JobId job{};
    auto world = training(job);
    world.run(20);
    const auto uid = world.job(job).uid;
    CHECK(known(world, uid).count == 0);
    CHECK(restart_term(world, job).time == configured);
    CHECK(restart_term(world, job).from == "[restart] restart_time");

    const auto took = since_start(world, job) - 5;
    steps(world, job, 5);
    CHECK(base::to_seconds(known(world, uid).time) == Approx(took));
    CHECK(restart_term(world, job).from == "as 1 first start of its name took");
    world.run(10);
    steps(world, job, 0); // another process, or the same again
    CHECK(known(world, uid).count == 1);

    for (int restart = 1; restart <= 2; ++restart) {
        world.find(world.job(job).nodes.front(), Severity::fatal);
        world.run(40);
        INFO(world.story());
        REQUIRE(world.job(job).restarts == static_cast<std::uint32_t>(restart));
        REQUIRE(world.job(job).phase == JobPhase::running);
        const auto again = since_start(world, job) - 1;
        steps(world, job, 1);
        CHECK(known(world, uid).count == static_cast<std::size_t>(restart));
        CHECK(known(world, uid).again);
        if (restart == 1) CHECK(base::to_seconds(known(world, uid).time) == Approx(again));
    }
    CHECK(restart_term(world, job).from == "as 2 restarts of its name took on average");

    // Another job of the name knows it from its start; another user's, or another name, does not.
    const auto next = world.submit({"n007", "n008"});
    world.job(next).title = "train";
    world.run(2);
    CHECK(restart_term(world, next).time == known(world, uid).time);
    CHECK(known(world, uid + 1).count == 0);
    CHECK(known(world, uid, "eval").count == 0);
    world.commit(next, 100, 2);
    world.run(2);
    const auto choice = choose_interval(world.state(), world.state().jobs.at(next), world.policy);
    REQUIRE(choice);
    CHECK(choice->program.count == 2);
    CHECK(choice->failure.restart.count() >= base::to_seconds(choice->program.time));
}

TEST_CASE("times that do not belong together tell nothing of a start") {
    base::JobId job{};
    auto world = training(job);
    const auto* what = GENERATE("a clock that was set", "a clock that was set back", "a new life of restartd",
                                "an allocation by hand", "no name");
    INFO(what);
    const std::string_view is = what;
    if (is == "an allocation by hand") world.job(job).interactive = true;
    if (is == "no name") world.job(job).title.clear();
    world.run(5);
    if (is == "a clock that was set") world.sleep(3600);
    if (is == "a clock that was set back") world.sleep(-3600);
    if (is == "a new life of restartd") world.restart_daemon();
    world.run(5);
    steps(world, job, 0);
    CHECK(world.state().programs.empty());
    steps(world, job, 1e300); // a lie: before its start
    CHECK(world.state().programs.empty());
}

TEST_CASE("what was learnt of a start outlives restartd, and a start counts once over both lives") {
    base::JobId job{};
    auto world = training(job);
    world.run(8);
    steps(world, job, 2);
    const auto before = known(world, world.job(job).uid);
    REQUIRE(before.count == 1);
    StateRows rows;
    const auto restored = state_from_rows(rows.changes(world.state()));
    REQUIRE(restored);
    CHECK(restored->programs == world.state().programs);
    world.restart_daemon();
    world.run(8);
    steps(world, job, 0);
    CHECK(known(world, world.job(job).uid).count == 1);
    CHECK(known(world, world.job(job).uid).time == before.time);
}

TEST_CASE("a launch of railrun is a restart of its own, from the moment it was heard of") {
    World world(8);
    world.policy.restart_time = configured;
    world.run(10);
    const auto job = world.submit({"n001", "n002", "n003"});
    world.job(job).title = "train";
    world.run_inside(job, 1);
    world.run(5);
    steps(world, job, 1);
    const auto uid = world.job(job).uid;
    REQUIRE(known(world, uid).count == 1);
    world.power_off("n002");
    world.run(30);
    INFO(world.story());
    REQUIRE(world.run_of(job).launch == 1);
    const auto began = world.state().jobs.at(job).run->began;
    steps(world, job, 29); // still of the launch before
    CHECK_FALSE(known(world, uid).again);
    steps(world, job, 2);
    CHECK(known(world, uid).again);
    CHECK(known(world, uid).time == world.now() - began - base::Duration(2'000));
}

TEST_CASE("what is known of starts is bounded, and the newest stays") {
    Programs programs;
    base::Time now{};
    for (int i = 0; i < 1'000; ++i)
        count_start(programs, 1000, fmt::format("job {}/\x1b\"{}", i, std::string(200, 'x')), i % 2 == 0,
                    std::chrono::seconds(i), now += 1s);
    CHECK(programs.size() == most_programs);
    for (const auto& [key, program] : programs)
        CHECK(key.size() <= longest_title + 11);
    for (int i = 1; i <= 100; ++i)
        count_start(programs, 1000, "train", true, std::chrono::seconds(i), now += 1s);
    const auto time = program_time(programs, 1000, "train", configured);
    CHECK(time.count == most_starts);
    CHECK(time.time == base::Duration(95'500));
    count_start(programs, 1000, "train", true, -1s, now);
    count_start(programs, 1000, "train", true, longest_start + 1s, now);
    CHECK(program_time(programs, 1000, "train", configured).time == base::Duration(95'500));
    CHECK(program_time(programs, 1000, {}, configured).count == 0);
}

TEST_CASE("who starts programs of many names makes nobody else's be forgotten") {
    Programs programs;
    base::Time now{};
    for (std::uint32_t uid = 1; uid <= 100; ++uid)
        count_start(programs, uid, "train", true, 20s, now += 1s);
    for (int i = 0; i < 1'000; ++i)
        count_start(programs, 1000, fmt::format("job{}", i), true, 1s, now += 1s);
    CHECK(programs.size() == most_programs);
    for (std::uint32_t uid = 1; uid <= 100; ++uid)
        CHECK(program_time(programs, uid, "train", configured).count == 1);
    CHECK(program_time(programs, 1000, "job999", configured).count == 1);
    // Another one's first name takes a place of whoever has most.
    count_start(programs, 2000, "train", true, 20s, now += 1s);
    CHECK(programs.size() == most_programs);
    CHECK(program_time(programs, 1, "train", configured).count == 1);
    CHECK(program_time(programs, 2000, "train", configured).count == 1);
}
