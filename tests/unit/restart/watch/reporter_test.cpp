#include "restart/watch/reporter.hpp"

#include "unit/restart/wire/private_munged.hpp"

#include "restart/wire/http_server.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <thread>

using namespace std::chrono_literals;
using namespace restart;

namespace {

// restartd's end: checks the credential, keeps what came, answers as told.
class Restartd {
public:
    Restartd(const std::string& munge, std::uint16_t port = 0) : auth_(munge) {
        const auto handle = [this](const HttpRequest& request) {
            const std::lock_guard lock(mutex_);
            if (!auth_.verify(request.authorization, request.method, request.target, request.body))
                return HttpResponse{401, "{}"};
            if (status != 200) return HttpResponse{status, R"({"error":"no"})"};
            auto report = Report::from_json(request.body);
            if (!report) return HttpResponse{400, report.error().text};
            Reply reply;
            for (const auto& job : report->jobs)
                reply.jobs.push_back({job.id, job.epoch, 37.5, {}, {}});
            reports_.push_back(*std::move(report));
            return HttpResponse{200, reply.to_json()};
        };
        auto started = HttpServer::start({"127.0.0.1", port}, {}, {handle});
        REQUIRE(started);
        server_.emplace(*std::move(started));
    }
    std::uint16_t port() const { return server_->port(); }
    std::string url() const { return fmt::format("http://127.0.0.1:{}", port()); }
    std::vector<Report> reports() {
        const std::lock_guard lock(mutex_);
        return reports_;
    }
    std::atomic<unsigned> status = 200;

private:
    MungeAuth auth_;
    std::mutex mutex_;
    std::vector<Report> reports_;
    std::optional<HttpServer> server_;
};

// The number-th report of a host.
Report report(int number, const JobBook& book) {
    Report made;
    made.host = "n001";
    made.boot_id = std::to_string(number);
    made.jobs = book.entries();
    return made;
}

template <class Condition> bool eventually(Condition condition) {
    for (int i = 0; i < 1000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

} // namespace

TEST_CASE("delays double to their bound and are spread") {
    CHECK(retry_delay(0, 2s, 0) == 50ms);
    CHECK(retry_delay(0, 2s, 1) == 100ms);
    CHECK(retry_delay(3, 2s, 1) == 800ms);
    CHECK(retry_delay(5, 2s, 0) == 1s);
    CHECK(retry_delay(4'000'000'000U, 2s, 1) == 2s);
}

TEST_CASE("reports arrive signed, and the answer reaches the jobs") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    Restartd restartd(munged.socket());
    const auto book = std::make_shared<JobBook>();
    REQUIRE(book->join({12, 1, 1000}));
    auto reporter = Reporter::start({restartd.url(), munged.socket()}, book);
    REQUIRE(reporter);
    (*reporter)->offer(report(1, *book));
    CHECK(eventually([&] { return restartd.reports().size() == 1; }));
    CHECK(eventually([&] { return book->advice({12, 1, 1000}).interval_s == 37.5; }));
}

TEST_CASE("restartd away or refusing: offering never waits, and commits are told when it is back") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    std::optional<Restartd> restartd(std::in_place, munged.socket());
    const auto port = restartd->port();
    const auto url = restartd->url();
    restartd.reset();

    const auto book = std::make_shared<JobBook>();
    REQUIRE(book->join({12, 1, 1000}));
    book->commit({12, 1, 1000}, {400, "/x", base::now(), 1, 1});
    book->leave({12, 1, 1000});
    auto reporter = Reporter::start({url, munged.socket()}, book);
    REQUIRE(reporter);
    const auto began = std::chrono::steady_clock::now();
    for (int number = 1; number <= 20; ++number) {
        (*reporter)->offer(report(number, *book));
        std::this_thread::sleep_for(5ms);
    }
    CHECK(std::chrono::steady_clock::now() - began < 1s);
    CHECK_FALSE((*reporter)->flush(50ms));

    restartd.emplace(munged.socket(), port);
    restartd->status = 503;
    std::this_thread::sleep_for(100ms);
    restartd->status = 200;
    REQUIRE(eventually([&] { return restartd->reports().size() == 1; }));
    CHECK((*reporter)->flush(1s));
    const auto arrived = restartd->reports().front();
    CHECK(arrived.boot_id == "20"); // only the newest
    CHECK(arrived.jobs.at(0).ckpt->step == 400);
    CHECK(book->undelivered() == 0);
}

TEST_CASE("another restartd from now on; a bad address changes nothing") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    Restartd one(munged.socket()), two(munged.socket());
    const auto book = std::make_shared<JobBook>();
    CHECK_FALSE(Reporter::start({"ftp://nowhere", munged.socket()}, book));
    auto reporter = Reporter::start({one.url(), munged.socket()}, book);
    REQUIRE(reporter);
    (*reporter)->offer(report(1, *book));
    CHECK(eventually([&] { return one.reports().size() == 1; }));
    CHECK_FALSE((*reporter)->retarget({"ftp://nowhere", munged.socket()}));
    (*reporter)->offer(report(2, *book));
    CHECK(eventually([&] { return one.reports().size() == 2; }));
    REQUIRE((*reporter)->retarget({two.url(), munged.socket()}));
    (*reporter)->offer(report(3, *book));
    CHECK(eventually([&] { return two.reports().size() == 1; }));
}
