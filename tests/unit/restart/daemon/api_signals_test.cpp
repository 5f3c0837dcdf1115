// GET /v1/signals and what agents tell, through the API; and what railctl makes of the answer.
#include "restart/daemon/api.hpp"

#include "api_yard.hpp"
#include "restart/ctl/show_signals.hpp"

using namespace test;
using Yard = ApiYard;
using restart::SignalsState;

namespace {

std::string report_body(bool tells = true) {
    restart::Report report;
    report.host = "n001";
    report.boot_id = "boot";
    report.tells = tells;
    return report.to_json();
}

restart::HostSignals some() {
    restart::HostSignals signals;
    signals.host = "n001";
    signals.time = base::now();
    signals.rules = {
        {"gpu.lost", "gpu.lost", "", "gpu.lost 1", "fatal", "NVML"},
        {"ib.counter.symbol_error#hour", "ib.counter.symbol_error", "errors", "grew", "evict", ""}};
    using enum restart::RuleStanding;
    signals.rows = {{0, "gpu0", ok, 0, {}, {}, {}, {}, ""},
                    {0, "gpu1", finding, 1, {}, {}, restart::Severity::fatal, base::now(), "lost"},
                    {1, "mlx5_0:1", in_window, 500, 7, 120, {}, base::now(), ""}};
    return signals;
}

restart::SignalsAnswer answer_of(const HttpResponse& response) {
    CHECK(response.status == 200);
    auto answer = restart::SignalsAnswer::from_json(response.body);
    INFO((answer ? std::string() : answer.error().text));
    REQUIRE(answer);
    return *std::move(answer);
}

} // namespace

TEST_CASE("an agent is asked for its signals with the answer to its report, and who asks gets them") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    const auto get = [&] { return yard.request("GET", "/v1/signals?host=n001"); };
    const auto report = [&](bool tells = true) {
        const auto response = yard.signed_request("POST", "/v1/report", report_body(tells));
        REQUIRE(response.status == 200);
        return restart::Reply::from_json(response.body)->tell;
    };
    const auto tell = [&](const std::string& body) {
        return yard.signed_request("POST", "/v1/report/signals", body);
    };
    CHECK(answer_of(get()).state == SignalsState::silent); // never heard
    CHECK_FALSE(report());
    CHECK(tell(some().to_json()).status == 409); // nobody asked
    CHECK(yard.refused("unfit") == 0);
    SECTION("one that tells") {
        CHECK(answer_of(get()).state == SignalsState::asked);
        CHECK(report());
        CHECK_FALSE(report());
        CHECK(tell("{\"v\":1}").status == 400);
        CHECK(tell(some().to_json()).status == 200);
        const auto answer = answer_of(get());
        CHECK(answer.state == SignalsState::here);
        CHECK(answer.last_report);
        CHECK(answer.came);
        REQUIRE(answer.signals);
        CHECK(answer.signals->rows.size() == 3);
    }
    SECTION("one of an older release") {
        CHECK(answer_of(get()).state == SignalsState::asked);
        CHECK_FALSE(report(false));
        CHECK(answer_of(get()).state == SignalsState::older);
    }
}

TEST_CASE("signals are for those who may see what happens to hosts, and come from agents alone") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    CHECK(yard.request("GET", "/v1/signals").status == 400);
    CHECK(yard.request("GET", "/v1/signals?host=n999").status == 404);
    CHECK(yard.request("POST", "/v1/signals?host=n001").status == 405);
    CHECK(yard.request("POST", "/v1/report/signals", some().to_json()).status == 401);
    auto elsewhere = Yard::make("GET", "/v1/signals?host=n001", "");
    CHECK(yard.api->handle(elsewhere).status == 401);
    restart::Roles roles;
    roles.agent_uid = ::geteuid() + 1;
    yard.api->reload(roles, yard.auth);
    CHECK(yard.signed_request("POST", "/v1/report/signals", some().to_json()).status == 403);
}

TEST_CASE("railctl shows the rows that are wanted") {
    const auto signals = some();
    const auto rows = [&](const std::string& component, const std::string& rule) {
        const auto fitting = restart::only(signals, {component, rule});
        if (!fitting) {
            CHECK(fitting.error().code == base::Code::not_found);
            return std::size_t{0};
        }
        for (const auto& row : fitting->rows)
            CHECK(row.rule < fitting->rules.size());
        return fitting->rows.size();
    };
    CHECK(rows("", "") == 3);
    CHECK(rows("gpu1", "") == 1);
    CHECK(rows("gpu", "") == 0);
    CHECK(rows("mlx5_0", "") == 1);
    CHECK(rows("", "gpu.lost") == 2);
    CHECK(rows("", "gpu") == 2);
    CHECK(rows("", "ib.counter.symbol_error") == 1);
    CHECK(rows("", "ib.counter.symbol_error#hour") == 1);
    CHECK(rows("", "ib.count") == 0);
    CHECK(rows("gpu0", "ib") == 0);
    CHECK(restart::holds_any(signals));
    CHECK_FALSE(restart::holds_any(*restart::only(signals, {"gpu0", ""})));
    restart::SignalsAnswer answer;
    answer.host = "n001";
    answer.time = base::now();
    answer.came = answer.time - 90s;
    answer.signals = *restart::only(signals, {"mlx5_0:1", ""});
    const auto text = restart::show(answer);
    INFO(text);
    CHECK(text.starts_with("told 1 min 30 s ago\nn001 at "));
    CHECK(text.find("500 errors") != std::string::npos);
    CHECK(text.find("7, limit 120") != std::string::npos);
    CHECK(text.find("in window since ") != std::string::npos);
    CHECK(text.find("gpu.lost") == std::string::npos);
}

TEST_CASE("what keeps signals from coming is said with the way out") {
    restart::SignalsAnswer answer;
    answer.host = "n001";
    answer.time = base::now();
    const auto said = [&](SignalsState state) {
        answer.state = state;
        return restart::why_not(answer);
    };
    CHECK(said(SignalsState::here).empty());
    CHECK(said(SignalsState::silent) == "n001: its agent was never heard: does nodewatchd run there?");
    answer.last_report = answer.time - 90s;
    CHECK(said(SignalsState::silent) == "n001: its agent has been silent for 1 min 30 s");
    CHECK(said(SignalsState::older).find("update nodewatchd there") != std::string::npos);
    CHECK(said(SignalsState::busy).find("ask again") != std::string::npos);
    CHECK(said(SignalsState::asked).find("ask again") != std::string::npos);
}

TEST_CASE("railctl shows what is not as it should be, in lines for a terminal, and counts the rest") {
    restart::SignalsAnswer answer;
    answer.host = "n001";
    answer.time = base::now();
    answer.signals = some();
    const auto all = restart::show(answer), text = restart::show_notable(answer);
    INFO(text);
    CHECK(all.find("SOURCE") != std::string::npos);
    CHECK(text.find("SOURCE") == std::string::npos);
    for (const auto& row : answer.signals->rows) {
        const bool notable =
            row.standing != restart::RuleStanding::ok && row.standing != restart::RuleStanding::unseen;
        if (notable) CHECK(text.find(answer.signals->rules.at(row.rule).name) != std::string::npos);
    }
    CHECK(text.find(" rules of components are as they should be, ") != std::string::npos);
    CHECK(text.find("--all lists them") != std::string::npos);
}
