#include "restart/daemon/api.hpp"

#include "api_yard.hpp"
#include "restart/ctl/show_rates.hpp"
#include "restart/wire/channel.hpp"

#include <fstream>

using namespace test;
using Yard = ApiYard;

namespace {

std::string report_body(const std::string& host = "n001") {
    restart::Report report;
    report.host = host;
    report.boot_id = "boot";
    return report.to_json();
}

} // namespace

TEST_CASE("a report is taken from the agents' user and answered") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    const auto response = yard.signed_request("POST", "/v1/report", report_body());
    CHECK(response.status == 200);
    CHECK(restart::Reply::from_json(response.body));
    CHECK(yard.signed_request("POST", "/v1/fabric", restart::FabricReport{}.to_json()).status == 200);
    CHECK(yard.counted("railyard_reports_total{agent=\"nodewatchd\"}") == 1);
    CHECK(yard.counted("railyard_reports_total{agent=\"fabricwatchd\"}") == 1);
}

TEST_CASE("links that are not as they should be are shown with the jobs behind them, and counted") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    const auto status = [&] { return yard.request("GET", "/v1/status").body; };
    CHECK(shown<restart::Status>(status(), false)->find("link.symbol_errors") == std::string::npos);
    yard.rm.change([](restart::RmSnapshot& world) {
        restart::RmJob job;
        job.id = base::JobId{12};
        job.name = "12";
        job.phase = restart::JobPhase::running;
        job.nodes = {"n002"};
        world.jobs.push_back(job);
    });
    restart::FabricReport report;
    report.changes = true;
    report.findings.emplace();
    report.findings->push_back({.rule = "link.symbol_errors",
                                .severity = restart::Severity::warn,
                                .since = base::now(),
                                .evidence = "leaf1 port 2: 20 symbol errors",
                                .a = "n002",
                                .a_port = "mlx5_1:1",
                                .b = "leaf1",
                                .b_port = "2",
                                .unit = "su1",
                                .pod = "pod1",
                                .hosts = "n[002-003]"});
    report.counters = {64, 60, 0.01};
    CHECK(yard.signed_request("POST", "/v1/fabric", report.to_json()).status == 200);
    CHECK(eventually([&] { return !restart::Status::from_json(status())->links.at(0).jobs.empty(); }));
    const auto text = shown<restart::Status>(status(), false);
    REQUIRE(text);
    for (const char* part :
         {"n002 mlx5_1:1 - leaf1 port 2", "link.symbol_errors (warn)", "n[002-003]", " 12 ",
          "leaf1 port 2: 20 symbol errors", "fabric: counters of 4 of 64 ports are not read"})
        CHECK_THAT(*text, Catch::Contains(part));
    // The job's and the host's own story has them, too.
    const auto job = restart::JobExplanation::from_json(yard.request("GET", "/v1/explain?job=12").body);
    REQUIRE(job);
    REQUIRE(job->links);
    REQUIRE(job->links->findings.size() == 1);
    CHECK(job->links->findings[0].hosts == std::vector<std::string>{"n002"});
    CHECK(job->links->findings[0].passing == restart::Passing::all);
    CHECK_THAT(job->links->unknown, Catch::Contains("n002 is not in the fabric file"));
    const auto host = restart::HostExplanation::from_json(yard.request("GET", "/v1/explain?host=n001").body);
    REQUIRE(host);
    CHECK((host->links && host->links->findings.empty()));
    yard.driver->update_gauges();
    CHECK(yard.counted("railyard_link_findings{rule=\"link.symbol_errors\",severity=\"warn\"}") == 1);
    CHECK(yard.counted("railyard_fabric_ports{counters=\"read\"}") == 60);
    CHECK(yard.counted("railyard_fabric_ports{counters=\"silent\"}") == 4);
}

