// Jobs that fail by themselves: which are started again, which are not, and when it is enough.
#include "world.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;

namespace {

base::JobId submit(World& world, std::string_view on) {
    const auto job = world.submit({"n001", "n002"});
    world.job(job).restart_on = *sched::parse_restart_on(on);
    return job;
}

// Runs until the job runs, then a while.
void run_on(World& world, base::JobId job, double seconds = 5) {
    for (int tries = 0; tries < 60 && world.job(job).phase != JobPhase::running; ++tries)
        world.run(1);
    REQUIRE(world.job(job).phase == JobPhase::running);
    world.run(seconds);
}

const restart::RequeueJob* last_requeue(const World& world) {
    for (auto at = world.actions.rbegin(); at != world.actions.rend(); ++at)
        if (const auto* requeue = restart::as<restart::RequeueJob>(*at)) return requeue;
    return nullptr;
}

// A host of the job loses power, and its communication library fails on the other one; it is told so late
// that its requeue comes first.
base::JobId fail_beside_a_lost_host(World& world, std::uint32_t code) {
    world.failure_settles = 8;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.power_off("n002");
    world.run(0.25);
    world.fail_job(job, code);
    return job;
}

} // namespace

TEST_CASE("an error of the application is no error of a host") {
    World world(8);
    world.round_trip = 5;
    const auto job = submit(world, "host");
    world.run(5);
    world.fail_job(job, 1);
    world.run(60);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.noted("job 1 failed by itself (exit status 1) and is not started again (--restart-on=host)"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("which exit statuses start a job again is its user's to say") {
    struct Case {
        const char* on;
        std::uint32_t code;
        bool again;
    };
    const auto one = GENERATE(Case{"any", 1, true}, Case{"any", 137, true}, Case{"any", 93, false},
                              Case{"2,40-50", 2, true}, Case{"2,40-50", 45, true}, Case{"2,40-50", 51, false},
                              Case{"90-99", 93, false}, Case{"139", 139, true}, Case{"host", 137, false});
    World world(8);
    world.round_trip = 7;
    const auto job = submit(world, one.on);
    world.run(5);
    world.commit(job, 1200);
    world.run(3);
    world.fail_job(job, one.code);
    world.run(20);
    INFO(one.on << " " << one.code << "\n" << world.story());
    CHECK(world.job(job).restarts == (one.again ? 1 : 0));
    CHECK(world.job(job).phase == (one.again ? JobPhase::running : JobPhase::ended));
    CHECK(world.count(ActionKind::drain_host) + world.count(ActionKind::down_host) == 0);
    CHECK(world.noted("job 1 is started again from step 1200") == one.again);
    CHECK(world.noted("job 1 is RUNNING on ") == one.again);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job whose host was lost is the host's loss, also when its script noticed first") {
    World world(8);
    const auto job = submit(world, GENERATE("host", "any"));
    world.run(5);
    const bool lost = GENERATE(true, false);
    if (lost)
        world.power_off("n002");
    else
        world.find("n002", Severity::fatal, "gpu.fell_off");
    world.run(0.25);
    world.fail_job(job, 1); // its communication library fails on the other host
    world.run(40);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.state().jobs.at(job).crashes == restart::CrashLoop{});
    CHECK(last_requeue(world)->job.host == "n002");
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that a signal ended is started again where its host was lost, and is not judged otherwise") {
    World world(8);
    const auto job = submit(world, "any");
    world.run(5);
    const bool lost = GENERATE(true, false);
    if (lost) world.power_off("n002");
    world.run(0.25);
    world.fail_job(job, 137, true); // mpirun ended its ranks, or their user did
    world.run(60);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == (lost ? 1 : 0));
    CHECK(world.job(job).restarts == (lost ? 1U : 0U));
    CHECK_FALSE(world.noted("failed by itself"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that is called a success although a host was lost before is started again") {
    World world(8);
    const auto job = submit(world, "host");
    world.run(5);
    const auto how = GENERATE(0, 1, 2, 3, 4, 5);
    INFO(how);
    if (how == 0 || how == 5) world.power_off("n002");
    if (how == 1) world.find("n002", Severity::fatal, "gpu.fell_off"); // whose step died of it
    world.run(0.25);
    world.complete_job(job, how != 0 && how != 3 && how != 5); // a script that goes on after srun
    if (how == 5) world.job(job).failure->nodes = {"n001"};    // where it is still being ended, for Slurm
    if (how == 2) world.power_off("n007");                     // whose step died of something else
    if (how == 3) world.find("n002", Severity::fatal, "gpu.fell_off"); // it came to its end just before
    if (how == 4) world.run(3);
    if (how == 4) world.power_off("n002"); // likewise; what failed was a step of an earlier start
    world.run(60);
    INFO(world.story());
    const bool again = how < 2 || how == 5;
    CHECK(world.job(job).restarts == (again ? 1 : 0));
    CHECK(world.job(job).phase == (again ? JobPhase::running : JobPhase::ended));
    CHECK(world.count(ActionKind::requeue_job) == (again ? 1 : 0));
    CHECK_FALSE(world.noted("failed by itself"));
    CHECK_FALSE(world.noted("an administrator must see to it"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a program that saves when it is asked to and ends is started again") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.commit(job, 1, 20);
    world.run(2);
    world.find("n002", Severity::evict);
    world.run(3);
    REQUIRE(world.noted("job 1 is asked to save"));
    world.complete_job(job);
    world.run(60);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a program that ends when it has saved is started again although the fault is over by then") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    world.commit(job, 1, 20);
    world.run(2);
    world.find("n002", Severity::evict);
    world.run(3);
    REQUIRE(world.noted("job 1 is asked to save within 1 min 0 s"));
    world.clear("n002");
    world.run(5);
    INFO(world.story());
    CHECK_FALSE(world.noted("goes on where it runs"));
    SECTION("it ends") {
        world.commit(job, 2, 20);
        world.run(2);
        world.complete_job(job);
        world.run(60);
        INFO(world.story());
        CHECK(world.job(job).restarts == 1);
        CHECK(world.job(job).phase == JobPhase::running);
    }
    SECTION("it goes on, which is known when its time is over") {
        world.run(70);
        INFO(world.story());
        CHECK(world.noted("job 1 goes on where it runs"));
        CHECK(world.job(job).restarts == 0);
        CHECK(world.count(ActionKind::requeue_job) == 0);
    }
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that comes to its end while its requeue is on its way has ended") {
    World world(8);
    world.failure_settles = 3;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.find("n002", Severity::fatal, "gpu.fell_off");
    world.complete_job(job);
    world.run(60);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.job(job).restarts == 0);
    CHECK(world.noted("job 1 has ended"));
    CHECK_FALSE(world.noted("an administrator must see to it"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that is leaving when it is to be requeued starts again once it is known to have failed") {
    World world(8);
    const auto job = fail_beside_a_lost_host(world, GENERATE(1U, 139U));
    world.run(60);
    INFO(world.story());
    REQUIRE(world.count(ActionKind::requeue_job) == 2);
    CHECK(world.noted("not done: the job has ended"));
    CHECK(last_requeue(world)->ended);
    CHECK(last_requeue(world)->job.host == "n002");
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK_FALSE(world.noted("an administrator must see to it"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("of a job that is ended by its user while it is to be requeued nothing more is asked") {
    World world(8);
    const auto job = fail_beside_a_lost_host(world, 1);
    world.run(6);
    world.end_job(job); // it was no failure
    world.run(40);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.noted("job 1 has ended"));
    CHECK_FALSE(world.noted("an administrator must see to it"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a host's fault moves no job that said it is over") {
    World world(8);
    const auto job = submit(world, "any");
    world.run(5);
    world.power_off("n002");
    world.run(0.25);
    world.fail_job(job, sched::no_restart_code);
    world.run(40);
    INFO(world.story());
    CHECK(world.job(job).restarts == 0);
}

TEST_CASE("a job that fails again and again without progress is held") {
    World world(8);
    const auto job = submit(world, "any");
    std::uint32_t bound = 3; // no_progress
    std::string key = "no_progress = 3";
    SECTION("by the configuration") {}
    SECTION("by its own flag") {
        world.job(job).restart_max = bound = 5;
        key = "--restart-max=5";
    }
    for (std::uint32_t failure = 0; failure <= bound; ++failure) {
        run_on(world, job);
        world.fail_job(job, 1);
        world.run(5);
    }
    world.run(20);
    INFO(world.story());
    CHECK(world.job(job).restarts == bound + 1);
    CHECK(world.job(job).phase == JobPhase::pending);
    CHECK(world.noted("job 1 is held: it failed by itself " + std::to_string(bound + 1) +
                      " times without a newer checkpoint (" + key + ")"));
    REQUIRE(last_requeue(world) != nullptr);
    CHECK(last_requeue(world)->hold);
    CHECK(world.count(ActionKind::notify_job) == 1);
    CHECK(world.state().jobs.at(job).crashes == restart::CrashLoop{}); // after its release it begins anew
    CHECK(world.state().incidents.empty());
}

TEST_CASE("losses of hosts between its failures do not count") {
    World world(24);
    world.policy.max_drained_percent = 100;
    const auto job = submit(world, "any");
    for (int round = 0; round < 3; ++round) {
        run_on(world, job);
        world.fail_job(job, 1);
        run_on(world, job);
        world.power_off(world.job(job).nodes.front());
        world.run(20);
    }
    run_on(world, job);
    INFO(world.story());
    CHECK(world.job(job).restarts == 6);
    CHECK(world.state().jobs.at(job).crashes.futile == 3);
}

TEST_CASE("progress and time make failures forgotten") {
    World world(8);
    world.policy.max_requeues = 4;
    const auto job = submit(world, "any");
    std::uint64_t step = 0;
    const auto fail = [&] {
        run_on(world, job, 2);
        world.commit(job, step += 100);
        world.run(3);
        world.fail_job(job, 1);
        world.run(10);
    };
    for (int failure = 0; failure < 4; ++failure)
        fail();
    run_on(world, job);
    CHECK(world.state().jobs.at(job).crashes.futile == 1); // since its newest checkpoint
    CHECK(world.state().jobs.at(job).crashes.all == 4);
    SECTION("a day of progress halves them") {
        world.job(job).start = world.now() - std::chrono::hours(25);
        world.run(2);
        for (int failure = 0; failure < 2; ++failure)
            fail();
        run_on(world, job);
        INFO(world.story());
        CHECK_FALSE(world.noted("is held"));
        fail();
        CHECK(world.noted("job 1 is held: it failed by itself 5 times in little time (max_requeues = 4)"));
    }
    SECTION("without one the next is one too many") {
        fail();
        INFO(world.story());
        CHECK(world.noted("job 1 is held: it failed by itself 5 times in little time (max_requeues = 4)"));
    }
}

TEST_CASE("a failure is judged only when its hosts have reported since") {
    World world(8);
    const auto job = submit(world, "any");
    world.run(5);
    world.stop_agent("n002"); // only its agent, as it turns out
    world.run(1);
    world.fail_job(job, 1);
    world.run(6);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    world.run(60);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.state().jobs.at(job).crashes.futile == 1);
}

TEST_CASE("while only observing a failure is noted once, and taken up when that ends") {
    World world(8);
    const auto job = submit(world, "any");
    world.policy.observe_only = true;
    world.run(5);
    world.fail_job(job, 1);
    world.run(20);
    CHECK(world.actions.empty());
    std::size_t noted = 0;
    for (const auto& note : world.notes)
        noted += note.text.find("would requeue it (observe_only)") != std::string::npos;
    CHECK(noted == 1);
    world.policy.observe_only = false;
    world.run(10);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
}

TEST_CASE("a daemon killed around the requeue of a failed job does it once") {
    World world(8);
    const auto job = submit(world, "any");
    world.run(5);
    const bool performed = GENERATE(true, false);
    (performed ? world.report_outcomes : world.perform) = false;
    world.fail_job(job, 1);
    world.run(5);
    world.report_outcomes = world.perform = true;
    world.restart_daemon();
    world.run(15);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.state().jobs.at(job).crashes.futile == 1);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that its hosts could not start is released, three times at most") {
    World world(8);
    world.round_trip = 3;
    const auto job = world.submit({"n001", "n002"});
    world.run(2);
    for (std::uint32_t failure = 1; failure <= 3; ++failure) {
        world.fail_launch(job);
        run_on(world, job);
        INFO(world.story());
        CHECK(world.job(job).restarts == failure);
        CHECK(world.state().incidents.empty());
    }
    SECTION("in a row") {
        world.fail_launch(job);
        world.run(30);
        INFO(world.story());
        CHECK(world.job(job).phase == JobPhase::pending);
        CHECK(world.noted("job 1 stays held: 4 starts in a row failed"));
        CHECK(world.count(ActionKind::update_job) == 3);
        CHECK(world.count(ActionKind::notify_job) == 1);
    }
    SECTION("a start that holds for a while begins a new row") {
        world.run(70);
        world.fail_launch(job);
        run_on(world, job);
        INFO(world.story());
        CHECK(world.job(job).restarts == 4);
    }
    CHECK(world.state().jobs.at(job).crashes == restart::CrashLoop{});
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that could not be started and is not ours to restart stays held") {
    World world(8);
    const auto job = world.submit({"n001", "n002"}, GENERATE(std::optional(false), std::optional<bool>()));
    world.run(2);
    world.fail_launch(job);
    world.run(30);
    CHECK(world.actions.empty());
}

TEST_CASE("what was done with a job is said in its comment, with the checkpoint, the host and the fault") {
    World world(8);
    const auto job = submit(world, "any");
    world.run(5);
    world.commit(job, 1200);
    world.run(3);
    world.find("n002", Severity::fatal, "gpu.fell_off");
    run_on(world, job);
    REQUIRE(last_requeue(world) != nullptr);
    CHECK(
        last_requeue(world)->comment ==
        "requeued from step 1200 without n002 (i-1: gpu3 gpu.fell_off: clock event reasons 0x80 for 5.2 s)");
    world.fail_job(job, 7);
    run_on(world, job);
    CHECK(last_requeue(world)->comment == "requeued from step 1200 (i-2: exit status 7)");
    world.job(job).restart_max = 1;
    world.fail_job(job, 7);
    world.run(10);
    CHECK(last_requeue(world)->comment == "held: it failed by itself 2 times without a newer checkpoint "
                                          "(--restart-max=1) (i-3: exit status 7)");
}

TEST_CASE("a broken array takes its turn: few of its tasks are started again at a time") {
    World world(8);
    world.rm_answers = true;
    std::vector<base::JobId> tasks;
    for (int task = 0; task < 100; ++task) {
        tasks.push_back(world.submit({"n001"}));
        world.job(tasks.back()).restart_on = *sched::parse_restart_on("any");
    }
    world.run(3);
    world.never_restart = true;
    world.perform = false;
    for (const auto task : tasks)
        world.fail_job(task, 1);
    world.run(10);
    CHECK(world.count(ActionKind::requeue_job) == 4);
    world.perform = true;
    world.restart_daemon();
    world.run(60);
    INFO(world.story());
    for (const auto task : tasks)
        CHECK(world.job(task).restarts == 1);
}

TEST_CASE("a job that fails by itself is kept on its hosts once, and placed anew when that did not help") {
    World world(8);
    world.round_trip = 5;
    const auto job = submit(world, "any");
    world.run(5);
    const std::vector<std::vector<std::string>> kept{{"n001", "n002"}, {}, {}};
    for (const auto& had : kept) {
        world.fail_job(job, 1);
        run_on(world, job);
        INFO(world.story());
        REQUIRE(last_requeue(world) != nullptr);
        CHECK(last_requeue(world)->had == had);
    }
    world.commit(job, 1200); // it got on
    world.run(3);
    const auto hosts = world.job(job).nodes;
    world.fail_job(job, 1);
    run_on(world, job);
    CHECK(last_requeue(world)->had == hosts);
}
