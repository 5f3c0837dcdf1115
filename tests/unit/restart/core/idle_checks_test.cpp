// Hosts that no job uses are tried in turn, few at a time, and given up as soon as anyone wants them.
#include "world.hpp"

#include "restart/core/act/act.hpp"
#include "restart/core/detect/health.hpp"

#include <catch2/catch.hpp>

using restart::ActionKind;
using restart::CheckVerdict;
using namespace std::chrono_literals;

namespace {

// Lets those under way end with results, until each of the hosts was tried so many times; their order.
std::vector<std::string> try_all(World& world, std::size_t times) {
    std::vector<std::string> order;
    for (int seconds = 0; seconds < 600 && order.size() < times; ++seconds) {
        world.run(1);
        CHECK(world.idle_checks().size() <= world.policy.idle_checks.max_at_once);
        for (const auto job : world.idle_checks()) {
            if (!world.state().jobs.contains(job)) continue; // restartd has not read it yet
            order.push_back(world.job(job).checks);
            world.tell_idle_check(job, CheckVerdict::sound);
            world.end_idle_check(job);
        }
    }
    return order;
}

const restart::IdleCheck& check_of(const World& world, const std::string& host) {
    return world.state().hosts.at(host).idle_check.value();
}

float health(const World& world, const std::string& host) {
    const auto weak = restart::health_of(world.state(), world.now(), std::chrono::days(14));
    const auto found = weak.find(host);
    return found == weak.end() ? 1 : found->second.health;
}

} // namespace

TEST_CASE("idle hosts are tried in turn, so many at a time, and again when it is time") {
    World world(5);
    world.round_trip = 3;
    world.run(5);
    CHECK(world.count(ActionKind::check_host) == 0); // by default never
    world.allow_idle_checks(600s, 2);
    using Names = std::vector<std::string>;
    CHECK(try_all(world, 5) == Names{"n001", "n002", "n003", "n004", "n005"});
    world.run(300);
    INFO(world.story());
    CHECK(world.count(ActionKind::check_host) == 5);
    world.run(300);
    CHECK(try_all(world, 5) == Names{"n001", "n002", "n003", "n004", "n005"});
    CHECK(world.count(ActionKind::end_check) == 0);
    CHECK(world.notes.empty());
}

TEST_CASE("an idle check whose host is wanted is ended at the next reading, and another begins later") {
    World world(1);
    world.allow_idle_checks(24h, 1);
    world.run(2);
    REQUIRE(world.idle_checks().size() == 1);
    const auto job = world.idle_checks().front();
    const auto* why = GENERATE("wanted", "fault", "drain", "off", "stuck");
    const std::string_view is = why;
    INFO(why);
    if (is == "wanted") world.job(job).wanted = true;
    if (is == "fault") world.find("n001", restart::Severity::fatal);
    if (is == "drain") world.person_drains("n001");
    if (is == "off") world.policy.idle_checks.every = {};
    if (is == "stuck") world.job(job).phase = restart::JobPhase::pending;
    world.run(is == "stuck" ? 31 : 1.5);
    INFO(world.story());
    CHECK(world.idle_checks().empty());
    CHECK(world.count(ActionKind::end_check) == 1);
    CHECK(world.noted("its idle check is ended: "));
    world.run(550);
    CHECK(world.count(ActionKind::check_host) == 1);
    world.run(70);
    CHECK(world.count(ActionKind::check_host) == (is == "wanted" || is == "stuck" ? 2 : 1));
    CHECK_FALSE(world.noted("without results"));
}

TEST_CASE("no idle check begins where restartd may do nothing, nor on a host that is not idle and sound") {
    World world(2);
    const auto* why =
        GENERATE("observe_only", "pause", "maintenance", "drain", "warned", "fault", "silent", "busy");
    const std::string_view is = why;
    INFO(why);
    if (is == "observe_only") world.policy.observe_only = true;
    if (is == "pause") world.send(restart::OperatorPause{{"n001"}, 24h, "fan", "alice"});
    if (is == "maintenance") world.node("n001").maintenance = true;
    if (is == "drain") world.person_drains("n001");
    if (is == "warned") world.find("n001", restart::Severity::warn);
    if (is == "fault") world.find("n001", restart::Severity::fatal);
    if (is == "silent") world.stop_agent("n001");
    world.run(5);
    world.allow_idle_checks(24h, 2);
    if (is == "busy") world.node("n001").use = base::HostState::mixed;
    world.run(3);
    INFO(world.story());
    const auto jobs = world.idle_checks();
    CHECK(jobs.size() == (is == "observe_only" ? 0 : is == "warned" ? 2 : 1));
    if (jobs.size() == 1) CHECK(world.job(jobs.front()).checks == "n002");
}

TEST_CASE("a pause ends no idle check that is under way") {
    World world(1);
    world.allow_idle_checks(24h, 1);
    world.run(2);
    world.send(restart::OperatorPause{{}, 24h, "fan", "alice"});
    world.run(5);
    REQUIRE(world.idle_checks().size() == 1);
    world.job(world.idle_checks().front()).wanted = true;
    world.run(1.5);
    CHECK(world.idle_checks().empty()); // which is nobody's but ours
}

TEST_CASE("what an idle check finds is noted, and its host avoided; nothing is drained for it") {
    World world(8);
    world.round_trip = 3;
    world.allow_idle_checks(24h, 1);
    world.run(2);
    const auto job = world.idle_checks().at(0);
    world.tell_idle_check(job, CheckVerdict::bad);
    const bool late = GENERATE(false, true); // it may end before restartd is told
    if (!late) world.run(3);
    world.end_idle_check(job);
    world.run(3);
    INFO(world.story());
    CHECK(world.noted("an idle check finds bad: gpu3 hbm.read: slow"));
    CHECK(health(world, "n001") == Approx(0.6));
    CHECK(check_of(world, "n001").done);
    CHECK(world.state().incidents.empty());
    CHECK(world.count(ActionKind::drain_host) == 0);
}

