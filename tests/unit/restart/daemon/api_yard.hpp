// The API over a double of the resource manager, as its tests ask it.
#pragma once

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/user.hpp"
#include "restart/ctl/show.hpp"
#include "restart/daemon/api.hpp"
#include "rm_double.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"
#include "unit/restart/wire/private_munged.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

namespace test {

using namespace std::chrono_literals;
using restart::HttpRequest;
using restart::HttpResponse;

// The API over a driver with a double of the resource manager; requests are signed by this process's user.
struct ApiYard {
    PrivateMunged munged;
    restart::MungeAuth auth{munged.socket()};
    Folder folder;
    RmDouble rm{{"n001", "n002"}};
    restart::Metrics metrics;
    std::unique_ptr<restart::Driver> driver;
    std::unique_ptr<restart::Api> api;

    ApiYard() {
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
        roles.operators = {base::user_name(::geteuid())};
        api = std::make_unique<restart::Api>(*driver, metrics, roles, auth);
        REQUIRE(eventually([&] { return request("GET", "/healthz").status == 200; }));
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

inline std::string error_code(const HttpResponse& response) {
    const auto document = base::parse_json(response.body);
    REQUIRE(document);
    const auto error = base::Reader(*document).at("error");
    REQUIRE(error);
    REQUIRE(error->text("text"));
    CHECK_FALSE(error->text("text")->empty());
    return *error->text("code");
}

inline std::string error_text(const HttpResponse& response) {
    return *base::Reader(*base::parse_json(response.body)).at("error")->text("text");
}

// What railctl prints of an answer.
template <class Answer, class... More>
base::Expected<std::string> shown(const std::string& body, More... more) {
    const auto answer = Answer::from_json(body);
    if (!answer) return answer.error();
    return restart::show(*answer, more...);
}

} // namespace test
