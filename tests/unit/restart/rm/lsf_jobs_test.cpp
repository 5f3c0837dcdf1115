// What follows from lists that only say what is now.

#include "restart/rm/lsf_jobs.hpp"

#include "lsf_lists.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using base::JobId;
using restart::JobPhase;
using restart::LsfJobDetails;
using restart::LsfJobRow;

using lsf_lists::Lists;
using lsf_lists::settles;

TEST_CASE("each requeue of a job is a new start, also one whose end is not shown") {
    for (const bool shown : {true, false}) {
        Lists lists;
        lists.add(44);
        lists.read();
        CHECK(lists.job(44)->phase == JobPhase::pending);
        CHECK(lists.job(44)->node_count == 2);
        CHECK(restart::is_gang(*lists.job(44)));
        CHECK_FALSE(restart::is_released(*lists.job(44)));
        lists.show(44, "PEND", "gangrun");
        lists.read();
        CHECK(restart::is_released(*lists.job(44)));
        CHECK(lists.job(44)->home == "gang");
        lists.show(44, "RUN", "gangrun", "8*n4:8*n2");
        lists.read();
        CHECK(lists.job(44)->phase == JobPhase::running);
        CHECK(lists.job(44)->nodes == std::vector<std::string>{"n4", "n2"});
        CHECK(lists.job(44)->restarts == 0);
        lists.show(44, "RUN", "gang", "8*n4:8*n2");
        lists.read();
        CHECK(lists.job(44)->restarts == 0);

        // brequeue: EXIT for some seconds, or gone from the list, then PEND.
        if (shown)
            lists.show(44, "EXIT", "gang", "8*n4:8*n2");
        else
            lists.hide(44);
        lists.read();
        lists.read();
        REQUIRE(lists.job(44));
        CHECK(lists.job(44)->phase == JobPhase::completing);
        lists.show(44, "PEND", "gang");
        lists.read();
        CHECK(lists.job(44)->phase == JobPhase::pending);
        CHECK(lists.job(44)->restarts == 1);
        lists.show(44, "RUN", "gang", "8*n1:8*n3");
        lists.read();
        CHECK(lists.job(44)->restarts == 1);
    }
}

TEST_CASE("the native rerun after the loss of the first host is a new start") {
    Lists lists;
    lists.add(44);
    lists.show(44, "RUN", "gang", "8*n1:8*n3");
    lists.read();
    lists.show(44, "UNKWN", "gang", "8*n1:8*n3");
    lists.read();
    CHECK(lists.job(44)->phase == JobPhase::running);
    lists.show(44, "ZOMBI", "gang", "8*n1:8*n3");
    lists.read();
    lists.show(44, "PEND", "gang");
    lists.read();
    CHECK(lists.job(44)->restarts == 1);
}

TEST_CASE("an end counts once it has lasted, and a failure is told with its status") {
    for (const std::uint32_t code : {0U, 7U, 130U, 140U}) {
        Lists lists;
        lists.add(44);
        lists.show(44, "RUN", "gang", "8*n1:8*n3");
        lists.read();
        lists.hide(44);
        lists.known[44].state = code == 0 ? "DONE" : "EXIT";
        if (code != 0) lists.known[44].exit_code = code;
        if (code == 0) { // done is done, at once
            lists.known[44].done = lists.now;
            lists.read();
            lists.read();
            REQUIRE(lists.job(44));
            CHECK(lists.job(44)->phase == JobPhase::ended);
            CHECK(
                *lists.job(44)->failure ==
                restart::RmFailure{0, *lists.known[44].done, {"n1", "n3"}}); // in case a host was lost before
            for (int second = 0; second < 61; ++second)
                lists.read();
            CHECK_FALSE(lists.job(44));
            continue;
        }
        for (int second = 0; second < 7; ++second) {
            lists.read();
            REQUIRE(lists.job(44));
            CHECK(lists.job(44)->phase == JobPhase::completing);
        }
        lists.read();
        lists.read();
        const auto job = lists.job(44);
        REQUIRE(job.has_value() == (code != 140)); // at its run limit
        if (!job) continue;
        CHECK(job->failure->code == code);
        CHECK(job->failure->signalled == (code == 130)); // bkill, or mpirun that lost a host
        // Requeued from its end.
        lists.show(44, "PEND", "gang");
        lists.read();
        CHECK(lists.job(44)->phase == JobPhase::pending);
    }
}

