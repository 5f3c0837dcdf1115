// Leaving a job on a slow host against moving it.
#include "restart/core/decide/cost.hpp"
#include "restart/core/decide/slowdown.hpp"
#include "restart/core/decide/weigh.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <random>

using restart::ActionKind;
using restart::JobPhase;
using restart::Severity;
using namespace std::chrono_literals;

namespace {

const auto now = base::time_from_seconds(1'700'000'000);

restart::JobState job_of(std::uint32_t nodes, base::Duration ran, std::optional<base::Duration> left,
                         base::Duration cost, std::optional<base::Duration> since_commit, bool connected) {
    restart::JobState job;
    job.rm.node_count = nodes;
    job.rm.start = now - ran;
    if (left) job.rm.ends = now + *left;
    job.cost = cost;
    job.connected = connected;
    if (since_commit) job.commit = restart::Commit{100, "/c", now - *since_commit, 1, 1};
    return job;
}

restart::Policy defaults() {
    return restart::Policy::from(base::Conf());
}

} // namespace

TEST_CASE("the costs of waiting and moving, term by term") {
    auto policy = defaults();
    policy.requeue_time = 11'250ms;
    policy.restart_time = 112'500ms;
    // 8 node-hours of 32 nodes: 15 minutes since the last checkpoint, which nothing can ask for.
    auto job = job_of(32, 20h, 114min, 56'250ms, 15min, false);
    CHECK(sentence(restart::cost_of(job, 0.02, "ib.counter.symbol_error@mlx5_0:1", {}, policy, now)) ==
          "waiting costs 1.2 node-hours (2 % of 32 nodes for 1.9 h), moving 9.1 (save 0.0, requeue 0.1, "
          "restart "
          "1.0, lost work 8.0)");
    job.connected = true;
    const auto saves = restart::cost_of(job, 0.02, "x", {}, policy, now);
    CHECK(sentence(saves) ==
          "waiting costs 1.2 node-hours (2 % of 32 nodes for 1.9 h), moving 1.6 (save 0.5, "
          "requeue 0.1, restart 1.0, lost work 0.0)");
    CHECK(saves.waits());
    CHECK_FALSE(restart::cost_of(job, 0.03, "x", {}, policy, now).waits());
}

TEST_CASE("terms that nobody has measured have the defaults of the configuration, and say so") {
    const auto cost = restart::cost_of(job_of(4, 1h, {}, 0s, {}, true), 0.5, "x", {}, defaults(), now);
    CHECK(cost.stays == 24h);
    CHECK(cost.stays_from == "[restart] horizon");
    REQUIRE(cost.terms.size() == 4);
    CHECK(cost.terms[0].from == "[checkpoint] save_deadline_min");
    CHECK(cost.terms[1].from == "[restart] requeue_time");
    CHECK(cost.terms[2].from == "[restart] restart_time");
    CHECK(cost.terms[3].from == "since its start");
    CHECK(cost.terms[3].time == 1h); // it has never shown that it can save
    auto moved = job_of(4, 1h, {}, 2s, 10min, true);
    moved.requeue_took = 4s;
    const auto measured = restart::cost_of(moved, 0.5, "x", {}, defaults(), now);
    CHECK(measured.terms[0].time == 2s);
    CHECK(measured.terms[0].from == "measured");
    CHECK(measured.terms[1].time == 4s);
    CHECK(measured.terms[3].time == 0s);
    restart::State learned;
    learned.learned.restarts = {10s, 20s};
    CHECK(restart::cost_of(moved, 0.5, "x", learned, defaults(), now).terms[1].time == 4s); // its own
    moved.requeue_took = {};
    const auto others = restart::cost_of(moved, 0.5, "x", learned, defaults(), now);
    CHECK(others.terms[1].time == 15s);
    CHECK(others.terms[1].from == "as 2 of other jobs took on average");
}

// The oracle lives both futures second by second and counts the node-seconds that are not work.
TEST_CASE("the decision is the one that wastes fewer node-hours") {
    std::mt19937 draw(7);
    const auto any = [&](int least, int most) { return std::uniform_int_distribution(least, most)(draw); };
    int stayed = 0, moved = 0;
    for (int round = 0; round < 500; ++round) {
        auto policy = defaults();
        policy.requeue_time = std::chrono::seconds(any(0, 60));
        policy.restart_time = std::chrono::seconds(any(0, 300));
        const int nodes = any(1, 64), ran = any(1, 5000), left = any(0, 5000), percent = any(0, 100);
        const int since = any(0, 2) == 0 ? -1 : any(0, 6000), save = any(0, 90);
        const bool connected = any(0, 1) == 1;
        const auto job = job_of(
            static_cast<std::uint32_t>(nodes), std::chrono::seconds(ran), std::chrono::seconds(left),
            std::chrono::seconds(save),
            since < 0 ? std::nullopt : std::optional<base::Duration>(std::chrono::seconds(since)), connected);
        const auto cost = restart::cost_of(job, percent / 100.0, "x", {}, policy, now);

        double waiting = 0;
        for (int second = 0; second < left; ++second)
            waiting += nodes * percent / 100.0;
        double moving = 0;
        const bool saves = connected && save > 0;
        if (connected) // it stands still to save, or as long as one waits for a sign
            for (double second = 0; second < (save > 0 ? save : base::to_seconds(policy.save_min)); ++second)
                moving += nodes;
        for (int second = 0; second < base::to_seconds(policy.requeue_time + policy.restart_time); ++second)
            moving += nodes;
        if (!saves) // seconds of this start whose work no checkpoint holds are done again
            for (int ago = 1; ago <= ran; ++ago)
                if (since < 0 || since > ran || ago <= since) moving += nodes;
        INFO(sentence(cost));
        CHECK(cost.waiting() * 3600 == Approx(waiting).margin(1e-6));
        CHECK(cost.moving() * 3600 == Approx(moving).margin(1e-6));
        if (std::abs(waiting - moving) > 1e-3) CHECK(cost.waits() == (waiting < moving));
        ++(cost.waits() ? stayed : moved);
    }
    CHECK(stayed > 50);
    CHECK(moved > 50);
}

TEST_CASE("slowdowns are shares with a source, and a rail's is its share of the rails") {
    for (const auto& row : restart::slowdown_rules()) {
        INFO(row.rule);
        CHECK(row.factor > 0);
        CHECK(row.factor <= 1);
        CHECK_FALSE(row.source.empty());
    }
    CHECK(restart::slowdown_of("ib.link_down", 8) == 0.125);
    CHECK(restart::slowdown_of("ib.link_down", 2) == 0.5);
    CHECK(restart::slowdown_of("ib.link_down", 0) == 0.125);
    CHECK(restart::slowdown_of("gpu.throttle.hw_power_brake", 8) == 0.5);
    CHECK(restart::slowdown_of("ib.counter.symbol_error", 8) == 0.02);
    CHECK_FALSE(restart::slowdown_of("gpu.remap_failed", 8));
}

TEST_CASE("a job that stays on a slow host for its costs and fails there is started elsewhere") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.job(job).ends = world.now() + 100s;
    world.run(5);
    world.find("n002", Severity::evict);
    world.run(20);
    REQUIRE(world.noted("job 1 stays: waiting costs"));
    const bool well = GENERATE(false, true);
    well ? world.complete_job(job) : world.fail_job(job, 1);
    world.run(60);
    INFO(world.story());
    CHECK(world.job(job).restarts == (well ? 0U : 1U));
    CHECK(world.noted("moves now: ") == false);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that ends soon stays on a slow host, which takes no new job") {
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.job(job).ends = world.now() + 100s;
    world.run(5);
    world.find("n002", Severity::evict);
    world.run(20);
    INFO(world.story());
    CHECK(world.noted(
        "job 1 stays: waiting costs 0.026 node-hours (50 % of 2 nodes for 0.026 h), moving 0.078"));
    CHECK(world.noted("drain n002; its jobs stay until they end"));
    CHECK(world.count(ActionKind::drain_host) == 1);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK_FALSE(world.noted("asked to save"));
    CHECK(world.state().incidents.size() == 1); // it is watched until it has ended
    world.end_job(job);
    world.run(5);
    CHECK(world.state().incidents.empty());
    CHECK(world.count(ActionKind::requeue_job) == 0);

    const auto said = std::count_if(world.notes.begin(), world.notes.end(), [](const restart::Note& note) {
        return note.kind == restart::NoteKind::decision &&
               note.text.find("stays: waiting") != std::string::npos;
    });
    CHECK(said == 1);
}

TEST_CASE("a job that stays is judged again: it moves when a checkpoint has made moving cheap") {
    World world(8);
    world.autosave = false;
    world.mute_jobs = true; // it cannot be asked to save
    const auto job = world.submit({"n001", "n002"});
    world.run(3600);
    world.job(job).ends = world.now() + 3600s;
    world.run(2);
    world.find("n002", Severity::evict, "gpu.throttle.sw_thermal_slowdown"); // 10 %
    world.run(60);
    {
        INFO(world.story());
        CHECK(world.noted("job 1 stays: waiting costs"));
        CHECK(world.count(ActionKind::requeue_job) == 0);
    }
    world.mute_jobs = false;
    world.commit(job, 100, 2.0);
    world.run(20);
    INFO(world.story());
    CHECK(world.noted("job 1 moves now: waiting costs"));
    CHECK(world.noted("job 1 is asked to save"));
    world.run(20);
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("a job that stays is moved at once when the fault becomes fatal, or its host is lost") {
    const bool lost = GENERATE(false, true);
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.job(job).ends = world.now() + 100s;
    world.run(5);
    world.find("n002", Severity::evict);
    world.run(10);
    REQUIRE(world.count(ActionKind::requeue_job) == 0);
    if (lost)
        world.power_off("n002");
    else
        world.find("n002", Severity::fatal, "gpu.lost");
    world.run(20);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.state().incidents.empty());
}

TEST_CASE("fatal findings and losses are not weighed, however soon the job ends") {
    const bool lost = GENERATE(false, true);
    World world(8);
    const auto job = world.submit({"n001", "n002"});
    world.job(job).ends = world.now() + 40s;
    world.run(5);
    if (lost)
        world.power_off("n002");
    else
        world.find("n002", Severity::fatal, "gpu.lost");
    world.run(20);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
    CHECK_FALSE(world.noted("waiting costs"));
}

TEST_CASE("a job that was asked to save is not left after all") {
    World world(8);
    world.autosave = false;
    const auto job = world.submit({"n001", "n002"});
    world.run(5);
    world.commit(job, 100, 20.0);
    world.run(2);
    world.job(job).ends = world.now() + 400s; // 20 + 10 + 120 s against 200 s
    world.run(1);
    world.find("n002", Severity::evict);
    world.run(10);
    CHECK(world.noted("asked to save within 1 min 0 s"));
    world.job(job).ends = world.now() + 100s;
    world.run(70);
    INFO(world.story());
    CHECK(world.job(job).restarts == 1);
}
