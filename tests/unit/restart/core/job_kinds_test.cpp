// Kinds of jobs, for host loss and for a bad host: what can be moved is moved once, what cannot is told to
// its user and to the operator.
#include "world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;

namespace {

std::vector<restart::Action> of_kind(const World& world, ActionKind kind) {
    std::vector<restart::Action> found;
    for (const auto& action : world.actions)
        if (kind_of(action) == kind) found.push_back(action);
    return found;
}

// What the job's user was told, and before which other action.
std::string notice_to(const World& world, base::JobId job) {
    for (const auto& action : world.actions)
        if (const auto* notice = restart::as<restart::NotifyJob>(action);
            notice != nullptr && notice->job.id == job)
            return notice->text;
    return {};
}

bool before(const World& world, ActionKind first, ActionKind second) {
    const auto at = [&](ActionKind kind) {
        return std::find_if(world.actions.begin(), world.actions.end(),
                            [&](const auto& action) { return kind_of(action) == kind; });
    };
    return at(first) < at(second);
}

void make_component(World& world, base::JobId job) {
    auto& rm = world.job(job);
    rm.name = to_string(job);
    rm.components = {{job, rm.name + "+0", {rm.nodes.begin(), rm.nodes.begin() + 2}},
                     {90, rm.name + "+1", {rm.nodes.begin() + 2, rm.nodes.end()}}};
}

} // namespace

TEST_CASE("a task of an array goes by its own name") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.job(job).name = "12_3";
    world.run(2);
    const bool lost = GENERATE(true, false);
    if (lost)
        world.power_off("n002");
    else
        world.find("n002", Severity::fatal);
    world.run(40);
    INFO(world.story());
    const auto requeues = of_kind(world, ActionKind::requeue_job);
    REQUIRE(requeues.size() + of_kind(world, ActionKind::update_job).size() == 1);
    CHECK(world.noted("requeue job 12_3 without n002"));
    CHECK(world.noted("job 12_3 is RUNNING on "));
    CHECK(world.job(job).restarts == 1);
    CHECK(of_kind(world, ActionKind::notify_job).empty());
}

TEST_CASE("a heterogeneous job is moved whole and once, whichever component the fault hurts") {
    World world(12);
    const auto job = world.submit({"n001", "n002", "n003"});
    make_component(world, job);
    world.run(2);
    const bool lost = GENERATE(true, false);
    const auto* host = GENERATE("n001", "n003");
    if (lost)
        world.power_off(host);
    else
        world.find(host, Severity::fatal);
    world.run(40);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.noted(std::string("job 1 moves whole: ") + host + " runs its component 1+" +
                      (host == std::string("n001") ? "0" : "1")));
    CHECK(of_kind(world, ActionKind::requeue_job).size() <= 1);
    const auto& nodes = world.job(job).nodes;
    CHECK(nodes.size() == 3);
    CHECK(std::find(nodes.begin(), nodes.end(), host) == nodes.end());
}

TEST_CASE("a component's processes speak for the whole job") {
    World world(8);
    const auto job = world.submit({"n001", "n002", "n003"});
    make_component(world, job);
    world.run(2);
    restart::Report report;
    report.host = "n003";
    report.jobs.push_back({90, 0, 1000, restart::Commit{700, "/scratch/run/7", world.now(), 0.5, 1}});
    world.send(restart::AgentReported{report});
    REQUIRE(world.state().jobs.at(job).commit.has_value());
    CHECK(world.state().jobs.at(job).commit->step == 700);
    const auto reply = restart::reply_to(world.state(), report);
    REQUIRE(reply.jobs.size() == 1);
    CHECK(reply.jobs[0].id == 90); // by the name the agent knows
}

