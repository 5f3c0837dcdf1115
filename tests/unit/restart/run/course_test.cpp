#include "restart/run/course.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

using namespace std::chrono_literals;
using namespace restart::run;
using restart::RunAdvice;
using restart::RunOrder;

namespace {

// railrun's hands, as words: "launch n1,n2", "end", "kill", "forward 10", "look", "over", "requeue", "exit
// 3".
class Trip {
public:
    explicit Trip(Rules rules = {}, bool heard = true)
        : course(rules, {{"n1", "n2", "n3", "n4"}, {"n5", "n6"}}, allocation, newest) {
        if (heard) advise({});
    }

    // Everything but what is said.
    std::string feed(const Event& event) {
        std::string words;
        for (const auto& command : course.on(event, now)) {
            auto word = std::visit([&](const auto& what) { return spell(what); }, command);
            if (word.empty()) continue;
            words += (words.empty() ? "" : " ") + word;
            if (word == "look") words += follow(look());
        }
        return words;
    }
    std::string look() { return feed(Looked{answers ? std::optional(allocation) : std::nullopt, newest}); }
    std::string advise(const RunAdvice& advice) { return feed(Advised{advice}); }
    std::string order(std::uint32_t launch, const std::string& hosts) {
        return advise({true, false, RunOrder{launch, hosts, "i-7"}});
    }
    // Time passes in steps; what happened in it.
    std::string pass(base::Duration time) {
        std::string words;
        for (const auto end = now + time; now < end;) {
            now += 100ms;
            words += follow(feed(Passed{}), words.empty());
        }
        // Looks that lead to nothing are many.
        std::string kept;
        for (std::size_t at = 0; at < words.size();) {
            const auto space = std::min(words.find(' ', at), words.size());
            if (const auto word = words.substr(at, space - at); word != "look")
                kept += (kept.empty() ? "" : " ") + word;
            at = space + 1;
        }
        return kept;
    }
    void lose(const std::string& host) { std::erase(allocation, host); }

    Hosts allocation{"n1", "n2", "n3", "n4", "n5", "n6"};
    bool answers = true;
    std::optional<std::pair<std::uint32_t, std::uint64_t>> newest;
    base::Time now{1'700'000'000'000ms};
    std::string said;
    Course course;

private:
    static std::string follow(const std::string& words, bool first = false) {
        return words.empty() || first ? words : " " + words;
    }
    std::string spell(const Launch& what) {
        std::string hosts;
        for (const auto& host : what.seats.ranks)
            hosts += (hosts.empty() ? "" : ",") + host;
        return "launch:" + hosts;
    }
    std::string spell(const End& what) { return what.kill ? "kill" : "end"; }
    std::string spell(const Forward& what) { return fmt::format("forward:{}", what.number); }
    std::string spell(const Look&) { return "look"; }
    std::string spell(const Over&) { return "over"; }
    std::string spell(const Requeue&) { return "requeue"; }
    std::string spell(const Exit& what) { return fmt::format("exit:{}", what.status); }
    std::string spell(const Say& what) {
        said += what.text + '\n';
        return {};
    }
};

Rules requeuing() {
    Rules rules;
    rules.may_requeue = true;
    return rules;
}

} // namespace

TEST_CASE("a step that ends well ends railrun, at once") {
    Trip trip;
    CHECK(trip.feed(Ended{0}) == "look exit:0");
    CHECK(trip.feed(Ended{0}).empty());
}

