// Who learns what from the API: rights.hpp decides, tested in itself; here it is asked, and its views are
// served.
#include "api_yard.hpp"

#include <fmt/format.h>

using namespace test;

namespace {

constexpr uid_t nobody_uid = 65534;

// A job of nobody's, one of another's, and a note of each; requests of nobody's.
struct Shared : ApiYard {
    explicit Shared(restart::RmPrivacy hides) {
        std::filesystem::permissions(folder.path, std::filesystem::perms(0755));
        rm.change([&](restart::RmSnapshot& world) {
            restart::RmJob job;
            job.id = 12;
            job.uid = nobody_uid;
            job.account = "physics";
            job.phase = restart::JobPhase::running;
            job.nodes = {"n001"};
            job.node_count = 1;
            world.jobs.push_back(job);
            job.id = 13;
            job.uid = 1;
            job.account = "chemistry";
            world.jobs.push_back(job);
            world.config->hides = hides;
        });
        REQUIRE(eventually([&] {
            return driver->look([](const auto& state, const auto&) { return state.jobs.size() == 2; });
        }));
        restart::Report report;
        report.host = "n001";
        report.boot_id = "boot";
        report.findings.push_back({"gpu.xid", "gpu3", restart::Severity::fatal, base::now(), "XID 79"});
        REQUIRE(signed_request("POST", "/v1/report", report.to_json()).status == 200);
    }
    HttpResponse as_nobody(const std::string& target, const std::string& body = "", bool here = false) {
        auto request = make(body.empty() ? "GET" : "POST", target, body);
        REQUIRE(::seteuid(nobody_uid) == 0);
        const auto header = auth.sign(request.method, target, body);
        REQUIRE(::seteuid(0) == 0);
        REQUIRE(header);
        request.authorization = *header;
        request.from_this_machine = here;
        return api->handle(request);
    }
    std::string jobs_of_status() {
        const auto status = restart::Status::from_json(as_nobody("/v1/status").body);
        REQUIRE(status);
        std::string jobs;
        for (const auto& job : status->jobs)
            jobs += job.name + " ";
        for (const auto& incident : status->incidents)
            for (const auto& job : incident.jobs)
                jobs += incident.id + ":" + job.name + " ";
        return jobs;
    }
    bool story_of(const char* job) { // in the history
        const auto body = as_nobody("/v1/history").body;
        const auto history = restart::History::from_json(body);
        REQUIRE(history);
        return body.find(fmt::format("job {} ", job)) != std::string::npos;
    }
};

} // namespace

#define NEED_ROOT                                                                                            \
    if (::geteuid() != 0) {                                                                                  \
        WARN("SKIP: only root can be another user");                                                         \
        return;                                                                                              \
    }

TEST_CASE("where nothing is private a user reads all, from anywhere") {
    NEED_ROOT
    Shared yard({});
    NEED_MUNGED(yard.munged);
    for (const char* target : {"/v1/explain?job=12", "/v1/explain?job=13", "/v1/explain?host=n001",
                               "/v1/status", "/v1/history", "/metrics"})
        CHECK(yard.as_nobody(target).status == 200);
    CHECK(yard.jobs_of_status() == "12 13 i-1:12 i-1:13 ");
    const auto refused = yard.as_nobody("/v1/drain", R"({"host":"n002","reason":"x"})");
    CHECK(refused.status == 403);
    CHECK(error_text(refused).starts_with("nobody is not an operator: "));
}