TEST_CASE("a report that must not count is refused and counted") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    SECTION("without a credential, also on this machine") {
        const auto response = yard.request("POST", "/v1/report", report_body());
        CHECK(response.status == 401);
        CHECK(error_code(response) == "unauthenticated");
        CHECK(yard.refused("unauthenticated") == 1);
    }
    SECTION("replayed") {
        auto request = Yard::make("POST", "/v1/report", report_body());
        request.authorization = *yard.auth.sign("POST", "/v1/report", request.body);
        CHECK(yard.api->handle(request).status == 200);
        CHECK(yard.api->handle(request).status == 401);
        CHECK(yard.refused("unauthenticated") == 1);
    }
    SECTION("with a body that was changed on the way") {
        auto request = Yard::make("POST", "/v1/report", report_body("n002"));
        request.authorization = *yard.auth.sign("POST", "/v1/report", report_body("n001"));
        CHECK(yard.api->handle(request).status == 401);
    }
    SECTION("from another user") {
        restart::Roles roles;
        roles.agent_uid = ::geteuid() + 1;
        yard.api->reload(roles, yard.auth);
        for (const char* path : {"/v1/report", "/v1/fabric"}) {
            const auto response = yard.signed_request("POST", path, report_body());
            CHECK(response.status == 403);
            CHECK(error_code(response) == "forbidden");
        }
        CHECK(yard.refused("forbidden") == 2);
    }
    SECTION("of a host nobody knows") {
        const auto response = yard.signed_request("POST", "/v1/report", report_body("evil"));
        CHECK(response.status == 403);
        CHECK(yard.refused("unknown_host") == 1);
    }
    SECTION("malformed") {
        const auto response = yard.signed_request("POST", "/v1/report", R"({"v":1,"host":17})");
        CHECK(response.status == 400);
        CHECK(error_code(response) == "input");
        CHECK(yard.signed_request("POST", "/v1/report", "{").status == 400);
        CHECK(error_text(yard.signed_request("POST", "/v1/fabric", "[]")).find("object") !=
              std::string::npos);
        CHECK(yard.refused("input") == 3);
    }
    SECTION("munged is away") {
        yard.api->reload({}, restart::MungeAuth("/nonexistent/munge.socket"));
        auto request = Yard::make("POST", "/v1/report", report_body());
        request.authorization = "MUNGE MUNGE:AwQF:";
        CHECK(yard.api->handle(request).status == 503);
    }
    CHECK(yard.rm.calls().empty());
}

TEST_CASE("a report as before counts as the last one on its connection") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    restart::ServerChannel one, other;
    const auto post = [&](restart::ServerChannel& channel, std::string_view body) {
        auto request = Yard::make("POST", "/v1/report", std::string(body));
        request.authorization = *yard.auth.sign("POST", "/v1/report", body);
        request.channel = &channel;
        return yard.api->handle(request);
    };
    const auto as_before = restart::report_as_before;
    CHECK(post(one, as_before).status == 409);
    restart::Report report;
    report.host = "n001";
    report.boot_id = "boot";
    report.findings.push_back({"gpu.xid", "gpu3", restart::Severity::warn, base::now(), "63"});
    CHECK(post(one, report.to_json()).status == 200);
    CHECK(post(one, as_before).status == 200);
    CHECK(yard.driver->look(
              [](const auto& state, const auto&) { return state.hosts.at("n001").findings.size(); }) == 1);
    CHECK(post(other, as_before).status == 409);
    CHECK(yard.refused("unfit") == 0); // it comes again, whole: nothing to log
    CHECK(post(one, "{").status == 400);
    CHECK(post(one, as_before).status == 200); // what could not be read has said nothing
    CHECK(post(one, report_body("evil")).status == 403);
    CHECK(post(one, as_before).status == 409);
    CHECK(yard.counted("railyard_reports_total{agent=\"nodewatchd\"}") == 3);
}

TEST_CASE("hosts are drained and resumed by operators alone") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    const std::string body = R"({"host":"n002","reason":"fan tray"})";
    CHECK(yard.request("POST", "/v1/drain", body).status == 401); // also on this machine
    SECTION("an operator") {
        const auto response = yard.signed_request("POST", "/v1/drain", body);
        CHECK(response.status == 202);
        CHECK(base::Reader(*base::parse_json(response.body)).text("incident").value_or("") == "i-1");
        REQUIRE(yard.rm.wait_for_calls(1));
        CHECK(yard.rm.node("n002").reason == "railyard[user:" + base::user_name(::geteuid()) + "]: fan tray");
    }
    SECTION("bad input") {
        CHECK(error_text(yard.signed_request("POST", "/v1/drain", R"({"host":"n002"})")) ==
              "reason: is missing");
        CHECK(error_text(yard.signed_request("POST", "/v1/drain", R"({"host":2,"reason":"x"})"))
                  .starts_with("host: "));
        CHECK(yard.signed_request("POST", "/v1/drain", R"({"host":"n002","reason":"  "})").status == 400);
        CHECK(yard.signed_request("POST", "/v1/drain", R"({"host":"n999","reason":"x"})").status == 404);
        CHECK(yard.signed_request("POST", "/v1/resume", R"({"host":"n002"})").status == 409); // not drained
        CHECK(yard.rm.calls().empty());
    }
}