TEST_CASE("a clock that is set makes no end of a requeue, and none last longer") {
    for (const base::Duration by : {base::Duration(3'600'000), base::Duration(-3'600'000)}) {
        Lists lists;
        lists.add(44);
        lists.show(44, "RUN", "gang", "8*n1:8*n3");
        lists.read();
        lists.jobs.exclude(44, {"n3"}, {});
        lists.hide(44);
        lists.known[44].state = "EXIT";
        lists.known[44].exit_code = 7;
        lists.read();
        lists.now += by;
        lists.jobs.clock_set(by);
        for (int second = 1; second < 7; ++second) {
            lists.read();
            REQUIRE(lists.job(44));
            CHECK(lists.job(44)->phase == JobPhase::completing);
        }
        SECTION(by.count() > 0 ? "requeued" : "requeued, set back") {
            lists.show(44, "PEND", "gang");
            lists.read();
            CHECK(lists.job(44)->restarts == 1);
            CHECK(lists.job(44)->excluded == std::vector<std::string>{"n3"});
        }
        SECTION(by.count() > 0 ? "ended" : "ended, set back") {
            lists.read();
            lists.read();
            REQUIRE(lists.job(44));
            CHECK(lists.job(44)->phase == JobPhase::ended);
            CHECK(lists.job(44)->failure->code == 7);
        }
    }
}

TEST_CASE("what runs has begun, also where LSF's clock is ahead") {
    Lists lists;
    lists.add(44);
    lists.known[44].started = lists.now + base::Duration(3'600'000);
    lists.show(44, "RUN", "gang", "8*n1:8*n3");
    lists.read();
    CHECK(lists.job(44)->start == lists.now);
    lists.known[44].started = lists.now - base::Duration(500);
    lists.show(44, "RUN", "gangrun", "8*n1:8*n3"); // changed: asked again
    lists.read();
    CHECK(lists.job(44)->start == *lists.known[44].started);
}

TEST_CASE("a job that cannot be told from what its user calls it waits, says so, and is asked for again") {
    Lists lists;
    lists.add(44);
    lists.known[44].user = "root"; // forged: the list says alice
    lists.known[44].project = "forged";
    lists.read();
    REQUIRE(lists.job(44));
    CHECK(lists.job(44)->account.empty());
    CHECK(lists.job(44)->why.find("bmod -J") != std::string::npos);
    REQUIRE(lists.queue().size() == 1);
    CHECK(lists.queue()[0].waits_for == restart::WaitsFor::other);
    CHECK(lists.queue()[0].why.find("bmod -J") != std::string::npos);
    lists.known[44].user = "alice";
    for (int second = 0; second < 11; ++second)
        lists.read();
    CHECK(lists.job(44)->why.empty());
    CHECK(lists.queue()[0].waits_for == restart::WaitsFor::hosts);
}

TEST_CASE("a job that its user moved to another queue is LSF's to place, and it says so") {
    Lists lists;
    lists.add(44);
    lists.read();
    lists.show(44, "PEND", "normal");
    lists.read();
    REQUIRE(lists.job(44));
    CHECK(lists.job(44)->home.empty());
    CHECK(lists.job(44)->why == "LSF places the jobs of queue normal, not Railyard");
}

TEST_CASE("a waiting job that is gone has ended at once") {
    Lists lists;
    lists.add(44);
    lists.read();
    lists.hide(44);
    lists.read();
    CHECK_FALSE(lists.job(44));
}

TEST_CASE("what an earlier life knew goes on: starts, exclusions, the queue it came from") {
    Lists lists;
    restart::RmJob before;
    before.id = JobId(44);
    before.phase = JobPhase::running;
    before.nodes = {"n4", "n2"};
    before.restarts = 3;
    before.excluded = {"n9"};
    before.queue = before.home = "gang2";
    lists.jobs.recall({before});
    lists.add(44, "gangrun");
    lists.read(); // it waits: it was requeued meanwhile, and is in the run queue
    CHECK(lists.job(44)->restarts == 4);
    CHECK(lists.job(44)->excluded == std::vector<std::string>{"n9"});
    CHECK(lists.job(44)->home == "gang2");
}

TEST_CASE("exclusions are kept until they are lifted") {
    Lists lists;
    lists.add(44);
    lists.read();
    CHECK(lists.jobs.exclude(44, {"n1", "n2"}, {}));
    CHECK(lists.jobs.exclude(44, {"n1"}, {"n2"}));
    lists.read();
    CHECK(lists.job(44)->excluded == std::vector<std::string>{"n1"});
    CHECK(lists.queue().front().excluded == std::vector<std::string>{"n1"});
    CHECK_FALSE(lists.jobs.exclude(45, {"n1"}, {}));
}

