// Random faults, people and crashes against step(): whatever happens, some things must never.

#include "restart/core/state_rows.hpp"
#include "unit/trials.hpp"
#include "world.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

using restart::ActionKind;
using restart::Severity;

namespace {

constexpr std::size_t hosts = 12;

// Judges each action against what was known when it was decided, and the bounds at all times.
class Judge {
public:
    explicit Judge(World& world) : world_(world) {
        world.watch = [this](const restart::Action& action) { look_at(action); };
        world.done = [this](const restart::Action& action) {
            INFO(restart::describe(action));
            CHECK(restart::overtaken(world_.state(), world_.policy, action).empty());
            if (action.kind == ActionKind::requeue_job && done_.insert(action.id).second)
                CHECK(++requeues_[fmt::format("{} {} {}", incident_of(action), action.job, action.epoch)] == 1);
        };
    }

    void look() const {
        const auto limit = std::ceil(world_.policy.max_drained_percent * hosts / 100);
        CHECK(static_cast<double>(restart::drained_by_us(world_.state())) <= limit);
        for (const auto& host : world_.drained_by_person) {
            INFO(host);
            CHECK(world_.node(host).drain);
            CHECK(world_.node(host).reason == "fan");
        }
        const auto& excluded = world_.job(1).excluded;
        CHECK(std::find(excluded.begin(), excluded.end(), "n900") != excluded.end());
    }

private:
    void look_at(const restart::Action& action) {
        INFO(restart::describe(action));
        // One id is one action, over all retries and restarts.
        const auto [known, fresh] = by_id_.emplace(action.id, action);
        CHECK(known->second == action);
        CHECK_FALSE(world_.policy.observe_only);
        if (action.job != 0) {
            CHECK(world_.has_job(action.job));
            if (action.kind != ActionKind::tell_job) CHECK(world_.job(action.job).restart == true);
            return;
        }
        // A drain that is known to be a person's is not even attempted.
        const auto& node = world_.state().hosts.at(action.host).node;
        REQUIRE(node);
        const bool persons = node->drain && restart::owner_of(node->reason).empty();
        if (action.kind != ActionKind::down_host) CHECK_FALSE(persons);
        if (action.kind == ActionKind::down_host && persons) CHECK((!action.drain && action.reason.empty()));
        if (!action.reason.empty()) CHECK_FALSE(restart::owner_of(action.reason).empty());
    }

    static std::string incident_of(const restart::Action& action) {
        const auto slash = action.id.find('/');
        REQUIRE(slash != std::string::npos);
        return action.id.substr(0, slash);
    }

    World& world_;
    std::set<std::string> done_;
    std::map<std::string, restart::Action> by_id_;
    std::map<std::string, int> requeues_;
};

void disturb(World& world, std::mt19937& random) {
    const auto roll = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
    const auto host = fmt::format("n{:03}", 1 + roll(hosts));
    const auto job = 1 + roll(4);
    switch (roll(17)) {
    case 0: world.power_off(host); break;
    case 1: world.stop_agent(host); break;
    case 2:
    case 3: world.start_agent(host); break;
    case 4: world.find(host, roll(2) == 0 ? Severity::evict : Severity::fatal); break;
    case 5: world.find(host, Severity::warn, "ib.counter.symbol_error"); break;
    case 6: world.clear(host); break;
    case 7: world.person_drains(host); break;
    case 8: world.person_resumes(host); break;
    case 9: world.rm_answers = !world.rm_answers; break;
    case 10: world.perform = !world.perform; break;
    case 11: world.report_outcomes = !world.report_outcomes; break;
    case 12: world.restart_daemon(); break;
    case 13:
        if (world.has_job(job) && !world.job(job).nodes.empty())
            world.commit(job, static_cast<std::uint64_t>(world.seconds()));
        break;
    case 14: world.tell(restart::OperatorDrain{host, "fuzz", "alice"}); break;
    case 15: world.tell(restart::OperatorResume{host, "bob"}); break;
    case 16: world.policy.observe_only = !world.policy.observe_only; break;
    default: break;
    }
}

// The rows as the journal keeps them: together they are the state, at any time.
struct Stored {
    std::map<std::string, std::string> rows;
    restart::StateRows changed;

    void follow(const restart::State& state) {
        for (const auto& row : changed.changes(state)) {
            if (row.json.empty()) CHECK(rows.contains(row.key)); // only what was there goes
            if (row.json.empty())
                rows.erase(row.key);
            else
                rows[row.key] = row.json;
        }
        std::vector<restart::StateRow> all;
        for (const auto& [key, json] : rows)
            all.push_back({key, json});
        const auto read = restart::state_from_rows(all);
        INFO((read ? "" : read.error().text));
        REQUIRE(read);
        CHECK(*read == state);
    }
};

} // namespace

TEST_CASE("whatever happens, no job is requeued twice for one fault and no bound is passed") {
    for (int seed = 1; seed <= test::trials(30); ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        World world(hosts, 4);
        world.policy.max_drained_percent = 30;
        world.policy.observe_only = seed % 10 == 4;
        world.round_trip = 16;
        world.end_delay = seed % 3 == 0 ? 3.0 : 0.25;
        world.job(world.submit({"n001", "n002", "n003"})).excluded = {"n900"}; // its user's
        world.submit({"n004", "n005"});
        world.submit({"n006"}, false);
        world.submit({"n007", "n008"}, std::nullopt);
        Judge judge(world);
        Stored stored;
        for (int move = 0; move < 100; ++move) {
            INFO("seed " << seed << " move " << move << "\n" << world.story());
            disturb(world, random);
            world.run(0.25 * static_cast<double>(1 + random() % 12));
            judge.look();
            stored.follow(world.state());
        }
        // When all is well again everything comes to an end.
        world.rm_answers = world.perform = world.report_outcomes = true;
        world.policy.observe_only = false;
        for (int i = 1; i <= 12; ++i) {
            world.start_agent(fmt::format("n{:03}", i));
            world.clear(fmt::format("n{:03}", i));
        }
        world.restart_daemon();
        world.run(30);
        for (int i = 1; i <= 12; ++i)
            world.person_resumes(fmt::format("n{:03}", i));
        world.run(200);
        INFO("seed " << seed << "\n" << world.story());
        CHECK(world.state().incidents.empty());
        judge.look();
    }
}