TEST_CASE("where jobs are private a user reads of their own, from anywhere") {
    NEED_ROOT
    Shared yard({.jobs = true});
    NEED_MUNGED(yard.munged);
    const bool here = GENERATE(false, true);
    CHECK(yard.as_nobody("/v1/explain?job=12", "", here).status == 200);
    const auto others = yard.as_nobody("/v1/explain?job=13", "", here),
               none = yard.as_nobody("/v1/explain?job=99");
    CHECK(others.status == 404);
    CHECK(none.status == 404);
    CHECK(error_text(others) != error_text(none)); // by the number alone
    CHECK(error_text(others).find("no job 13 is shown to this user, whether there is one or not") == 0);
    CHECK(error_text(none).find("no job 99 is shown to this user, whether there is one or not") == 0);
    CHECK(yard.request("GET", "/v1/explain?job=12").status == 401);
    CHECK(yard.request("GET", "/v1/status").status == 401);
    CHECK(yard.request("GET", "/metrics").status == 200); // names no job
    CHECK(yard.as_nobody("/v1/explain?host=n001").status == 200);
    CHECK(yard.as_nobody("/v1/explain?host=n001").body.find("job 13") == std::string::npos);
    CHECK(yard.jobs_of_status() == "12 i-1:12 ");
    CHECK(yard.story_of("12"));
    CHECK_FALSE(yard.story_of("13"));
}

TEST_CASE("accounting makes operators and coordinators") {
    NEED_ROOT
    Shared yard({.jobs = true});
    NEED_MUNGED(yard.munged);
    const std::string drain = R"({"host":"n002","reason":"fan tray"})";
    SECTION("a coordinator sees the account's jobs") {
        yard.rm.grant("nobody", {restart::RmLevel::none, {"chemistry"}});
        CHECK(yard.as_nobody("/v1/explain?job=13").status == 200);
        CHECK(yard.jobs_of_status() == "12 13 i-1:12 i-1:13 ");
        CHECK(yard.as_nobody("/v1/drain", drain).status == 403);
    }
    SECTION("an operator sees all") {
        yard.rm.grant("nobody", {restart::RmLevel::reads, {}});
        CHECK(yard.as_nobody("/v1/explain?job=13").status == 200);
        CHECK(yard.as_nobody("/v1/drain", drain).status == 403);
    }
    SECTION("an administrator drains as well") {
        yard.rm.grant("nobody", {restart::RmLevel::acts, {}});
        CHECK(yard.as_nobody("/v1/explain?job=13").status == 200);
        CHECK(yard.as_nobody("/v1/drain", drain).status == 202);
    }
    SECTION("when it is away one is who one was, and a stranger is no operator") {
        yard.rm.grant("nobody", {restart::RmLevel::reads, {}});
        const bool known = GENERATE(true, false);
        if (known) CHECK(yard.as_nobody("/v1/explain?job=13").status == 200);
        yard.rm.away(true);
        const auto answer = yard.as_nobody("/v1/explain?job=13");
        CHECK(answer.status == (known ? 200U : 404U));
        CHECK(yard.as_nobody("/v1/explain?job=12").status == 200);
    }
}

TEST_CASE("where nodes are private a user reads no host, and no count of them") {
    NEED_ROOT
    Shared yard({.nodes = true});
    NEED_MUNGED(yard.munged);
    const auto host = yard.as_nobody("/v1/explain?host=n001");
    CHECK(host.status == 403);
    CHECK(error_text(host).find("hosts are not shown to nobody: PrivateData=nodes") == 0);
    CHECK(yard.as_nobody("/v1/explain?host=n999").status == 403);
    const auto status = restart::Status::from_json(yard.as_nobody("/v1/status").body);
    REQUIRE(status);
    CHECK(status->hosts.empty());
    CHECK(status->not_shown.size() == 1);
    CHECK(yard.jobs_of_status() == "12 13 i-1:12 "); // what is done about a job tells of its hosts
    CHECK(yard.as_nobody("/v1/signals?host=n001").status == 403);
    CHECK(yard.as_nobody("/metrics").status == 403);
    CHECK(yard.request("GET", "/metrics").status == 401);
    CHECK(yard.signed_request("GET", "/metrics").status == 200);
    const auto own = restart::JobExplanation::from_json(yard.as_nobody("/v1/explain?job=12").body);
    REQUIRE(own);
    CHECK(own->job);
    for (const auto& entry : own->timeline)
        CHECK(entry.job_name == "12");
    CHECK(shown<restart::Status>(yard.as_nobody("/v1/status").body, false)
              ->find("not shown to you: hosts (PrivateData=nodes in slurm.conf)\n") != std::string::npos);
}