TEST_CASE("an allocation of salloc or srun cannot be moved, which its user is told before it ends") {
    World world(8);
    world.round_trip = 7;
    const auto job = world.submit({"n001", "n002"}, std::nullopt);
    world.job(job).interactive = true;
    world.run(2);
    const bool lost = GENERATE(true, false);
    if (lost)
        world.power_off("n002");
    else
        world.find("n002", Severity::fatal, "gpu.fell_off");
    world.run(30);
    INFO(world.story());
    CHECK(of_kind(world, ActionKind::requeue_job).empty());
    CHECK(of_kind(world, ActionKind::notify_job).size() == 1);
    CHECK_THAT(notice_to(world, job), Catch::Contains(lost ? "n002 was lost" : "n002 has a fault") &&
                                          Catch::Contains("salloc or srun"));
    CHECK(before(world, ActionKind::notify_job, ActionKind::drain_host));
    CHECK(world.node("n002").drain);
    // It is not ended, be a host of it lost: that is its user's to do, and then the host is set down.
    CHECK(of_kind(world, ActionKind::down_host).empty());
    CHECK(world.job(job).phase == JobPhase::running);
    world.end_job(job);
    world.run(10);
    CHECK(of_kind(world, ActionKind::down_host).size() == (lost ? 1 : 0));
    CHECK(world.node("n002").reason.starts_with("railyard[i-1]: "));
    CHECK(world.state().incidents.empty());
    CHECK(world.noted("job 1 is left to the resource manager: an allocation of salloc or srun"));
}

TEST_CASE("what a job is left for is said to its user, and nothing while only observing") {
    World world(8);
    const auto job = world.submit({"n001"}, false);
    world.run(2);
    SECTION("--restart=never") {
        world.find("n001", Severity::fatal);
        world.run(5);
        CHECK_THAT(notice_to(world, job), Catch::EndsWith("--restart=never"));
    }
    SECTION("observe_only") {
        world.policy.observe_only = true;
        world.find("n001", Severity::fatal);
        world.run(5);
        CHECK(world.noted("--restart=never"));
        CHECK(world.actions.empty());
    }
    SECTION("slurmctld does not know the flag") {
        restart::RmSnapshot snapshot;
        world.job(job).restart.reset();
        world.config = restart::RmConfig{base::Duration(300'000), false, true, {}};
        world.run(2);
        world.find("n001", Severity::fatal);
        world.run(5);
        CHECK_THAT(notice_to(world, job), Catch::Contains("JobSubmitPlugins lacks rail"));
    }
}

TEST_CASE("a host of a thousand small jobs does not keep the others waiting") {
    World world(8);
    for (int i = 0; i < 1000; ++i)
        world.submit({"n001"}, std::nullopt);
    world.power_off("n001");
    world.run(20);
    CHECK(of_kind(world, ActionKind::notify_job).size() == 50);
    CHECK(std::count_if(world.notes.begin(), world.notes.end(), [](const restart::Note& note) {
              return note.kind == restart::NoteKind::decision &&
                     note.text.find("is left to the resource manager") != std::string::npos;
          }) == 1000);
}

TEST_CASE("a job of --no-kill that lost a host before we knew is requeued as asked") {
    World world(8);
    const auto job =
        world.submit({"n001", "n002", "n003"}, GENERATE(std::optional(true), std::optional<bool>()));
    world.run(2);
    world.power_off("n002", 60);
    world.run(1);
    // slurmctld's own judgement: the job goes on without the host.
    world.job(job).nodes = {"n001", "n003"};
    world.job(job).node_count = 2;
    world.rm_sets_down("n002");
    world.run(40);
    INFO(world.story());
    if (world.job(job).restart == true) {
        CHECK(world.job(job).restarts == 1);
        CHECK(world.job(job).excluded.empty()); // our drain keeps it away
        CHECK(of_kind(world, ActionKind::requeue_job).size() == 1);
    } else {
        CHECK(world.job(job).restarts == 0);
        CHECK_THAT(notice_to(world, job), Catch::Contains("n002 was lost"));
    }
}

TEST_CASE("a node that a job gave up long before its host was lost is no loss of the job") {
    World world(8);
    const auto job = world.submit({"n001", "n002", "n003"});
    world.run(2);
    world.job(job).nodes = {"n001", "n003"}; // scontrol update NumNodes=2
    world.run(30);
    world.power_off("n002");
    world.run(40);
    INFO(world.story());
    CHECK(world.job(job).restarts == 0);
    CHECK(of_kind(world, ActionKind::requeue_job).empty());
    CHECK(of_kind(world, ActionKind::notify_job).empty());
}

TEST_CASE("a requeued job that waits long is told why") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.never_restart = true;
    world.job(job).why = "ReqNodeNotAvail, May be reserved for other job";
    world.power_off("n002");
    world.run(90);
    INFO(world.story());
    CHECK(of_kind(world, ActionKind::notify_job).size() == 1);
    CHECK_THAT(notice_to(world, job),
               Catch::Contains("still waited a minute later") && Catch::Contains("ReqNodeNotAvail"));
    CHECK(world.noted("job 1 still waits: ReqNodeNotAvail"));
}