TEST_CASE("a snapshot that names nothing, or everything twice, is survived") {
    World world(3);
    world.submit({"n001", "n002"});
    world.run(2);
    restart::RmSnapshot empty;
    world.tell(restart::RmRead{empty});
    world.run(5);
    restart::RmSnapshot twice;
    for (int i = 0; i < 2; ++i) {
        twice.nodes.push_back(world.node("n001"));
        twice.jobs.push_back(world.job(1));
    }
    twice.nodes[0].reason = "bad \xff\x01 text";
    world.tell(restart::RmRead{twice});
    CHECK(world.actions.empty());
    const auto state = restart::State::from_json(world.state().to_json());
    REQUIRE(state);
    CHECK(*state == world.state());
}

TEST_CASE("rows that make no state are refused with the row") {
    const auto error = [](std::vector<restart::StateRow> rows) {
        return restart::state_from_rows(rows).error().text;
    };
    World world(2);
    world.run(1);
    auto rows = restart::StateRows().changes(world.state());
    REQUIRE(rows.size() == 3);
    CHECK(restart::StateRows(world.state()).changes(world.state()) == std::vector<restart::StateRow>{rows.back()});
    CHECK(error({rows[0], rows[1]}) == "rest: the row is missing");
    CHECK(error({{"hosts", "{}"}, rows.back()}) == "hosts: a row of no kind that is known");
    CHECK_THAT(error({{"incident/7", "{}"}, rows.back()}), Catch::StartsWith("incidents.7.number: is missing"));
    CHECK_THAT(error({{"host/n\"1", R"({"lost":3})"}, rows.back()}), Catch::Contains("lost"));
}

TEST_CASE("a state that was cut or changed is refused with the place") {
    World world(3);
    world.submit({"n001", "n002"});
    world.power_off("n002");
    world.run(5);
    const auto text = world.state().to_json();
    for (std::size_t length = 0; length < text.size(); length += 7)
        CHECK_FALSE(restart::State::from_json(text.substr(0, length)));
    CHECK(restart::State::from_json(R"({"v":3})").error().text == "v: 3 is not between 1 and 2");
    CHECK(restart::State::from_json(R"({"v":0})").error().text == "v: 0 is not between 1 and 2");
    CHECK_THAT(restart::State::from_json(R"({"v":1})").error().text, Catch::Contains("hosts: is missing"));
}

TEST_CASE("a state of version 1 is taken up: what a person may have decided stands, our exclusions are ours") {
    restart::State state;
    const auto host = [&](const std::string& name) -> restart::HostState& {
        auto& made = state.hosts[name];
        made.node.emplace().name = name;
        made.node->state = "IDLE";
        made.findings.push_back({"gpu.lost", "gpu3", Severity::fatal, {}, "gone"});
        return made;
    };
    host("n001");
    host("n002");
    host("n003").node->drain = true;
    state.hosts["n003"].node->reason = "railyard[i-1]: gone";
    auto& job = state.jobs[7];
    job.rm.id = 7;
    job.rm.excluded = {"n900", "n002"};
    auto& incident = state.incidents[2];
    incident.number = 2;
    incident.host = "n002";
    incident.jobs.resize(2);
    incident.jobs[0].id = 7;
    incident.jobs[0].recover = true;
    incident.jobs[0].stopped = base::Time{};
    incident.jobs[1].id = 8;
    incident.jobs[1].settled = true;
    auto& intent = incident.intents.emplace_back();
    intent.action.id = "i-2/1";
    intent.action.kind = ActionKind::requeue_job;
    intent.action.job = 7;
    intent.action.exclude = {"n002"};
    intent.progress = restart::Progress::done;
    state.next_incident = 3;

    auto text = state.to_json();
    const auto put = [&](std::string_view before, std::string_view after) {
        for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += after.size())
            text.replace(at, before.size(), after);
    };
    put("\"v\":2", "\"v\":1");
    put("\"findings\":", "\"judged\":[\"gpu.lost@gpu3\",\"ended@gpu1\"],\"findings\":");
    put("\"next_action\":1", "\"next_action\":1,\"drain_decided\":true,\"down_decided\":true");
    auto read = restart::State::from_json(text);
    REQUIRE(read);
    CHECK(read->hosts.at("n001").pardoned == std::vector<std::string>{"gpu.lost@gpu3"}); // in use all the same
    CHECK(read->hosts.at("n002").pardoned.empty()); // its incident is open
    CHECK(read->hosts.at("n003").pardoned.empty()); // drained
    CHECK(read->jobs.at(7).kept_off == std::vector<std::string>{"n002"});
    CHECK(read->jobs.at(7).hurt_by == std::vector<std::string>{"n002"});
    REQUIRE(read->incidents.at(2).jobs.size() == 1);
    CHECK(read->incidents.at(2).jobs[0].id == 7);
    // Written again it is of this version.
    const auto again = restart::State::from_json(read->to_json());
    REQUIRE(again);
    CHECK(*again == *read);
}