TEST_CASE("reading is open on this machine and asks who it is elsewhere") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    for (const char* target :
         {"/v1/status", "/v1/plan", "/v1/history", "/v1/explain?host=n001", "/metrics"}) {
        INFO(target);
        CHECK(yard.request("GET", target).status == 200);
        CHECK(yard.api->handle(Yard::make("GET", target, "")).status == 401);
        CHECK(yard.signed_request("GET", target).status == 200);
    }
    CHECK(yard.api->handle(Yard::make("GET", "/healthz", "")).status == 200);
    restart::Roles roles;
    roles.open_reading = true;
    yard.api->reload(roles, yard.auth);
    CHECK(yard.api->handle(Yard::make("GET", "/v1/status", "")).status == 200);
}

TEST_CASE("the page needs no credential, what it shows is asked for as ever") {
    Yard yard;
    const test::Folder page;
    std::ofstream(page.path / "index.html") << "<p>page</p>";
    yard.api->reload(restart::Roles(), yard.auth, {}, *restart::PageFiles::read(page.path));
    const auto from_afar = [&](const char* method, const char* path) {
        return yard.api->handle(Yard::make(method, path, ""));
    };
    CHECK(from_afar("GET", "/").status == 200);
    CHECK(from_afar("GET", "/").body == "<p>page</p>");
    CHECK(from_afar("POST", "/").status == 404);
    CHECK(from_afar("GET", "/web/app.js").status == 404);
    CHECK(from_afar("GET", "/v1/status").status == 401);
    CHECK(from_afar("GET", "/v1/map").status == 401);
    const auto map = yard.request("GET", "/v1/map");
    CHECK(map.status == 404);
    CHECK(map.body.find("no fabric file has been read") != std::string::npos);
}

TEST_CASE("what this machine may read is not given to a page that came by another's name") {
    Yard yard;
    restart::Roles roles;
    roles.names = {"head.example.org"};
    yard.api->reload(roles, yard.auth);
    const auto status_by = [&](const char* host, const char* target = "/v1/status") {
        auto request = Yard::make("GET", target, "");
        request.from_this_machine = true;
        request.host = host;
        return yard.api->handle(request).status;
    };
    for (const char* host : {"", "127.0.0.1:8917", "10.0.0.1", "localhost:8917", "head", "[::1]:8917",
                             "[::1]", "HEAD.example.org:8917"})
        CHECK(status_by(host) == 200);
    for (const char* host : {"evil.example.org:8917", "evil.example.org", "127.0.0.1.example.org:8917",
                             "head.example.org.evil.org", "[::1]x.evil.org", "."})
        CHECK(status_by(host) == 403);
    CHECK(status_by("head.dns-suffix.org:8917", "/metrics") == 200); // a scraper's own name for it
    roles.open_reading = true;
    yard.api->reload(roles, yard.auth);
    CHECK(status_by("evil.example.org:8917") == 200); // anyone reads from anywhere
}

TEST_CASE("roads that do not exist say so") {
    Yard yard;
    CHECK(yard.request("GET", "/").status == 404);
    CHECK(yard.request("GET", "/v1/report").status == 405);
    CHECK(yard.request("POST", "/v1/status").status == 405);
    CHECK(yard.request("GET", "/v1/explain").status == 400);
    CHECK(yard.request("GET", "/v1/explain?job=12&host=n001").status == 400);
    for (const char* job : {"0", "x", "-1", "9223372036854775808", "12%5B0%5D", ""})
        CHECK(yard.request("GET", std::string("/v1/explain?job=") + job).status == 400);
    CHECK(yard.request("GET", "/v1/explain?job=99").status == 404);
    CHECK(yard.request("GET", "/v1/explain?job=12%5B3%5D").body.find("job 12[3] is") != std::string::npos);
    CHECK(yard.request("GET", "/v1/history?job=12%5B3%5D").status == 200);
    CHECK(yard.request("GET", "/v1/history?job=12_3").status == 400);
    CHECK(yard.request("GET", "/v1/explain?host=n999").status == 404);
    CHECK(yard.request("GET", "/v1/history?last=x").status == 400);
    CHECK(yard.request("GET", "/v1/history?color=red").status == 400);
    CHECK(yard.request("GET", "/v1/history?last=5&job=3&incident=i-1").status == 200);
}

