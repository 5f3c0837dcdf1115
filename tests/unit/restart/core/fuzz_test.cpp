// Random faults, people and crashes against step(): whatever happens, some things must never.

#include "restart/core/act/act.hpp"
#include "restart/core/store/state_json.hpp"
#include "restart/core/store/state_rows.hpp"
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
            CHECK(restart::why_obsolete(world_.state(), world_.policy, world_.now(), action).empty());
            if (drains(action) && !asked_for(action)) drained_.insert(host_of(action));
            const auto* requeue = restart::as<restart::RequeueJob>(action);
            if (requeue != nullptr && done_.insert(action.id).second)
                CHECK(++requeues_[fmt::format("{} {} {}", incident_of(action), to_string(job_of(action)),
                                              requeue->job.epoch)] == 1);
        };
    }

    void look() {
        persons_.insert(world_.drained_by_person.begin(), world_.drained_by_person.end());
        const auto limit = std::ceil(world_.policy.max_drained_percent * hosts / 100);
        CHECK(static_cast<double>(restart::drained_by_us(world_.state())) <= limit);
        if (world_.policy.max_drained_per_hour != 0) // all of it takes less than an hour
            CHECK(drained_.size() <= world_.policy.max_drained_per_hour);
        std::size_t lost = 0;
        for (const auto& [name, host] : world_.state().hosts)
            if (host.lost && host.rm_confirmed_only && !persons_.contains(name)) ++lost;
        CHECK(static_cast<double>(lost) <=
              std::max(3.0, std::ceil(world_.policy.max_lost_percent * hosts / 100)));
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
        if (!asked_for(action)) {
            CHECK(restart::pause_of(world_.state(), world_.now(), host_of(action)) == nullptr);
            CHECK(restart::maintenance_of(world_.state(), host_of(action)) == "");
        }
        if (const auto* job = target_of(action)) {
            CHECK(world_.has_job(job->id));
            if (kind_of(action) != ActionKind::notify_job) CHECK(world_.job(job->id).restart == true);
            return;
        }
        // A drain that is known to be a person's is not even attempted.
        const auto& node = world_.state().hosts.at(host_of(action)).node;
        REQUIRE(node);
        const bool persons = node->drain && restart::owner_of(node->reason).empty();
        const auto* down = restart::as<restart::DownHost>(action);
        if (down == nullptr) CHECK_FALSE(persons);
        if (down != nullptr && persons) CHECK((!down->drain && down->reason.empty()));
        if (down != nullptr && !down->reason.empty()) CHECK_FALSE(restart::owner_of(down->reason).empty());
        if (const auto* drain = restart::as<restart::DrainHost>(action))
            CHECK_FALSE(restart::owner_of(drain->reason).empty());
    }

    bool asked_for(const restart::Action& action) const {
        const auto open = world_.state().incidents.find(std::stoull(incident_of(action).substr(2)));
        return open != world_.state().incidents.end() &&
               open->second.kind == restart::IncidentKind::operator_request;
    }

    static std::string incident_of(const restart::Action& action) {
        const auto slash = action.id.find('/');
        REQUIRE(slash != std::string::npos);
        return action.id.substr(0, slash);
    }

    World& world_;
    std::set<std::string> done_;
    std::set<std::string> drained_; // hosts, by incidents
    std::set<std::string> persons_; // hosts that a person has had a hand in
    std::map<std::string, restart::Action> by_id_;
    std::map<std::string, int> requeues_;
};

