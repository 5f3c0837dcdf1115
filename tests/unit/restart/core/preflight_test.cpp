// A job's own checks before its script: it is requeued without hosts that fail, and nothing else happens.
#include "world.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::JobPhase;

namespace {

using Names = std::vector<std::string>;

// What the preflight of these starts of the job says, with each report of its agent.
void says(World& world, base::JobId job, const Names& without, std::uint32_t last_epoch = 0,
          bool requeue = true, std::uint32_t uid = 1000) {
    world.carrier = [=, &world](const restart::Report& sent) {
        auto report = sent;
        for (auto& one : report.jobs) {
            if (one.id != job) continue;
            one.uid = uid;
            if (one.epoch > last_epoch) continue;
            one.preflight = restart::Preflight{without, requeue, {}};
            for (const auto& host : without)
                one.preflight->words.push_back({.host = host,
                                                .check = "net.bandwidth",
                                                .component = "mlx5_1:1",
                                                .verdict = restart::CheckVerdict::bad,
                                                .says = "9 % of the others' bandwidth"});
        }
        world.deliver(report);
    };
}

restart::PreflightAdvice advice(const World& world, base::JobId job, const Names& without) {
    restart::Report report;
    report.host = "n001";
    report.jobs.push_back({job, 0, 1000, {}});
    report.jobs[0].preflight = restart::Preflight{without, true, {}};
    return restart::reply_to(world.state(), report).jobs.at(0).preflight;
}

} // namespace

TEST_CASE("a job whose preflight finds a host bad is requeued without it; the host stays in use") {
    World world(6);
    world.round_trip = 3;
    const auto job = world.submit({"n001", "n002", "n003"});
    says(world, job, {"n002"});
    const auto decided = [&] {
        const auto known = world.state().jobs.find(job);
        return known != world.state().jobs.end() && known->second.preflight &&
               known->second.preflight->requeued;
    };
    for (int steps = 0; steps < 40 && !decided(); ++steps)
        world.run(0.25);
    CHECK(advice(world, job, {"n002"}) == restart::PreflightAdvice{true, {}});
    if (GENERATE(false, true)) world.restart_daemon();
    world.run(20);
    INFO(world.story());
    CHECK(world.noted("job 1 is requeued without n002 before it has begun: its preflight says n002 mlx5_1:1: "
                      "9 % of the others' bandwidth"));
    CHECK(world.job(job).phase == JobPhase::running);
    CHECK(world.job(job).restarts == 1);
    CHECK(std::count(world.job(job).nodes.begin(), world.job(job).nodes.end(), "n002") == 0);
    CHECK(world.count(ActionKind::requeue_job) == 1);
    CHECK(world.count(ActionKind::drain_host) == 0);
    const auto& known = world.state().jobs.at(job);
    CHECK(known.requeues == 0);
    CHECK(known.crashes == restart::CrashLoop{});
    CHECK(world.state().incidents.empty());
}

TEST_CASE(
    "what a preflight says moves nothing where it is not its job's user who says it, or not of its hosts") {
    World world(6);
    const auto job = world.submit({"n001", "n002", "n003"});
    const auto forged = GENERATE(true, false);
    says(world, job, {forged ? "n002" : "n005"}, 0, true, forged ? 1001 : 1000);
    world.run(20);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.job(job).restarts == 0);
}

TEST_CASE("a job whose preflight has spares for the hosts that fail is not requeued") {
    World world(6);
    const auto job = world.submit({"n001", "n002", "n003"});
    says(world, job, {"n002"}, 0, false);
    world.run(20);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(world.state().jobs.at(job).preflight->without == Names{"n002"});
}

TEST_CASE("a job that keeps failing its preflight starts in the end, and is told why") {
    World world(16);
    const auto job = world.submit({"n001", "n002", "n003"});
    world.carrier = [&](const restart::Report& sent) {
        auto report = sent;
        for (auto& one : report.jobs)
            one.preflight = restart::Preflight{{world.job(one.id).nodes.back()}, true, {}};
        world.deliver(report);
    };
    world.run(120);
    INFO(world.story());
    CHECK(world.job(job).restarts == 3);
    CHECK(world.noted("in spite of its preflight: it was requeued 3 times in a row for its preflight"));
}

TEST_CASE("nothing is requeued for a preflight while restartd only observes, and the job is told at once") {
    World world(6);
    world.policy.observe_only = true;
    const auto job = world.submit({"n001", "n002", "n003"});
    says(world, job, {"n002"});
    world.run(5);
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(advice(world, job, {"n002"}).stays == "observe_only is set");
}

TEST_CASE("a job that needs the host that its preflight left gets it again after a while") {
    World world(3);
    const auto job = world.submit({"n001", "n002", "n003"});
    says(world, job, {"n002"});
    world.run(60);
    CHECK(world.job(job).phase == JobPhase::pending);
    CHECK(world.job(job).excluded == Names{"n002"});
    world.run(660);
    INFO(world.story());
    CHECK(world.job(job).excluded.empty());
    CHECK(world.job(job).phase == JobPhase::running);
}

TEST_CASE("a job that asks by name for the host that fails starts there, and is told why") {
    World world(6);
    const auto job = world.submit({"n001", "n002", "n003"});
    world.job(job).required = {"n002", "n003"};
    says(world, job, {"n001", "n002"});
    world.run(5);
    INFO(world.story());
    CHECK(world.count(ActionKind::requeue_job) == 0);
    CHECK(advice(world, job, {"n002"}).stays == "its user asks for n002 by name (--nodelist)");
}