TEST_CASE("the first sign of decay is noted once, long before the part is bad") {
    World world(1);
    world.allow_idle_checks(60s, 1);
    const auto check = [&](double value) {
        for (int seconds = 0; seconds < 120 && world.idle_checks().empty(); ++seconds)
            world.run(1);
        world.run(1); // restartd reads it
        const auto job = world.idle_checks().at(0);
        world.tell_idle_check(job, CheckVerdict::sound, value);
        world.end_idle_check(job);
        world.run(3);
    };
    for (const double value : {2900, 2950, 2890, 2700})
        check(value);
    INFO(world.story());
    CHECK(world.notes.empty());
    check(2500); // sound: what is expected is 3000, of which 80 % are enough
    CHECK(
        world.noted("an idle check finds a first sign of decay: gpu3 hbm.read: falls: 86 % of what it was"));
    check(2490);
    CHECK(world.notes.size() == 1);
}

TEST_CASE("results that come after the job's end count, for a while; without any it is tried again later") {
    World world(1);
    world.allow_idle_checks(24h, 1);
    world.run(2);
    const auto job = world.idle_checks().at(0);
    const auto copy = world.job(job);
    world.end_idle_check(job);
    world.run(3);
    restart::Report report;
    report.host = "n001";
    report.jobs.push_back({job, 0, copy.uid, {}});
    report.jobs[0].preflight =
        restart::Preflight{{}, false, {{"n001", "hbm.read", "gpu3", CheckVerdict::not_run}}};
    const auto* how = GENERATE("in time", "never", "another user's", "of a railcheck that hung");
    const std::string_view is = how;
    INFO(how);
    if (is == "another user's") report.jobs[0].uid = 1000;
    if (is == "of a railcheck that hung") report.jobs[0].preflight->words.clear();
    if (is != "never") world.deliver(report);
    world.run(15);
    INFO(world.story());
    CHECK(world.noted("an idle check has ended without results") == (is != "in time"));
    CHECK(check_of(world, "n001").done.has_value() == (is == "in time"));
    world.run(1250);
    CHECK(world.count(ActionKind::check_host) == (is == "in time" ? 1 : 2));
}

TEST_CASE("an idle check goes on when restartd is started again, whatever had come of its order") {
    World world(1);
    world.allow_idle_checks(24h, 1);
    const auto* when =
        GENERATE("before it was submitted", "before that was heard", "while it runs", "while it is ended");
    const std::string_view is = when;
    INFO(when);
    world.perform = is != "before it was submitted";
    world.report_outcomes = is != "before that was heard";
    world.run(2);
    if (is == "while it is ended") {
        world.perform = false;
        world.job(world.idle_checks().at(0)).wanted = true;
        world.run(1.5);
    }
    world.perform = world.report_outcomes = true;
    world.restart_daemon();
    world.run(2);
    INFO(world.story());
    if (is == "before it was submitted") {
        world.run(1300);
        CHECK(world.count(ActionKind::check_host) == 2);
        CHECK(world.idle_checks().size() == 1);
        return;
    }
    CHECK(world.count(ActionKind::check_host) == 1);
    if (is == "while it is ended") {
        CHECK(world.idle_checks().empty());
        return;
    }
    const auto job = world.idle_checks().at(0);
    world.tell_idle_check(job, CheckVerdict::sound);
    world.end_idle_check(job);
    world.run(3);
    CHECK(check_of(world, "n001").done);
}

TEST_CASE("a refusal is noted, and nothing is asked for again at once") {
    World world(8);
    world.allow_idle_checks(24h, 1);
    world.check_error = base::Error{base::Code::unfit, "Invalid account"};
    world.run(290);
    INFO(world.story());
    CHECK(world.count(ActionKind::check_host) == 1);
    CHECK(world.noted("its idle check could not be begun: Invalid account"));
    world.run(20);
    CHECK(world.count(ActionKind::check_host) == 2);
}

TEST_CASE("an order that waits for jobs that could use the host is dropped, and so is one for a host that is "
          "taken") {
    World world(1);
    world.allow_idle_checks(24h, 1);
    world.perform = false;
    world.run(2);
    REQUIRE(world.count(ActionKind::check_host) == 1);
    const auto order = world.actions.back();
    const auto why = [&] { return why_obsolete(world.state(), world.policy, world.now(), order); };
    CHECK(why().empty());
    const bool taken = GENERATE(false, true);
    if (taken) world.node("n001").use = base::HostState::busy;
    world.run(taken ? 2 : 61);
    CHECK(why() == (taken ? "it is not idle" : "jobs wait that could use it"));
    world.send(restart::ActionDone{order.id, base::Error{base::Code::unfit, why()}, true, {}});
    world.run(2);
    CHECK(world.count(ActionKind::check_host) == 1); // not at once
    CHECK(why() != "");                              // nor is it done any more
    CHECK(world.notes.empty());
}

TEST_CASE("a job that is still there after it was ended is ended again") {
    World world(1);
    world.allow_idle_checks(24h, 1);
    world.run(2);
    const auto job = world.idle_checks().at(0);
    world.job(job).wanted = true;
    world.lose_ends = true;
    world.run(3);
    CHECK(world.count(ActionKind::end_check) >= 2);
    world.lose_ends = false;
    world.run(2);
    CHECK(world.idle_checks().empty());
    CHECK(world.notes.size() == 1);
}