void disturb(World& world, std::mt19937& random) {
    const auto roll = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
    const auto host = fmt::format("n{:03}", 1 + roll(hosts));
    const base::JobId job(1 + roll(4));
    switch (roll(23)) {
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
    case 14: world.send(restart::OperatorDrain{host, "fuzz", "alice"}); break;
    case 15: world.send(restart::OperatorResume{host, "bob"}); break;
    case 16: world.policy.observe_only = !world.policy.observe_only; break;
    case 17:
    case 18: {
        restart::FabricReport told;
        told.changes = true;
        told.hosts[host] = {roll(2) == 0 ? 0U : 8U, 8};
        world.send(restart::FabricSwept{told});
        break;
    }
    case 19: world.send(restart::HostAsked{host, static_cast<restart::Life>(roll(3))}); break;
    case 20: {
        const bool all = roll(2) == 0;
        world.send(restart::OperatorPause{all ? std::vector<std::string>() : std::vector{host},
                                          base::Duration(60'000 + 1000 * roll(60)), "fuzz", "carol"});
        break;
    }
    case 21: world.send(restart::OperatorGo{{}, "dave"}); break;
    case 22:
        if (roll(2) == 0) {
            world.node(host).maintenance = !world.node(host).maintenance;
        } else {
            restart::MaintenanceWindows windows;
            if (world.state().maintenance.empty())
                windows.open.push_back({"Sun 02:00-06:00", {host, "n001"}});
            world.send(windows);
        }
        break;
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
        world.policy.max_drained_per_hour = seed % 4 == 0 ? 2 : 0;
        world.policy.max_lost_percent = 30;
        world.policy.observe_only = seed % 10 == 4;
        world.round_trip = 16;
        world.peers_look = seed % 2 == 0;
        world.sees = [&](const std::string&, const std::string&) {
            return static_cast<base::Knocked>(random() % 5);
        };
        world.end_delay = seed % 3 == 0 ? 3.0 : 0.25;
        world.job(world.submit({"n001", "n002", "n003"})).excluded = {"n900"}; // its user's
        world.submit({"n004", "n005"});
        world.submit({"n006"}, false);
        world.submit({"n007", "n008"}, std::nullopt);
        if (seed % 2 == 0) world.run_inside(1, 1);
        world.follows_orders = seed % 6 != 0;
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
        world.send(restart::OperatorGo{{}, "dave"});
        world.send(restart::MaintenanceWindows{});
        for (int i = 1; i <= 12; ++i)
            world.node(fmt::format("n{:03}", i)).maintenance = false;
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
    world.send(restart::RmRead{empty});
    world.run(5);
    restart::RmSnapshot twice;
    for (int i = 0; i < 2; ++i) {
        twice.nodes.push_back(world.node("n001"));
        twice.jobs.push_back(world.job(1));
    }
    twice.nodes[0].reason = "bad \xff\x01 text";
    world.send(restart::RmRead{twice});
    CHECK(world.actions.empty());
    const auto state = restart::state_from_json(to_json(world.state()));
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
    CHECK(restart::StateRows(world.state()).changes(world.state()) ==
          std::vector<restart::StateRow>{rows.back()});
    CHECK(error({rows[0], rows[1]}) == "rest: the row is missing");
    CHECK(error({{"hosts", "{}"}, rows.back()}) == "hosts: a row of no kind that is known");
    CHECK_THAT(error({{"incident/7", "{}"}, rows.back()}),
               Catch::StartsWith("incidents.7.number: is missing"));
    CHECK_THAT(error({{"host/n\"1", R"({"lost":3})"}, rows.back()}), Catch::Contains("lost"));
}

TEST_CASE("a state that was cut or changed is refused with the place") {
    World world(3);
    world.submit({"n001", "n002"});
    world.power_off("n002");
    world.run(5);
    const auto text = to_json(world.state());
    for (std::size_t length = 0; length < text.size(); length += 7)
        CHECK_FALSE(restart::state_from_json(text.substr(0, length)));
    CHECK(restart::state_from_json(R"({"v":3})").error().text == "v: 3 is not between 1 and 2");
    CHECK(restart::state_from_json(R"({"v":0})").error().text == "v: 0 is not between 1 and 2");
    CHECK_THAT(restart::state_from_json(R"({"v":1})").error().text, Catch::Contains("hosts: is missing"));
}

TEST_CASE(
    "a state of version 1 is taken up: what a person may have decided stands, our exclusions are ours") {
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
    incident.jobs[0].goal = restart::JobGoal::elsewhere;
    incident.jobs[0].stopped = base::Time{};
    incident.jobs[1].id = 8;
    incident.jobs[1].settled = true;
    auto& intent = incident.intents.emplace_back();
    intent.action.id = "i-2/1";
    restart::RequeueJob requeue;
    requeue.job.id = base::JobId(7);
    requeue.exclude = {"n002"};
    intent.action.what = requeue;
    intent.progress = restart::Progress::done;
    state.next_incident = 3;

    auto text = to_json(state);
    const auto put = [&](std::string_view before, std::string_view after) {
        for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += after.size())
            text.replace(at, before.size(), after);
    };
    put("\"v\":2", "\"v\":1");
    put("\"findings\":", "\"judged\":[\"gpu.lost@gpu3\",\"ended@gpu1\"],\"findings\":");
    put("\"next_action\":1", "\"next_action\":1,\"drain_decided\":true,\"down_decided\":true");
    auto read = restart::state_from_json(text);
    REQUIRE(read);
    CHECK(read->hosts.at("n001").overruled ==
          std::vector<std::string>{"gpu.lost@gpu3"}); // in use all the same
    CHECK(read->hosts.at("n002").overruled.empty());  // its incident is open
    CHECK(read->hosts.at("n003").overruled.empty());  // drained
    CHECK(read->jobs.at(7).excluded_by_us == std::vector<std::string>{"n002"});
    CHECK(read->jobs.at(7).moved_off == std::vector<std::string>{"n002"});
    REQUIRE(read->incidents.at(2).jobs.size() == 1);
    CHECK(read->incidents.at(2).jobs[0].id == 7);
    // Written again it is of this version.
    const auto again = restart::state_from_json(to_json(*read));
    REQUIRE(again);
    CHECK(*again == *read);
}

// As a release wrote them that knew jobs by 32 bits, 0 for none, and the resource manager's own
// configuration.
TEST_CASE("rows of a state whose jobs were plain numbers are read, and those of array elements beside them") {
    std::vector<restart::StateRow> rows{
        {"job/12",
         R"({"rm":{"id":12,"name":"12","uid":1000,"phase":"running","nodes":["n001"],"node_count":1,"restarts":1,)"
         R"("start":1700000000.0,"components":[{"id":4294967294,"name":"12+1","nodes":["n002"]}]}})"},
        {"incident/7",
         R"({"number":7,"kind":"bad_host","phase":"moving","host":"n001","what":"x","opened":1700000000.0,)"
         R"("fault":1700000000.0,"jobs":[{"id":12,"epoch":1,"started":1700000000.0,"recover":true}],"intents":[)"
         R"({"action":{"id":"i-7/1","kind":"drain_host","host":"n001","job":0},"progress":"done"},)"
         R"({"action":{"id":"i-7/2","kind":"requeue_job","host":"n001","job":12},"progress":"given"}],"next_action":3})"},
        {"rest",
         R"({"v":2,"next_incident":8,"last_tick":1700000000.0,"grace_until":1700000000.0,"rm_answers":true,)"
         R"("rm_config":{"slurmd_timeout":300.0,"select_type":"select/rail","topology_plugin":""}})"}};
    const auto state = restart::state_from_rows(rows);
    if (!state) FAIL(state.error().text);
    REQUIRE(state->find_job(12) != nullptr);
    CHECK(state->find_job(12) == state->find_job(base::JobId(4294967294U))); // its component
    CHECK(state->find_job(13) == nullptr);
    const auto& incident = state->incidents.at(7);
    CHECK(incident.jobs.at(0).id == 12);
    CHECK(about_host(incident.intents.at(0).action));
    CHECK(job_of(incident.intents.at(1).action) == base::JobId(12));
    CHECK_FALSE(state->rm_config); // read anew at a start
    auto again = restart::StateRows().changes(*state);
    REQUIRE(again.size() == 3);
    CHECK(again.at(0).key == "job/12");
    CHECK(again.at(0).json.find("{\"id\":12,") != std::string::npos);

    auto more = *state;
    const base::JobId element(12U, 3);
    more.jobs[element].rm.id = element;
    std::get<restart::RequeueJob>(more.incidents.at(7).intents.at(1).action.what).job.id = element;
    again = restart::StateRows().changes(more);
    REQUIRE(again.size() == 4);
    CHECK(again.at(1).key == "job/12[3]");
    const auto read = restart::state_from_rows(again);
    if (!read) FAIL(read.error().text);
    CHECK(*read == more);
    again.at(1).key = "job/12[4]";
    CHECK_THAT(restart::state_from_rows(again).error().text, Catch::Contains("12[4] is about another job"));
    again.at(1).key = "job/12_3";
    CHECK_FALSE(restart::state_from_rows(again));
}
