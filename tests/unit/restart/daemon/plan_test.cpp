// What restartd would do now, and what keeps it from that: pause and go through the API, windows of
// maintenance, the plan, and who sees what of it.
#include "api_yard.hpp"

#include "restart/daemon/plan.hpp"
#include "restart/wire/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace test;
using restart::PlanStep;
using restart::RecoveryPlan;

namespace {

void report_fault(ApiYard& yard) {
    restart::Report report;
    report.host = "n001";
    report.boot_id = "boot";
    report.findings.push_back({"gpu.xid", "gpu3", restart::Severity::fatal, base::now(), "XID 79"});
    REQUIRE(yard.signed_request("POST", "/v1/report", report.to_json()).status == 200);
}

RecoveryPlan plan_of(const HttpResponse& response) {
    INFO(response.body);
    REQUIRE(response.status == 200);
    auto plan = RecoveryPlan::from_json(response.body);
    REQUIRE(plan);
    return *std::move(plan);
}

bool has_step(const RecoveryPlan& plan, std::string_view state, std::string_view what) {
    for (const auto& incident : plan.incidents)
        for (const auto& step : incident.steps)
            if (step.state == state && step.what == what) return true;
    return false;
}

// A state with an incident of n001 in this phase; job 12 is uid 1000's, job 13 another's.
restart::State state_in(restart::Phase phase) {
    restart::State state;
    for (const char* name : {"n001", "n002"}) {
        state.hosts[name].node.emplace().name = name;
        state.hosts[name].last_report = base::time_from_seconds(100);
    }
    for (const std::uint32_t number : {12U, 13U}) {
        auto& job = state.jobs[base::JobId(number)].rm;
        job.id = base::JobId(number);
        job.name = std::to_string(number);
        job.uid = number == 12 ? 1000 : 1001;
        job.phase = restart::JobPhase::running;
        job.nodes = {"n001"};
    }
    auto& incident = state.incidents[7];
    incident.number = 7;
    incident.kind = restart::IncidentKind::bad_host;
    incident.phase = phase;
    incident.host = "n001";
    incident.what = "gpu3 gpu.lost: gone";
    incident.fault = base::time_from_seconds(100);
    for (const auto& [id, job] : state.jobs) {
        restart::AffectedJob affected;
        affected.id = id;
        affected.name = job.rm.name;
        affected.owner = owner_of(job.rm);
        affected.goal = restart::JobGoal::elsewhere;
        incident.jobs.push_back(affected);
    }
    return state;
}

restart::DriverStatus status_at(double seconds) {
    restart::DriverStatus status;
    status.now = base::time_from_seconds(seconds);
    status.policy.observe_only = false;
    return status;
}

std::vector<std::string> steps_of(const RecoveryPlan& plan) {
    std::vector<std::string> steps;
    for (const auto& incident : plan.incidents)
        for (const auto& step : incident.steps)
            steps.push_back(step.state + ": " + step.what);
    return steps;
}

} // namespace

TEST_CASE("a pause through the API keeps restartd still until go, and outlives it") {
    ApiYard yard;
    NEED_MUNGED(yard.munged);
    CHECK(yard.request("POST", "/v1/pause", R"({"reason":"x"})").status == 401);
    const auto paused = plan_of(yard.signed_request("POST", "/v1/pause", R"({"reason":"switch upgrade"})"));
    REQUIRE(paused.modes.pauses.size() == 1);
    CHECK(paused.modes.pauses[0].user == base::user_name(::geteuid()));
    CHECK(paused.modes.pauses[0].until - paused.modes.pauses[0].since == restart::default_pause);
    report_fault(yard);
    REQUIRE(eventually(
        [&] { return has_step(plan_of(yard.signed_request("GET", "/v1/plan")), "withheld", "drain n001"); }));
    CHECK(yard.rm.calls().empty());
    const auto status = yard.signed_request("GET", "/v1/status").body;
    CHECK(shown<restart::Status>(status, false)->starts_with("PAUSED for all hosts by "));
    CHECK(shown<restart::HostExplanation>(yard.signed_request("GET", "/v1/explain?host=n001").body)
              ->find("; withheld: drain n001 (pause)") != std::string::npos);
    yard.driver->update_gauges();
    CHECK(yard.counted("railyard_paused{hosts=\"all\"}") == 1);
    const auto text = shown<RecoveryPlan>(yard.signed_request("GET", "/v1/plan").body);
    CHECK(text->find("switch upgrade; railctl go ends it") != std::string::npos);
    CHECK(text->find("pause: paused by ") != std::string::npos);

    CHECK(yard.request("POST", "/v1/go", "{}").status == 401);
    const auto going = plan_of(yard.signed_request("POST", "/v1/go", "{}"));
    CHECK(going.modes.pauses.empty());
    REQUIRE(yard.rm.wait_for_calls(1));
    CHECK(yard.rm.calls()[0].starts_with("drain n001"));
    CHECK(yard.signed_request("POST", "/v1/go", "{}").status == 409); // not paused
    yard.driver->update_gauges();
    CHECK(yard.counted("railyard_paused{hosts=\"all\"}") == 0);
}

