// Gangs that wait held (PSUSP): whose hold it is.
#include "lsf_lists.hpp"

#include <catch2/catch.hpp>

using base::JobId;
using lsf_lists::Lists;
using restart::JobPhase;

namespace {

// What gangs_wait = "held" makes of the job 44.
struct Held : Lists {
    Held() : Lists(true) { add(44); }
    void is(const std::string& state, const std::string& hosts = "-") {
        show(44, state, "gang", hosts);
        read();
    }
    bool placeable() {
        for (const auto& one : queue())
            if (one.id == 44) return one.waits_for == restart::WaitsFor::hosts;
        return false;
    }
    void submitted_held_by_user() {
        known[44].command = "/usr/bin/rail-lsf-run --hold=user --line=sleep%2060";
    }
};
const std::string there = "8*n4:8*n2";

} // namespace

TEST_CASE("a gang that esub.rail holds waits for hosts, one that its user holds does not") {
    Held gang;
    SECTION("as submitted") {
        gang.is("PSUSP");
        CHECK(gang.placeable());
        CHECK_FALSE(restart::is_released(*gang.job(44)));
        gang.is("PEND"); // resumed by us, or by another
        CHECK_FALSE(gang.placeable());
        CHECK(restart::is_released(*gang.job(44)));
        gang.is("RUN", there);
        CHECK_FALSE(restart::is_released(*gang.job(44)));
    }
    SECTION("with bsub -H") {
        gang.submitted_held_by_user();
        gang.is("PSUSP");
        CHECK_FALSE(gang.placeable());
        CHECK(gang.job(44)->held);
        gang.jobs.expect_hold(44, false, gang.now); // what is held is not held anew
        gang.read();
        CHECK_FALSE(gang.placeable());
        gang.is("PEND"); // he has resumed it
        CHECK(restart::is_released(*gang.job(44)));
        gang.jobs.expect_hold(44, true, gang.now);
        gang.is("PSUSP");
        CHECK(gang.placeable());
    }
    SECTION("with bstop, after it was resumed") {
        gang.is("PSUSP");
        gang.is("PEND");
        gang.is("PSUSP");
        CHECK_FALSE(gang.placeable());
    }
}

TEST_CASE("a hold that comes of a requeue is ours or its user's by who ordered it") {
    for (const bool ours : {true, false}) {
        Held gang;
        gang.is("PSUSP");
        gang.is("RUN", there);
        if (ours) gang.jobs.expect_hold(44, false, gang.now);
        gang.read(); // the signals are under way
        gang.is("EXIT", there);
        gang.is("PSUSP");
        CHECK(gang.job(44)->restarts == 1);
        CHECK(gang.placeable() == ours);
    }
    // An order that was refused counts for nothing, nor does one of hours ago.
    for (const bool refused : {true, false}) {
        Held gang;
        gang.is("RUN", there);
        gang.jobs.expect_hold(44, false, gang.now);
        if (refused)
            gang.jobs.expect_no_hold(44);
        else
            gang.now += base::Duration(7'200'000);
        gang.is("PSUSP");
        CHECK_FALSE(gang.placeable());
    }
}

TEST_CASE("a hold that nobody saw is its user's until an order of before is given again") {
    restart::RmJob before;
    before.id = JobId(44);
    before.queue = before.home = "gang";
    Held gang;
    SECTION("it ran") {
        before.phase = JobPhase::running;
        before.nodes = {"n4", "n2"};
        gang.jobs.recall({before});
        gang.is("PSUSP");
        CHECK(gang.job(44)->held);
        CHECK(gang.job(44)->restarts == 1);
        gang.jobs.expect_hold(44, false, gang.now);
        CHECK(gang.placeable());
    }
    SECTION("it was resumed") {
        before.resumed = true;
        gang.jobs.recall({before});
        gang.is("PSUSP");
        CHECK_FALSE(gang.placeable());
    }
    SECTION("it was held already, by us") {
        gang.jobs.recall({before});
        gang.is("PSUSP");
        CHECK(gang.placeable());
    }
    SECTION("it was held already, by its user") {
        before.held = true;
        gang.jobs.recall({before});
        gang.is("PSUSP");
        gang.jobs.expect_hold(44, false, gang.now);
        CHECK_FALSE(gang.placeable());
    }
}

TEST_CASE("what was stopped because it started while it was being held is resumed, nothing else") {
    Held gang;
    gang.is("PEND");
    gang.jobs.expect_hold(44, true, gang.now);
    gang.is("RUN", there);
    CHECK(gang.jobs.stopped(gang.now).empty());
    gang.is("USUSP", there);
    CHECK(gang.jobs.stopped(gang.now) == std::vector<JobId>{44});
    gang.jobs.expect_no_hold(44);
    CHECK(gang.jobs.stopped(gang.now).empty());
    gang.is("RUN", there);
    gang.jobs.expect_hold(44, false, gang.now); // a requeue of what its user has suspended
    gang.is("USUSP", there);
    CHECK(gang.jobs.stopped(gang.now).empty());
}