TEST_CASE("a job whose placement cannot be told is told so, and an unknown one is an error") {
    Yard yard;
    yard.rm.change([](restart::RmSnapshot& world) {
        restart::RmJob job;
        job.id = 12;
        job.phase = restart::JobPhase::pending;
        world.jobs.push_back(job);
    });
    const auto sentence = [&] {
        const auto answer = base::parse_json(yard.request("GET", "/v1/explain?job=12").body);
        const auto placement = *base::Reader(*answer).at("placement");
        CHECK(*placement.text("kind") == "unknown");
        return *placement.text("sentence");
    };
    CHECK(sentence().find("without a fabric file ([placement] fabric") != std::string::npos);
    const auto unknown = yard.request("GET", "/v1/explain?job=99");
    CHECK(unknown.status == 404);
    CHECK(error_text(unknown) == "job 99 is neither in this cluster's queue nor in the journal");

    yard.rm.away(true);
    CHECK(sentence().find("the resource manager does not answer") != std::string::npos);
    const auto away = yard.request("GET", "/v1/explain?job=99");
    CHECK(away.status == 503);
    CHECK(error_text(away) == "job 99 is not in the journal, and the resource manager does not answer");
}

TEST_CASE("what restartd answers, railctl can show") {
    Yard yard;
    NEED_MUNGED(yard.munged);
    yard.rm.change([](restart::RmSnapshot& world) {
        restart::RmJob job;
        job.id = 12;
        job.phase = restart::JobPhase::pending;
        job.why = "Resources";
        job.restart = true;
        job.restarts = 1;
        world.jobs.push_back(job);
    });
    REQUIRE(yard.signed_request("POST", "/v1/drain", R"({"host":"n002","reason":"fan tray"})").status == 202);
    REQUIRE(yard.rm.wait_for_calls(1));
    CHECK(eventually(
        [&] { return yard.request("GET", "/v1/status").body.find("IDLE+DRAIN") != std::string::npos; }));
    const auto status = shown<restart::Status>(yard.request("GET", "/v1/status").body, false);
    REQUIRE(status);
    CHECK(status->find("1 up, 1 drained") != std::string::npos);
    CHECK(status->find("fan tray") != std::string::npos);
    CHECK(status->find("12   pending") != std::string::npos);
    CHECK(status->find("witness of a host's loss: agents: 0 of 2 hosts are heard\n") != std::string::npos);
    CHECK(status->find("witness of a host's loss: the fabric: no sweep has come") != std::string::npos);
    const auto host = shown<restart::HostExplanation>(yard.request("GET", "/v1/explain?host=n002").body);
    REQUIRE(host);
    CHECK(host->find("host n002: IDLE+DRAIN") == 0);
    CHECK(host->find("decision") != std::string::npos);
    const auto job = shown<restart::JobExplanation>(yard.request("GET", "/v1/explain?job=12").body);
    REQUIRE(job);
    CHECK(job->find("pending (Resources), started again 1 times") != std::string::npos);
    INFO(*job);
    CHECK(job->find("restartd has done nothing about this job: no fault was seen on its hosts") !=
          std::string::npos);
    CHECK(job->find("without --restart=auto") == std::string::npos);
    yard.rm.change([](restart::RmSnapshot& world) { world.jobs[0].restart.reset(); });
    const auto refreshed = shown<restart::JobExplanation>(yard.request("GET", "/v1/explain?job=12").body);
    REQUIRE(refreshed);
    CHECK(refreshed->find("it was submitted without --restart=auto") != std::string::npos);
    const auto sound = shown<restart::HostExplanation>(yard.request("GET", "/v1/explain?host=n001").body);
    REQUIRE(sound);
    CHECK(sound->find("restartd has nothing on record about this host") != std::string::npos);
    const auto nothing = shown<restart::History>(yard.request("GET", "/v1/history?incident=i-99").body);
    REQUIRE(nothing);
    CHECK(nothing->find("restartd's journal holds nothing that fits") != std::string::npos);
    const auto history = shown<restart::History>(yard.request("GET", "/v1/history").body);
    REQUIRE(history);
    CHECK(history->find("i-1") != std::string::npos);
    const auto foreign = restart::Status::from_json(R"({"v":1})");
    REQUIRE_FALSE(foreign);
    CHECK(foreign.error().text.find("hosts: is missing") != std::string::npos);
}

TEST_CASE("rates and the list of lemons are told, and make sentences") {
    Yard yard;
    for (const char* path : {"/v1/rates", "/v1/top"}) {
        CHECK(yard.request("POST", path).status == 405);
        CHECK(yard.request("GET", path).status == 200);
    }
    const auto rates = restart::Rates::from_json(yard.request("GET", "/v1/rates").body);
    REQUIRE(rates);
    CHECK(rates->failures.faults == 0);
    CHECK(restart::Rates::from_json(rates->to_json()).value_or({}) == *rates);
    CHECK_THAT(restart::show(*rates), Catch::Contains("0 faults in 0 host-hours"));
    const auto top = restart::Top::from_json(yard.request("GET", "/v1/top").body);
    REQUIRE(top);
    CHECK(top->hosts.empty());
    CHECK_THAT(restart::show(*top), Catch::Contains("no host has failed lately"));
}