TEST_CASE("a pause that cannot be is refused with why") {
    ApiYard yard;
    NEED_MUNGED(yard.munged);
    const auto refused = [&](const char* body) {
        const auto response = yard.signed_request("POST", "/v1/pause", body);
        return fmt::format("{} {}", response.status, error_text(response));
    };
    CHECK(refused(R"({"reason":" "})") == "400 reason: say why, for whoever finds restartd paused");
    CHECK(refused("{}") == "400 reason: is missing");
    CHECK(refused(R"({"reason":"x","hosts":"n["})").starts_with("400 hosts: "));
    CHECK(refused(R"({"reason":"x","hosts":"n009"})") == "404 host n009 is not known");
    CHECK(refused(R"({"reason":"x","for_s":5})") ==
          "400 a pause lasts from 1 min 0 s to 30 d 0 h, not 5.0 s");
    CHECK(refused(R"({"reason":"x","for_s":1e300})").starts_with("400 for_s: "));
    CHECK(plan_of(yard.signed_request("GET", "/v1/plan")).modes.pauses.empty());
    CHECK(plan_of(yard.signed_request("POST", "/v1/pause", R"({"reason":"x","hosts":"n[001-002]"})"))
              .modes.pauses.at(0)
              .hosts == std::vector<std::string>{"n001", "n002"});
}

TEST_CASE("a window of maintenance that is open keeps restartd still, and one that is taken out does not") {
    ApiYard yard;
    NEED_MUNGED(yard.munged);
    restart::DriverOptions options;
    options.policy.observe_only = false;
    options.poll = 20ms;
    options.tick = 10ms;
    auto with_window = options;
    with_window.maintenance.push_back(*base::parse_window("daily 00:00-24:00 n001"));
    with_window.maintenance.push_back(*base::parse_window("2001-01-01 00:00 to 2001-01-02 00:00")); // over
    yard.driver->reload(with_window);
    const auto windows = [&] { return plan_of(yard.signed_request("GET", "/v1/plan")).modes.maintenance; };
    REQUIRE(eventually([&] { return windows().size() == 1; }));
    CHECK(windows()[0].by == "restartd.maintenance, \"daily 00:00-24:00 n001\"");
    report_fault(yard);
    CHECK(plan_of(yard.signed_request("GET", "/v1/plan")).incidents.empty()); // it is no fault now
    CHECK(yard.rm.calls().empty());
    yard.driver->update_gauges();
    CHECK(yard.counted("railyard_hosts_in_maintenance") == 1);
    yard.driver->reload(options);
    REQUIRE(yard.rm.wait_for_calls(1));
    CHECK(yard.rm.calls()[0].starts_with("drain n001"));
}

TEST_CASE("the plan says of each incident what is awaited, next, withheld and left, and until when") {
    auto state = state_in(restart::Phase::saving);
    auto& incident = state.incidents.at(7);
    SECTION("jobs that save") {
        for (auto& job : incident.jobs) {
            job.asked = base::time_from_seconds(110);
            job.save_by = base::time_from_seconds(130);
        }
        incident.jobs[1].goal = restart::JobGoal::stay;
        incident.jobs[1].left = "--restart=never";
        const auto plan = plan_of(state, status_at(120), {});
        CHECK(steps_of(plan) == std::vector<std::string>{"awaited: job 12 saves a checkpoint",
                                                         "next: requeue job 12 without n001", "left: job 13",
                                                         "next: drain n001"});
        CHECK(plan.incidents[0].steps[0].by == base::time_from_seconds(130));
        CHECK(plan.incidents[0].steps[2].why == "--restart=never");
    }
    SECTION("a drain that a bound keeps back, and a job that waits for hosts") {
        incident.phase = restart::Phase::moving;
        incident.withheld.push_back({"drain n001", {}, "max_drained_percent", "1 of 2 hosts are drained"});
        incident.jobs.pop_back();
        incident.jobs[0].stopped = base::time_from_seconds(110);
        state.jobs.at(12).rm.phase = restart::JobPhase::pending;
        state.jobs.at(12).rm.why = "Resources";
        const auto plan = plan_of(state, status_at(120), {});
        CHECK(steps_of(plan) ==
              std::vector<std::string>{"awaited: job 12 starts without n001", "withheld: drain n001"});
        CHECK(plan.incidents[0].steps[0].why == "Resources");
        CHECK(plan.incidents[0].steps[1].key == "max_drained_percent");
    }
    SECTION("a suspicion") {
        incident.kind = restart::IncidentKind::node_loss;
        incident.phase = restart::Phase::suspected;
        incident.jobs.clear();
        auto status = status_at(105);
        status.policy.silent = 3s;
        status.policy.witness_wait = 30s;
        const auto plan = plan_of(state, status, {});
        CHECK(steps_of(plan) == std::vector<std::string>{"awaited: a second witness of the loss of n001"});
        CHECK(plan.incidents[0].steps[0].by == base::time_from_seconds(133));
    }
    SECTION("actions that were given, and one that is tried again") {
        incident.phase = restart::Phase::moving;
        incident.jobs.clear();
        incident.intents.push_back({{"i-7/1", restart::DrainHost{"n001", "railyard[i-7]: x"}},
                                    restart::Progress::dispatched,
                                    {},
                                    0,
                                    false});
        incident.intents.push_back({{"i-7/2", restart::ResumeHost{"n002"}},
                                    restart::Progress::waiting,
                                    base::time_from_seconds(121),
                                    2,
                                    false});
        const auto plan = plan_of(state, status_at(120), {});
        REQUIRE(plan.incidents.at(0).steps.size() == 2);
        CHECK(plan.incidents[0].steps[0].state == "under way");
        CHECK(plan.incidents[0].steps[1].by == base::time_from_seconds(121));
        CHECK(plan.incidents[0].steps[1].why == "failed 2 times, and is tried again");
    }
    SECTION("no incident without a step, whatever it is and where it stands") {
        incident.jobs.clear();
        for (int kind = 0; kind <= static_cast<int>(restart::IncidentKind::wrong_file); ++kind)
            for (int phase = 0; phase <= static_cast<int>(restart::Phase::withheld); ++phase) {
                incident.kind = static_cast<restart::IncidentKind>(kind);
                incident.phase = static_cast<restart::Phase>(phase);
                CHECK(plan_of(state, status_at(120), {}).incidents.at(0).steps.size() == 1);
            }
    }
    const auto plan = plan_of(state, status_at(120), {});
    const auto again = RecoveryPlan::from_json(plan.to_json());
    REQUIRE(again);
    CHECK(*again == plan);
    CHECK_FALSE(restart::show(plan).empty());
}

TEST_CASE("the plan shows what the status would") {
    auto state = state_in(restart::Phase::withheld);
    auto& incident = state.incidents.at(7);
    for (const auto& job : incident.jobs)
        incident.withheld.push_back({"requeue job " + job.name, job.id, "pause", "paused by alice: x"});
    incident.withheld.push_back({"drain n001", {}, "pause", "paused by alice: x"});
    state.pauses.push_back({"alice", "x", {}, base::time_from_seconds(500), {"n001"}});
    state.crossings["max_drained_per_leaf leaf-su1-r0"] = {"1 host of leaf-su1-r0", {}, {}};
    restart::View view{false, 1000, {}, {}};
    SECTION("all where nothing is private") {
        const auto plan = plan_of(state, status_at(120), view);
        CHECK(steps_of(plan).size() == 3);
        REQUIRE(plan.modes.bounds.size() == 1);
        CHECK(plan.modes.bounds[0].key == "max_drained_per_leaf");
        CHECK(plan.modes.bounds[0].of == "leaf-su1-r0");
    }
    SECTION("no job of others") {
        view.hides.jobs = true;
        const auto plan = plan_of(state, status_at(120), view);
        CHECK(steps_of(plan) == std::vector<std::string>{"withheld: requeue job 12", "withheld: drain n001"});
        CHECK(plan.to_json().find("13") == std::string::npos);
        CHECK(plan.not_shown.size() == 1);
    }
    SECTION("no host") {
        view.hides.nodes = true;
        const auto plan = plan_of(state, status_at(120), view);
        CHECK(steps_of(plan) == std::vector<std::string>{"withheld: requeue job 12"});
        CHECK(plan.modes.pauses.empty()); // of hosts
        CHECK(plan.modes.bounds.empty());
        CHECK(plan.to_json().find("gpu3") == std::string::npos);
    }
    SECTION("and nothing of an incident that concerns others alone") {
        view.hides.nodes = view.hides.jobs = true;
        view.uid = 2000;
        CHECK(plan_of(state, status_at(120), view).incidents.empty());
    }
}