TEST_CASE("until it is known what is private operators alone read") {
    NEED_ROOT
    Shared yard({});
    NEED_MUNGED(yard.munged);
    yard.rm.change([](restart::RmSnapshot& world) { world.config->hides.reset(); });
    REQUIRE(eventually([&] { return !yard.driver->privacy(); }));
    CHECK(yard.request("GET", "/v1/status").status == 503);
    CHECK(yard.as_nobody("/v1/explain?job=12").status == 503);
    CHECK(yard.signed_request("GET", "/v1/status").status == 200);
}

TEST_CASE("the past of a job that has ended is its owner's") {
    NEED_ROOT
    Shared yard({.jobs = true});
    NEED_MUNGED(yard.munged);
    yard.rm.change([](restart::RmSnapshot& world) { world.jobs.clear(); });
    REQUIRE(eventually([&] {
        return yard.driver->look([](const auto& state, const auto&) { return state.jobs.empty(); });
    }));
    const auto own = restart::JobExplanation::from_json(yard.as_nobody("/v1/explain?job=12").body);
    REQUIRE(own);
    CHECK_FALSE(own->job);
    CHECK_FALSE(own->timeline.empty());
    CHECK(yard.as_nobody("/v1/explain?job=13").status == 404);
    CHECK(yard.as_nobody("/v1/history?job=12").body.find("job 12") != std::string::npos);
    CHECK(restart::History::from_json(yard.as_nobody("/v1/history?job=13").body)->timeline.empty());
}

TEST_CASE("a token reads the metrics and nothing else") {
    NEED_ROOT
    Shared yard({.nodes = true});
    NEED_MUNGED(yard.munged);
    const auto path = yard.folder.path / "token";
    REQUIRE(base::write_file(path, "0123456789abcdef0123456789abcdef\n"));
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    yard.api->reload({}, yard.auth, *restart::MetricsTokens::read(path));
    const auto with = [&](const char* method, const char* target, const char* token, bool here = false) {
        auto request = ApiYard::make(method, target, "");
        request.authorization = std::string("Bearer ") + token;
        request.from_this_machine = here;
        return yard.api->handle(request);
    };
    constexpr const char* good = "0123456789abcdef0123456789abcdef";
    for (const bool here : {false, true}) {
        CHECK(with("GET", "/metrics", good, here).status == 200);
        CHECK(with("GET", "/metrics", "0123456789abcdef0123456789abcdee", here).status == 401);
        for (const char* target :
             {"/v1/status", "/v1/history", "/v1/explain?host=n001", "/v1/explain?job=12"})
            CHECK(with("GET", target, good, here).status == 401);
        for (const char* target : {"/v1/drain", "/v1/resume", "/v1/report"})
            CHECK(with("POST", target, good, here).status == 401);
    }
    yard.api->reload({}, yard.auth, {});
    CHECK(with("GET", "/metrics", good).status == 401);
}

TEST_CASE("metrics name no job, no user and no host") {
    NEED_ROOT
    Shared yard({.jobs = true});
    NEED_MUNGED(yard.munged);
    const auto page = yard.signed_request("GET", "/metrics").body;
    for (const char* name : {"n001", "n002", "nobody", "physics", "job=", "\"12\""}) {
        INFO(name);
        CHECK(page.find(name) == std::string::npos);
    }
}

TEST_CASE("what an operator asks for waits neither for agents nor for what any user may ask") {
    const auto lane_of = [](const char* path) {
        restart::HttpRequest request;
        request.path = path;
        return restart::Api::lane(request);
    };
    for (const auto* path : {"/v1/drain", "/v1/resume", "/v1/pause", "/v1/go"})
        for (const auto* other :
             {"/v1/report", "/v1/fabric", "/v1/explain", "/v1/history", "/healthz", "/nothing"})
            CHECK(lane_of(path) != lane_of(other));
    REQUIRE(lane_of("/v1/drain") < restart::Api::workers().size());
    CHECK(restart::Api::workers()[lane_of("/v1/drain")] > 0);
}
