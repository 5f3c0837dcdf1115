#include "restart/daemon/api.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "restart/ctl/show.hpp"
#include "rm_double.hpp"
#include "unit/folder.hpp"
#include "unit/restart/wire/private_munged.hpp"

#include <catch2/catch.hpp>

#include <pwd.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using restart::HttpRequest;
using restart::HttpResponse;

namespace {

// The API over a driver with a double of the resource manager; requests are signed by this process's user.
struct Yard {
    test::PrivateMunged munged;
    restart::MungeAuth auth{munged.socket()};
    test::Folder folder;
    test::RmDouble rm{{"n001", "n002"}};
    restart::Metrics metrics;
    std::unique_ptr<restart::Driver> driver;
    std::unique_ptr<restart::Api> api;

    Yard() {
        base::log::open("unit_daemon", base::log::Level::error);
        restart::DriverOptions options;
        options.policy.observe_only = false;
        options.poll = 20ms;
        options.tick = 10ms;
        driver =
            *restart::Driver::make(*restart::Journal::open(folder.path / "journal.db"), rm, metrics, options);
        driver->start();
        restart::Roles roles;
        roles.agent_uid = ::geteuid();
        roles.operators = {restart::user_name(::geteuid())};
        api = std::make_unique<restart::Api>(*driver, metrics, roles, auth);
        for (int i = 0; i < 500 && request("GET", "/healthz").status != 200; ++i)
            std::this_thread::sleep_for(10ms);
    }

    static HttpRequest make(const std::string& method, const std::string& target, const std::string& body) {
        HttpRequest request;
        request.method = method;
        REQUIRE(restart::split_target(target, request));
        request.body = body;
        request.peer = "192.0.2.1";
        return request;
    }
    HttpResponse request(const std::string& method, const std::string& target, const std::string& body = "") {
        auto request = make(method, target, body);
        request.from_this_machine = true;
        return api->handle(request);
    }
    HttpResponse signed_request(const std::string& method, const std::string& target,
                                const std::string& body = "") {
        auto request = make(method, target, body);
        request.authorization = *auth.sign(method, target, body);
        return api->handle(request);
    }
    double counted(const std::string& sample) const {
        const auto page = metrics.print();
        const auto at = page.find("\n" + sample + " ");
        return at == std::string::npos ? 0 : std::stod(page.substr(at + sample.size() + 2));
    }
    double refused(const std::string& reason) const {
        return counted("railyard_reports_refused_total{reason=\"" + reason + "\"}");
    }
};

std::string error_code(const HttpResponse& response) {
    const auto document = base::parse_json(response.body);
    REQUIRE(document);
    const auto error = base::Reader(*document).at("error");
    REQUIRE(error);
    REQUIRE(error->text("text"));
    CHECK_FALSE(error->text("text")->empty());
    return *error->text("code");
}

std::string error_text(const HttpResponse& response) {
    return *base::Reader(*base::parse_json(response.body)).at("error")->text("text");
}

std::string report_body(const std::string& host = "n001") {
    restart::Report report;
    report.host = host;
    report.boot_id = "boot";
    return report.to_json();
}

// What railctl prints of an answer.
template <class Answer, class... More>
base::Expected<std::string> shown(const std::string& body, More... more) {
    const auto answer = Answer::from_json(body);
    if (!answer) return answer.error();
    return restart::show(*answer, more...);
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
        CHECK(yard.rm.node("n002").reason ==
              "railyard[user:" + restart::user_name(::geteuid()) + "]: fan tray");
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
    for (const char* target : {"/v1/status", "/v1/history", "/v1/explain?host=n001", "/metrics"}) {
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

TEST_CASE("a job's owner may ask about it, and about nothing else") {
    if (::geteuid() != 0) {
        WARN("SKIP: only root can be another user");
        return;
    }
    Yard yard;
    NEED_MUNGED(yard.munged);
    constexpr uid_t owner = 65534; // nobody
    yard.rm.change([](restart::RmSnapshot& world) {
        restart::RmJob job;
        job.id = 12;
        job.uid = owner;
        job.phase = restart::JobPhase::running;
        job.nodes = {"n001"};
        job.node_count = 1;
        world.jobs.push_back(job);
        job.id = 13;
        job.uid = 1;
        world.jobs.push_back(job);
    });
    for (int i = 0; i < 500 && yard.request("GET", "/v1/explain?job=12").status != 200; ++i)
        std::this_thread::sleep_for(10ms);
    std::filesystem::permissions(yard.folder.path, std::filesystem::perms(0755));
    const auto as_owner = [&](const std::string& target) {
        auto request = Yard::make("GET", target, "");
        REQUIRE(::seteuid(owner) == 0);
        const auto header = yard.auth.sign("GET", target, "");
        REQUIRE(::seteuid(0) == 0);
        REQUIRE(header);
        request.authorization = *header;
        return yard.api->handle(request).status;
    };
    CHECK(as_owner("/v1/explain?job=12") == 200);
    CHECK(as_owner("/v1/explain?job=13") == 403);
    CHECK(as_owner("/v1/status") == 403);
    CHECK(as_owner("/v1/explain?host=n001") == 403);
}

TEST_CASE("roads that do not exist say so") {
    Yard yard;
    CHECK(yard.request("GET", "/").status == 404);
    CHECK(yard.request("GET", "/v1/report").status == 405);
    CHECK(yard.request("POST", "/v1/status").status == 405);
    CHECK(yard.request("GET", "/v1/explain").status == 400);
    CHECK(yard.request("GET", "/v1/explain?job=12&host=n001").status == 400);
    for (const char* job : {"0", "x", "-1", "4294967296", ""})
        CHECK(yard.request("GET", std::string("/v1/explain?job=") + job).status == 400);
    CHECK(yard.request("GET", "/v1/explain?job=99").status == 404);
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
    for (int i = 0; i < 500 && yard.request("GET", "/v1/status").body.find("IDLE+DRAIN") == std::string::npos;
         ++i)
        std::this_thread::sleep_for(10ms);
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
    CHECK(job->find("restartd has done nothing about this job: no fault was seen on its hosts") != std::string::npos);
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