TEST_CASE("what was learned is shown with its evidence") {
    using namespace restart;
    const base::Time now{std::chrono::days(20'000)};
    const base::Duration hour = 1h;
    Rates rates;
    rates.time = now;
    rates.failures = {
        500 * 24 * hour, 340 * 24 * hour, 900 * 24 * hour, 2.5, 8, 72000, 1, 1500 * 24 * hour, 1};
    rates.repairs = {30 * hour, {5, 20 * hour, 8 * hour, 50 * hour}, 2, 72 * hour};
    rates.restarts = {3, 5s, 4s, 7s};
    rates.spares = SpareStatus{128, 3, 2, 0.001, true};
    IntervalStatus job;
    job.id = base::JobId(12);
    job.name = "12";
    job.hosts = 32;
    job.host_mtbf = rates.failures.mtbf;
    job.mtbf = job.host_mtbf / 32;
    job.cost_s = 2;
    job.beside_s = 30;
    job.restart = 5s;
    job.exact = {1000s, 0.9912};
    job.young = {1001s, 0.9911};
    job.daly = {1002s, 0.9910};
    job.interval = 1000s;
    rates.jobs.push_back(job);
    const auto text = show(rates);
    INFO(text);
    CHECK(text.find("8 faults in 72000 host-hours; 340 d") != std::string::npos);
    CHECK(text.find("they come in bursts and say as much as 3.2; 1 fault of what hosts share not counted") !=
          std::string::npos);
    CHECK(text.find("5 seen: median 8 h 0 min, 9 of 10 within 2 d 2 h; 2 under way; 3 d 0 h was believed") !=
          std::string::npos);
    CHECK(text.find("3 of 128") != std::string::npos);
    CHECK(text.find("99.12 %") != std::string::npos);
    const auto lines = show(job);
    INFO(lines);
    CHECK(lines.find("one every 16 min 40 s, for 2.00 s each (safe 30.0 s later)") != std::string::npos);
    CHECK(
        lines.find(
            "exact optimum 16 min 40 s (99.12 %), Young 16 min 41 s (99.11 %), Daly 16 min 42 s (99.10 %)") !=
        std::string::npos);
    job.bound = "min_interval";
    CHECK(show(job).find("(held by min_interval)") != std::string::npos);

    Top top;
    top.time = now;
    top.half_life = 14 * 24 * hour;
    top.hosts.push_back(
        {"n007", 1.75, {{now - 5 * hour, "gpu3 gone"}, {now - hour, "host lost"}}, false, {}});
    for (const char* stage : {"waiting", "acting", "hands"})
        top.hosts.push_back({stage, 1, {{now, "gpu3 gone"}}, false, ReturnStatus{}});
    for (auto& host : top.hosts)
        if (host.repair) {
            host.repair->stage = host.name;
            host.repair->rung = "reboot";
            host.repair->attempts = 2;
            host.repair->most_attempts = 3;
        }
    top.jobs.push_back({base::JobId(12), "12", 1000, 32, 2, 3.25});
    const auto list = show(top);
    INFO(list);
    CHECK(list.find("n007") != std::string::npos);
    CHECK(list.find("1.75") != std::string::npos);
    CHECK(list.find("gpu3 gone") != std::string::npos);
    CHECK(list.find("out of use\n") != std::string::npos);
    CHECK(list.find("in repair: waits for reboot\n") != std::string::npos);
    CHECK(list.find("in repair: reboot, attempt 2 of 3\n") != std::string::npos);
    CHECK(list.find("out of use: a person is to see to it\n") != std::string::npos);
    CHECK(list.find("3.25") != std::string::npos);
    CHECK(Top::from_json(top.to_json()).value_or({}) == top);
    CHECK(Rates::from_json(rates.to_json()).value_or({}) == rates);
}

TEST_CASE("findings that are alike are told once in a table of hosts") {
    restart::HostStatus host;
    host.name = "n001";
    for (int i = 0; i < 8; ++i)
        host.findings.push_back({"ib.link_down", fmt::format("mlx5_{}:1", i), restart::Severity::evict,
                                 base::now(), "state DOWN", ""});
    host.findings.push_back({"gpu.ecc", "gpu3", restart::Severity::warn, base::now(), "1", ""});
    restart::Status status;
    status.time = base::now();
    status.hosts = {host};
    const auto text = restart::show(status, false);
    INFO(text);
    CHECK(text.find("ib.link_down on mlx5_[0-7]:1 (evict); gpu.ecc on gpu3 (warn)") != std::string::npos);
}
