#include "restart/ckpt/options.hpp"
#include "restart/ckpt/schedule.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <map>

using namespace restart::ckpt;
using restart::Seconds;

namespace {
std::optional<AgentState> agent(std::optional<double> interval, std::optional<double> save_by = {},
                                std::string incident = {}) {
    return AgentState{interval, save_by, std::move(incident)};
}
const std::optional<AgentState> none;
const std::optional<Seconds> unset;

base::Expected<Options> with(std::map<std::string, std::string> environment, const Given& given = {}) {
    return resolve(given, [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}
} // namespace

TEST_CASE("the interval is the agent's, else the user's, else Young's, else fixed") {
    const Seconds day{86400}, cost{60}, user{90};
    CHECK(choose_interval(agent(37.5), user, cost, day).length == Seconds{37.5});
    CHECK(choose_interval(agent({}), user, cost, day).length == user);
    CHECK(choose_interval(none, user, cost, day).source == Source::user);
    const auto young = choose_interval(none, unset, cost, day);
    CHECK(young.source == Source::young);
    CHECK(young.length.count() == Approx(3219.93788));
    CHECK(choose_interval(none, unset, Seconds{0}, day).length == Seconds{10});
    CHECK(choose_interval(none, unset, Seconds{1e6}, Seconds{1e6}).length == Seconds{43200});
    CHECK(choose_interval(none, unset, unset, day).length == first_interval);
}

TEST_CASE("a checkpoint is due when its interval has passed") {
    const Interval interval{Seconds{30}, Source::user};
    CHECK_FALSE(decide(none, interval, {Seconds{29.9}, {}, ""}).due());
    CHECK(decide(none, interval, {Seconds{10}, {}, ""}).left == Seconds{20});
    CHECK(decide(none, interval, {Seconds{30}, {}, ""}).reason == Reason::interval);
    CHECK(to_sentence(decide(none, interval, {Seconds{10}, {}, ""})) ==
          "not yet: 20.0 s of 30.0 s left (interval set by the user)");
}

TEST_CASE("a request to save makes it due at once, and one commit serves it") {
    const Interval interval{Seconds{30}, Source::agent};
    const auto asked = agent(30.0, 1700000009.0, "i-7");
    CHECK(decide(asked, interval, {Seconds{0}, {}, ""}).reason == Reason::save_request);
    CHECK_THAT(to_sentence(decide(asked, interval, {})),
               Catch::StartsWith("due: Railyard asks to save by ") && Catch::EndsWith(" (i-7)"));
    CHECK_FALSE(decide(asked, interval, {Seconds{1}, {}, request_of(asked)}).due());
    // The same incident with a later deadline is the same request; another incident is another.
    CHECK_FALSE(
        decide(agent(30.0, 1700000019.0, "i-7"), interval, {Seconds{1}, {}, request_of(asked)}).due());
    CHECK(decide(agent(30.0, 1700000009.0, "i-8"), interval, {Seconds{1}, {}, request_of(asked)}).due());
    CHECK(decide(agent(30.0, 5.0), interval, {Seconds{1}, {}, request_of(agent(30.0, 4.0))}).due());
    CHECK(request_of(agent(30.0, {}, "i-7")).empty());
    CHECK(request_of(none).empty());
}

TEST_CASE("after a failure the next attempt waits a little") {
    const Interval interval{Seconds{30}, Source::user};
    const auto soon = decide(none, interval, {Seconds{40}, Seconds{1}, ""});
    CHECK(soon.reason == Reason::failed);
    CHECK(soon.left == Seconds{4});
    CHECK(to_sentence(soon) == "not yet: 4.0 s until another attempt, as the last one failed");
    CHECK(decide(none, interval, {Seconds{40}, Seconds{5}, ""}).due());
    CHECK(decide(none, interval, {Seconds{10}, Seconds{1}, ""}).reason == Reason::not_yet);
    CHECK_FALSE(decide(agent({}, 5.0), interval, {Seconds{10}, Seconds{1}, ""}).due());
}

TEST_CASE("options come from the program, else the environment, else defaults") {
    const auto plain = with({{"RAIL_CKPT_DIR", "/scratch/run7"}});
    REQUIRE(plain);
    CHECK(plain->dir == "/scratch/run7");
    CHECK(plain->job == 0);
    CHECK(plain->keep == 2);
    CHECK(plain->socket.empty());
    CHECK_FALSE(plain->interval);
    const auto full = with({{"RAIL_CKPT_DIR", "/d"},
                            {"RAIL_CKPT_SOCKET", "/s"},
                            {"SLURM_JOB_ID", "12"},
                            {"SLURM_RESTART_COUNT", "3"},
                            {"RAIL_CKPT_KEEP", "5"},
                            {"RAIL_CKPT_INTERVAL", "90"},
                            {"RAIL_CKPT_MTBF", "2d"}});
    REQUIRE(full);
    CHECK(full->job == 12);
    CHECK(full->restart == 3);
    CHECK(full->keep == 5);
    CHECK(full->interval == Seconds{90});
    CHECK(full->mtbf == Seconds{172800});
    Given given;
    given.dir = "/e";
    given.socket = "";
    given.restart = 1;
    const auto both =
        with({{"RAIL_CKPT_DIR", "/d"}, {"RAIL_CKPT_SOCKET", "/s"}, {"SLURM_RESTART_COUNT", "3"}}, given);
    CHECK(both->dir == "/e");
    CHECK(both->socket.empty());
    CHECK(both->restart == 1);
    // Under LSF rail-lsf-run says which job it is, and Slurm, where it is there, before it.
    const auto lsfs = with({{"RAIL_CKPT_DIR", "/d"}, {"RAIL_JOB_ID", "12[3]"}, {"RAIL_RESTART_COUNT", "2"}});
    REQUIRE(lsfs);
    CHECK(to_string(lsfs->job) == "12[3]");
    CHECK(lsfs->restart == 2);
    const auto slurms = with({{"RAIL_CKPT_DIR", "/d"},
                              {"SLURM_JOB_ID", "7"},
                              {"RAIL_JOB_ID", "12"},
                              {"RAIL_RESTART_COUNT", "2"}});
    REQUIRE(slurms);
    CHECK(slurms->job == 7);
    CHECK(slurms->restart == 0);
}

TEST_CASE("bad options and variables are named") {
    const auto refused = [](const base::Expected<Options>& options, const char* what) {
        REQUIRE_FALSE(options);
        CHECK(options.error().code == base::Code::usage);
        CHECK_THAT(options.error().text, Catch::Contains(what));
    };
    refused(with({}), "set RAIL_CKPT_DIR");
    refused(with({{"RAIL_CKPT_DIR", ""}}), "set RAIL_CKPT_DIR");
    for (const char* name :
         {"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "RAIL_CKPT_KEEP", "RAIL_CKPT_INTERVAL", "RAIL_CKPT_MTBF"})
        for (const char* value : {"x", "-1", "1x"})
            refused(with({{"RAIL_CKPT_DIR", "/d"}, {name, value}}), name);
    refused(with({{"RAIL_CKPT_DIR", "/d"}, {"SLURM_RESTART_COUNT", "10000"}}), "SLURM_RESTART_COUNT");
    refused(with({{"RAIL_CKPT_DIR", "/d"}, {"RAIL_CKPT_KEEP", "0"}}), "at least 1");
    refused(with({{"RAIL_CKPT_DIR", "/d"}, {"RAIL_CKPT_INTERVAL", "0"}}), "not above 0");
    const auto given = [](auto set) {
        Given g;
        g.dir = "/d";
        set(g);
        return with({}, g);
    };
    refused(given([](Given& g) { g.dir = ""; }), "dir");
    refused(given([](Given& g) { g.restart = 10000; }), "restart");
    refused(given([](Given& g) { g.keep = 0; }), "keep");
    refused(given([](Given& g) { g.interval = Seconds{-1}; }), "interval");
    refused(given([](Given& g) { g.mtbf = Seconds{std::numeric_limits<double>::infinity()}; }), "mtbf");
}