TEST_CASE("the queue is in LSF's order: by priority, then as listed") {
    Lists lists;
    lists.add(10);
    lists.add(11, "gang2");
    lists.add(12);
    lists.add(13, "normal", 1);
    lists.read();
    std::vector<std::uint64_t> ids;
    for (const auto& job : lists.queue())
        ids.push_back(job.id.number());
    CHECK(ids == std::vector<std::uint64_t>{11, 10, 12, 13});
    const auto queue = lists.queue();
    CHECK(queue[0].least == 2);
    CHECK(queue[0].waits_for == restart::WaitsFor::hosts);
    CHECK(queue[0].exclusive);
    CHECK(queue[3].waits_for == restart::WaitsFor::other); // not ours
}

TEST_CASE("in a queue that users share the order is by their shares, within the queue's priority") {
    Lists lists;
    lists.add(9);  // alice's, and runs
    lists.add(10); // alice's
    lists.add(11); // alice's
    lists.add(12); // bob's
    lists.add(13, "gang2");
    lists.known[12].user = lists.rows[12].user = "bob";
    lists.show(9, "RUN", "gang", "8*n1:8*n2");
    lists.shares["gang"].accounts = {{{"alice"}, 1, 0.02, 16}, {{"bob"}, 1, 0.333, 0}};
    lists.read();
    const auto ids = [&] {
        std::vector<std::uint64_t> numbers;
        for (const auto& job : lists.queue())
            numbers.push_back(job.id.number());
        return numbers;
    };
    CHECK(ids() == std::vector<std::uint64_t>{13, 12, 10, 11, 9});
    const auto queue = lists.queue();
    REQUIRE(queue[1].standing);
    CHECK(queue[1].standing->share == 0.333);
    CHECK(queue[1].standing->priority == 40);
    CHECK(queue[1].standing->listed == 3);
    CHECK_FALSE(queue[0].standing->share);
    CHECK_FALSE(queue[4].standing); // it runs
    CHECK(lists.jobs.users(lists.shares) == std::set<std::string>{"alice", "bob"});
    CHECK(lists.jobs.users({}).empty());

    // What has its plan and is about to start counts, before LSF has counted it: bob has had his.
    lists.add(14);
    lists.known[14].user = lists.rows[14].user = "bob";
    lists.show(12, "PEND", "gangrun");
    lists.rows[12].user = "bob";
    lists.read();
    CHECK(ids() == std::vector<std::uint64_t>{13, 10, 14, 11, 9, 12});
    // Without shares they are as listed again.
    lists.shares.clear();
    CHECK(ids() == std::vector<std::uint64_t>{13, 10, 11, 14, 9, 12});
}

TEST_CASE("details are asked once, and again when the job may have changed") {
    Lists lists;
    for (std::uint64_t id = 1; id <= 50; ++id)
        lists.add(JobId(id));
    lists.read();
    CHECK(lists.asked == 50);
    lists.read();
    CHECK(lists.asked == 50);
    lists.show(7, "RUN", "gang", "8*n1:8*n2");
    lists.read();
    CHECK(lists.asked == 51);
    for (int second = 0; second < 61; ++second)
        lists.read();
    CHECK(lists.asked == 51 + 49); // those that wait, once a minute
}

TEST_CASE("a row that is there twice changes nothing") {
    Lists lists;
    lists.add(44);
    lists.read();
    auto other = lists.rows[44];
    other.state = "RUN";
    other.hosts = restart::read_hosts("8*n1");
    lists.jobs.take({lists.rows[44], other}, lists.now);
    CHECK(lists.jobs.odd() == std::vector<JobId>{44});
    CHECK(lists.job(44)->phase == JobPhase::pending);
}

TEST_CASE("many jobs that wait do not keep those that run from being asked about") {
    Lists lists;
    lists.most = 10;
    for (std::uint64_t id = 1; id <= 100; ++id)
        lists.add(JobId(id));
    lists.read();
    CHECK(lists.queue().size() == 10); // as listed
    CHECK(lists.queue().front().id == JobId(1));
    lists.show(99, "RUN", "gang", "8*n1:8*n2");
    lists.read();
    CHECK(lists.job(99));
    for (int second = 0; second < 12; ++second)
        lists.read();
    CHECK(lists.queue().size() == 100);
}

TEST_CASE("what an earlier life knew stands until it was asked for again") {
    Lists lists;
    restart::RmJob before;
    before.id = JobId(44);
    before.title = "train";
    before.queue = before.home = "gang";
    lists.jobs.recall({before});
    lists.most = 0;
    lists.add(44);
    lists.read();
    REQUIRE(lists.job(44)); // or it would count as ended
    CHECK(lists.job(44)->title == "train");
    CHECK(lists.queue().empty()); // but its place waits for what it asks for now
}
