#include "base/units.hpp"
#include "restart/ckpt/interval.hpp"
#include "world.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;

TEST_CASE("a job on a throttled host saves, then leaves it") {
    World world(8);
    const auto job = world.submit({"n001", "n002", "n003"});
    world.run(10);
    world.commit(job, 100, 0.5);
    world.run(10);
    world.find("n002", Severity::evict);
    world.run(1);
    INFO(world.story());
    // Its heartbeat has brought the wish to save; the deadline is its cost times three, but at least 5 s.
    CHECK(world.noted("job 1 is asked to save within 5.0 s"));
    CHECK(world.actions.empty());
    world.run(8);
    CHECK(world.noted("job 1 saved step 200"));
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.count(ActionKind::down_host) == 0);
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK_THAT(world.node("n002").reason,
               Catch::StartsWith("railyard[i-1]: gpu3 gpu.throttle.hw_power_brake: clock event"));
    CHECK(world.job(job).nodes == std::vector<std::string>{"n001", "n003", "n004"});
    CHECK(world.noted("(checkpoint of step 200)"));
    CHECK(world.state().incidents.empty());

    SECTION("and the finding that goes on opens no second incident") {
        world.run(60);
        CHECK(world.count(ActionKind::requeue_job) == 1);
        CHECK(world.state().next_incident == 2);
    }
}

TEST_CASE("a job that does not save in time is moved from its last checkpoint") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.commit(job, 100, 4.0);
    world.run(5);
    world.find("n002", Severity::evict);
    world.run(11);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    world.run(10);
    INFO(world.story());
    CHECK(world.noted("job 1 did not save in 12.0 s"));
    CHECK(world.noted("(checkpoint of step 100)"));
    CHECK(world.count(ActionKind::requeue_job) == 1);
}

TEST_CASE("the deadline to save is the measured cost times a factor, within bounds") {
    World world(4);
    const auto job = world.submit({"n001"});
    const auto deadline = [&](double cost) {
        world.commit(job, 100 + static_cast<std::uint64_t>(world.seconds()), cost);
        world.run(3);
        world.commit(job, 100 + static_cast<std::uint64_t>(world.seconds()), cost);
        world.run(20);
        world.find("n001", Severity::evict);
        world.run(2);
        return world.noted("is asked to save within 5.0 s")        ? 5
               : world.noted("is asked to save within 10 min 0 s") ? 600
                                                                   : 0;
    };
    world.autosave = false;
    SECTION("low") {
        CHECK(deadline(0.01) == 5);
    }
    SECTION("high") {
        CHECK(deadline(3000.0) == 600);
    }
}

TEST_CASE("a fatal finding moves the job at once") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.find("n002", Severity::fatal, "gpu.lost");
    world.run(1);
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.count(ActionKind::requeue_job) == 1);
    world.run(6);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK_FALSE(world.noted("asked to save"));
}

TEST_CASE("a fatal finding cuts the time to save short") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.commit(job, 100, 20.0);
    world.run(2);
    world.find("n002", Severity::evict);
    world.run(5);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    world.find("n002", Severity::fatal, "gpu.lost");
    world.run(2);
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.state().next_incident == 2);
}

TEST_CASE("an idle bad host is drained, a warning is only told") {
    World world(4);
    world.find("n001", Severity::warn, "ib.counter.symbol_error");
    world.run(5);
    CHECK(world.actions.empty());
    CHECK(world.noted("gpu3 ib.counter.symbol_error (warn)"));
    world.find("n002", Severity::evict);
    world.run(5);
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that never speaks to an agent is not waited for") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.mute_jobs = true;
    world.run(5);
    world.find("n002", Severity::evict);
    world.run(2);
    CHECK_FALSE(world.noted("asked to save"));
    CHECK(world.count(ActionKind::requeue_job) == 1);
    world.run(5);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.noted("its checkpoints, if it has any, are not known to Railyard"));
}

TEST_CASE("a finding that clears while jobs save changes nothing") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.commit(job, 100, 5.0);
    world.run(2);
    world.find("n002", Severity::evict);
    world.run(3);
    world.clear("n002");
    world.run(20);
    INFO(world.story());
    CHECK(world.actions.empty());
    CHECK(world.noted("cleared before any job was moved"));
    CHECK(world.state().incidents.empty());

    SECTION("and counts anew when it comes back") {
        world.find("n002", Severity::evict);
        world.run(30);
        CHECK(world.count(ActionKind::requeue_job) == 1);
    }
}