TEST_CASE("a program's own failure is its own: believed when no host turns out to be lost") {
    Trip trip;
    CHECK(trip.feed(Ended{3}) == "look");
    CHECK(trip.pass(4'500ms).empty());
    CHECK(trip.pass(1s) == "exit:3");
    // Nobody would tell of a loss.
    Trip alone({}, false);
    CHECK(alone.feed(Ended{3}) == "look exit:3");
}

TEST_CASE("a failed step waits as long as restartd suspects one of its hosts") {
    Trip trip;
    trip.feed(Ended{1});
    trip.advise({true, true, {}});
    CHECK(trip.pass(20s).empty());
    SECTION("which is lost") {
        CHECK(trip.order(0, "n1,n2,n5,n4") == "launch:n1,n2,n5,n4");
    }
    SECTION("which was nothing") {
        trip.advise({true, false, {}});
        CHECK(trip.pass(1s) == "exit:1");
    }
    SECTION("for ever") {
        CHECK(trip.pass(60s) == "exit:1");
    }
}

TEST_CASE("a lost host: status 0 of its step is no success, and restartd says on which hosts it goes on") {
    Trip trip;
    trip.lose("n3");
    CHECK(trip.feed(Ended{0}) == "look");
    CHECK(trip.course.run() == restart::JobRun{0, "n[1-4]", "n[5-6]", true});
    CHECK(trip.order(0, "n[1-2],n6,n4") == "launch:n1,n2,n6,n4");
    CHECK(trip.course.run() == restart::JobRun{1, "n[1-2,6,4]", "n5", false});
    CHECK(trip.feed(Ended{0}) == "look exit:0");
}

TEST_CASE("without restartd's word spares are taken in turn") {
    Trip trip;
    trip.lose("n3");
    trip.lose("n5"); // a spare that is lost too is none
    CHECK(trip.feed(Ended{0}) == "look");
    SECTION("it is away") {
        CHECK(trip.pass(2s) == "launch:n1,n2,n6,n4");
    }
    SECTION("it knows, and says nothing") {
        trip.advise({true, false, {}});
        CHECK(trip.pass(4s).empty());
        CHECK(trip.pass(2s) == "launch:n1,n2,n6,n4");
    }
    Trip alone({}, false);
    alone.lose("n1");
    CHECK(alone.feed(Ended{0}) == "look launch:n5,n2,n3,n4");
}

TEST_CASE("an order ends the step, and the host that it leaves is not used again") {
    Trip trip;
    CHECK(trip.order(1, "n[1-3],n5").empty()); // of another launch
    CHECK(trip.order(0, "n[1-3],n5") == "end");
    CHECK(trip.order(0, "n[1-3],n5").empty());
    CHECK(trip.feed(Ended{143}) == "look launch:n1,n2,n3,n5");
    CHECK(trip.course.run() == restart::JobRun{1, "n[1-3,5]", "n6", false}); // n4 stands idle
    trip.lose("n2");
    trip.advise({});
    CHECK(trip.feed(Ended{0}) == "look");
    CHECK(trip.pass(2s) == "launch:n1,n6,n3,n5");
    trip.lose("n1");
    CHECK(trip.feed(Ended{0}) == "look");
    CHECK(trip.pass(2s) == "over");
}

TEST_CASE("a launcher that we ended may say 0: its step goes on elsewhere all the same") {
    Trip trip;
    trip.order(0, "n[1-3],n5");
    CHECK(trip.feed(Ended{0}) == "look launch:n1,n2,n3,n5");
}

TEST_CASE("a step that ended well just before its order needs none") {
    Trip trip;
    CHECK(trip.feed(Ended{0}) == "look exit:0");
    Trip blind;
    blind.answers = false;
    CHECK(blind.feed(Ended{0}) == "look");
    blind.answers = true;
    CHECK(blind.pass(300ms) == "exit:0");
}

TEST_CASE("a launcher that does not end is killed") {
    Trip trip;
    trip.order(0, "n[1-3],n5");
    CHECK(trip.pass(9'900ms).empty());
    CHECK(trip.pass(200ms) == "kill");
    CHECK(trip.pass(10s) == "kill");
    CHECK(trip.feed(Ended{137}) == "look launch:n1,n2,n3,n5");
}

TEST_CASE("a launcher that has lost a host is killed at once, as it may wait for it for ever") {
    Trip trip;
    trip.advise({true, false, RunOrder{0, "n[1-3],n5", "i-7", true}});
    CHECK(trip.pass(900ms).empty());
    CHECK(trip.pass(200ms) == "kill");
    CHECK(trip.feed(Ended{137}) == "look launch:n1,n2,n3,n5");
}

TEST_CASE("a launcher that waits for a lost host for ever is ended without restartd's word") {
    for (const bool agent : {false, true}) { // there is none; there is one, and restartd is not heard
        Trip trip({}, false);
        if (agent) trip.advise({false, false, {}});
        CHECK(trip.pass(100s).empty());
        trip.lose("n4");
        CHECK(trip.pass(31s).starts_with("end kill"));
        CHECK(trip.said.find("n4 lost, and restartd is not heard") != std::string::npos);
        trip.feed(Ended{137});
        CHECK(trip.pass(2s) == (agent ? "launch:n1,n2,n3,n5" : ""));
        CHECK(trip.course.seats().ranks == Hosts{"n1", "n2", "n3", "n5"});
    }
    Trip heard; // restartd, which knows more, decides
    heard.advise({true, false, {}});
    heard.lose("n4");
    CHECK(heard.pass(100s).empty());
    Trip blind({}, false);
    blind.answers = false; // slurmctld is away, too
    CHECK(blind.pass(100s).empty());
}

TEST_CASE("an order that cannot be followed is said once, and railrun chooses itself") {
    for (const char* hosts : {"n[1-3],n9", "n[1-3],n3", "n[1-3]", "n[1-"}) {
        Trip trip;
        trip.lose("n4");
        trip.feed(Ended{0});
        trip.order(0, hosts);
        trip.order(0, hosts);
        CHECK(trip.said.find("i-7: ") == trip.said.rfind("i-7: "));
        CHECK(trip.pass(6s) == "launch:n1,n2,n3,n5");
    }
}

TEST_CASE("an order that grows is the one that counts") {
    Trip trip;
    CHECK(trip.order(0, "n[1-3],n5") == "end");
    CHECK(trip.order(0, "n[1-2],n6,n5").empty());
    CHECK(trip.feed(Ended{143}) == "look launch:n1,n2,n6,n5");
}

TEST_CASE("with no spare left the job is restartd's to requeue") {
    Trip trip(requeuing());
    for (const char* host : {"n1", "n2", "n3"})
        trip.lose(host);
    CHECK(trip.feed(Ended{0}) == "look");
    CHECK(trip.pass(2s) == "over");
    CHECK(trip.said.find("no spare is left in the allocation for n3") != std::string::npos);
    CHECK(trip.pass(18s).empty());
    CHECK(trip.pass(4s) == "requeue"); // restartd does not
    CHECK(trip.pass(57s).empty());
    CHECK(trip.pass(4s) == "exit:1"); // and Slurm would not either

    Trip alone(requeuing(), false);
    alone.lose("n1");
    alone.lose("n5");
    alone.lose("n6");
    CHECK(alone.feed(Ended{0}) == "look over");
    CHECK(alone.pass(100ms) == "requeue");

    Trip never({}, false);
    never.allocation = {"n1", "n4"};
    CHECK(never.feed(Ended{9}) == "look over");
    CHECK(never.pass(100ms) == "exit:9"); // --restart=never
}

TEST_CASE("launches have a bound") {
    Rules rules = requeuing();
    rules.max_restarts = 1;
    Trip trip(rules, false);
    trip.lose("n1");
    CHECK(trip.feed(Ended{0}) == "look launch:n5,n2,n3,n4");
    trip.lose("n2");
    CHECK(trip.feed(Ended{0}) == "look over");
    CHECK(trip.pass(100ms) == "exit:1"); // it was asked to stop here: no requeue
    CHECK(trip.said.find("--max-restarts") != std::string::npos);
}

TEST_CASE("launches that make no newer checkpoint stop") {
    Rules rules;
    rules.most_futile = 1;
    Trip trip(rules, false);
    SECTION("none at all were ever there: nothing is known of progress") {
        trip.lose("n1");
        CHECK(trip.feed(Ended{0}) == "look launch:n5,n2,n3,n4");
        trip.lose("n5");
        CHECK(trip.feed(Ended{0}) == "look launch:n6,n2,n3,n4");
    }
    SECTION("the same stays the newest") {
        trip.newest = std::pair(0u, std::uint64_t{400});
        trip.lose("n1");
        CHECK(trip.feed(Ended{0}) == "look launch:n5,n2,n3,n4"); // it made that one
        trip.lose("n2");
        CHECK(trip.feed(Ended{0}) == "look over");
        CHECK(trip.said.find("no newer checkpoint") != std::string::npos);
    }
    SECTION("one that gets on begins the count anew") {
        trip.newest = std::pair(0u, std::uint64_t{400});
        trip.lose("n1");
        trip.feed(Ended{0});
        trip.newest = std::pair(1u, std::uint64_t{500});
        trip.lose("n2");
        CHECK(trip.feed(Ended{0}) == "look launch:n5,n6,n3,n4");
    }
}

TEST_CASE("signals go to the step; those that end it end railrun with its status") {
    Trip trip;
    CHECK(trip.feed(Signalled{SIGUSR1}) == fmt::format("forward:{}", SIGUSR1));
    CHECK(trip.feed(Signalled{SIGINT, true}).empty()); // the terminal told both
    CHECK(trip.feed(Signalled{SIGTERM}) == fmt::format("forward:{}", SIGTERM));
    trip.lose("n1");
    CHECK(trip.feed(Ended{143}) == "exit:143");

    Trip settling;
    settling.feed(Ended{0});
    Trip failing;
    failing.feed(Ended{7});
    CHECK(failing.feed(Signalled{SIGUSR1}).empty());
    CHECK(failing.feed(Signalled{SIGTERM}) == "exit:7");
    Trip lost;
    lost.lose("n1");
    lost.feed(Ended{0});
    CHECK(lost.feed(Signalled{SIGTERM}) == "exit:143");
    Trip ordered;
    ordered.order(0, "n[1-3],n5");
    ordered.feed(Signalled{SIGTERM});
    CHECK(ordered.feed(Ended{143}) == "exit:143");
}