TEST_CASE("a host that dies while its job saves is set down and the job moved, once") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.commit(job, 100, 20.0);
    world.run(2);
    world.find("n002", Severity::evict);
    world.run(3);
    world.power_off("n002");
    world.run(15);
    INFO(world.story());
    CHECK(world.count(ActionKind::down_host) == 1);
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("jobs are told how often to save, from their cost and size") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    CHECK(world.interval_of(job) == Approx(10.0)); // until its cost is known
    world.commit(job, 100, 2.0);
    world.run(3);
    // Young: sqrt(2 · 2 s · 1500 d / 2 nodes) = 16,100 s.
    CHECK(world.interval_of(job) == Approx(16'100).epsilon(0.01));
}

TEST_CASE("the default bounds of intervals are those of jobs without an agent") {
    const World world(1);
    const restart::IntervalBounds bounds;
    CHECK(base::to_seconds(world.policy.min_interval) == bounds.least.count());
    CHECK(base::to_seconds(world.policy.max_interval) == bounds.most.count());
}

TEST_CASE("a job's owner reads once which of its processes had a fault on a GPU") {
    World world(4);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    const auto fails = [&](const std::string& host, std::uint32_t process, std::uint32_t uid = 1000) {
        restart::Report report;
        report.host = host;
        report.jobs = {{job, 0, uid, {}}};
        report.jobs[0].fault = restart::ProgramFault{"gpu3", 31, process, "MMU Fault"};
        world.send(restart::AgentReported{report});
        return std::count_if(world.notes.begin(), world.notes.end(), [&](const restart::Note& note) {
            return note.job == job && note.text.find("had XID") != std::string::npos;
        });
    };
    CHECK(fails("n002", 4711, 1001) == 0); // it is not its owner who says so
    CHECK(fails("n002", 4711) == 1);
    CHECK(world.noted("process 4711 on n002 had XID 31 on gpu3: MMU Fault"));
    CHECK(fails("n002", 4712) == 1);
    world.restart_daemon();
    CHECK(fails("n001", 12) == 1); // a gang fails as one
    CHECK(world.state().incidents.empty());
    CHECK(world.count(ActionKind::drain_host) == 0);
}

TEST_CASE("an array of 1,000 tasks that all fail on a GPU leaves ten notes, of each user") {
    World world(4);
    const auto noted = [&](std::uint32_t uid) {
        return std::count_if(world.notes.begin(), world.notes.end(), [&](const restart::Note& note) {
            return note.job && world.state().jobs.at(*note.job).rm.uid == uid &&
                   note.text.find("had XID") != std::string::npos;
        });
    };
    const auto fail = [&](std::uint32_t uid, int tasks) {
        for (int i = 0; i < tasks; ++i) {
            const auto job = world.submit({"n003"});
            world.job(job).uid = uid;
            world.run(1);
            restart::Report report;
            report.host = "n003";
            report.jobs = {{job, 0, uid, {}}};
            report.jobs[0].fault =
                restart::ProgramFault{"gpu0", 13, 100U + static_cast<std::uint32_t>(i), ""};
            world.send(restart::AgentReported{report});
        }
    };
    fail(1000, 30);
    fail(1001, 2);
    CHECK(noted(1000) == 10);
    CHECK(noted(1001) == 2);
    CHECK(world.noted("had XID 13 on gpu0 (of more jobs of this user it is not noted)"));
    CHECK(world.state().incidents.empty());
}

TEST_CASE("reports about another's job or another start are not believed") {
    World world(4);
    const auto job = world.submit({"n001", "n002"});
    world.run(3);
    restart::Report report;
    report.host = "n001";
    const auto send = [&](std::uint32_t uid, std::uint32_t epoch, const std::string& host) {
        report.host = host;
        report.jobs = {{job, epoch, uid, restart::Commit{9000, "/x", world.now(), 1.0, 1}}};
        world.send(restart::AgentReported{report});
        return world.state().jobs.at(job).commit.has_value();
    };
    CHECK_FALSE(send(1001, 0, "n001"));
    CHECK_FALSE(send(1000, 1, "n001"));
    CHECK_FALSE(send(1000, 0, "n003"));
    CHECK(restart::reply_to(world.state(), report).jobs.size() == 1);
    report.jobs[0].uid = 1001;
    CHECK(restart::reply_to(world.state(), report).jobs.empty());
    CHECK(send(1000, 0, "n002"));
}
