#include "restart/watch/reporter.hpp"

#include "unit/patience.hpp"
#include "unit/restart/wire/private_munged.hpp"

#include "restart/wire/channel.hpp"
#include "restart/wire/http_server.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace restart;

namespace {

const auto user = std::to_string(::geteuid());

// restartd's end: checks the credential, keeps what came, answers as told.
class Restartd {
public:
    Restartd(const std::string& munge, std::uint16_t port = 0, unsigned first_status = 200)
        : status(first_status), auth_(munge, user) {
        const auto handle = [this](const HttpRequest& request) {
            const std::lock_guard lock(mutex_);
            if (!authenticate(request, auth_, std::chrono::steady_clock::now()))
                return HttpResponse{401, "{}"};
            if (request.path == "/v1/report/signals") {
                if (auto told = HostSignals::from_json(request.body)) signals_.push_back(*std::move(told));
                HttpResponse response{tell_status, "{\"v\":1}"};
                response.proof = request.channel->proof(response.status, response.body);
                return response;
            }
            if (status != 200) {
                ++refused;
                return HttpResponse{status, R"({"error":"no"})"};
            }
            auto& before = request.channel->reported;
            if (request.body == report_as_before) {
                ++repeated;
                if (!before || forgetful.exchange(false)) return HttpResponse{409, "{}"};
            } else {
                auto read = Report::from_json(request.body);
                if (!read) return HttpResponse{400, read.error().text};
                before = std::make_shared<const Report>(*std::move(read));
            }
            const auto report = before;
            Reply reply;
            for (const auto& job : report->jobs)
                reply.jobs.push_back({job.id, job.epoch, 37.5, {}, {}});
            if (report->looks && report->sights.empty()) reply.looks = {{3, "n002", "127.0.0.1", 6818}};
            reply.tell = report->tells && signals_.empty();
            reports_.push_back(*report);
            HttpResponse response{200, reply.to_json()};
            response.proof = request.channel->proof(200, response.body);
            return response;
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
    std::vector<HostSignals> signals() {
        const std::lock_guard lock(mutex_);
        return signals_;
    }
    std::atomic<unsigned> status;
    std::atomic<unsigned> tell_status = 200;
    std::atomic<unsigned> refused = 0;   // reports, by that status
    std::atomic<unsigned> repeated = 0;  // reports that said "as before"
    std::atomic<bool> forgetful = false; // of what came before, once

private:
    MungeAuth auth_;
    std::mutex mutex_;
    std::vector<Report> reports_;
    std::vector<HostSignals> signals_;
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
    TaskLoop loop(1s);
    auto reporter = Reporter::start(loop, {{restartd.url()}, munged.socket(), user}, book);
    REQUIRE(reporter);
    (*reporter)->offer(report(1, *book));
    CHECK(test::eventually([&] { return restartd.reports().size() == 1; }));
    CHECK(test::eventually([&] { return book->advice({12, 1, 1000}).interval_s == 37.5; }));
}

TEST_CASE("what restartd asks the agent to look at is looked at, until it asks no more") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    Restartd restartd(munged.socket());
    const auto book = std::make_shared<JobBook>();
    const auto looker = std::make_shared<PeerLooker>([] {},
                                                     [](const LookRequest& look) {
                                                         return look.address == "127.0.0.1"
                                                                    ? base::Knocked::refused
                                                                    : base::Knocked::unknown;
                                                     });
    TaskLoop loop(1s);
    auto reporter = Reporter::start(loop, {{restartd.url()}, munged.socket(), user}, book, looker);
    REQUIRE(reporter);
    auto made = report(1, *book);
    made.looks = true;
    (*reporter)->offer(made);
    REQUIRE(test::eventually([&] { return looker->sights().size() == 1; }));
    made.sights = looker->sights();
    CHECK(made.sights.front() == Sight{3, "n002", base::Knocked::refused});
    (*reporter)->offer(made);
    CHECK(test::eventually([&] { return looker->sights().empty(); }));
    CHECK(restartd.reports().back() == made);
}

TEST_CASE("signals are told when restartd asks for them, once, and reports go on") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    Restartd restartd(munged.socket());
    restartd.tell_status = GENERATE(200U, 409U, 500U);
    const auto book = std::make_shared<JobBook>();
    std::atomic<unsigned> asked = 0;
    TaskLoop loop(1s);
    auto reporter =
        Reporter::start(loop, {{restartd.url()}, munged.socket(), user}, book, {}, [&] { ++asked; });
    REQUIRE(reporter);
    auto made = report(1, *book);
    (*reporter)->offer(made);
    REQUIRE(test::eventually([&] { return restartd.reports().size() == 1; }));
    CHECK(asked == 0); // an agent that does not tell is not asked
    made.tells = true;
    (*reporter)->offer(made);
    REQUIRE(test::eventually([&] { return asked == 1; }));
    HostSignals signals;
    signals.host = "n001";
    (*reporter)->tell(signals);
    CHECK(restartd.signals().empty()); // with the next report, not before
    (*reporter)->offer(made);
    REQUIRE(test::eventually([&] { return restartd.signals().size() == 1; }));
    CHECK(restartd.signals().front() == signals);
    for (int i = 2; i < 5; ++i) {
        const auto before = restartd.reports().size();
        (*reporter)->offer(report(i, *book));
        REQUIRE(test::eventually([&] { return restartd.reports().size() > before; }));
    }
    CHECK(restartd.signals().size() == 1);
}

TEST_CASE("a report that says nothing new is a few bytes, and whole where restartd does not know the last") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    Restartd restartd(munged.socket());
    const auto book = std::make_shared<JobBook>();
    TaskLoop loop(1s);
    auto reporter = Reporter::start(loop, {{restartd.url()}, munged.socket(), user}, book);
    REQUIRE(reporter);
    const auto arrives = [&](const Report& made, std::size_t number) {
        (*reporter)->offer(made);
        REQUIRE(test::eventually([&] { return restartd.reports().size() == number; }));
        CHECK(restartd.reports().back() == made);
    };
    arrives(report(1, *book), 1);
    arrives(report(1, *book), 2);
    CHECK(restartd.repeated == 1);
    arrives(report(2, *book), 3);
    CHECK(restartd.repeated == 1);
    restartd.forgetful = true;
    arrives(report(2, *book), 4);
    CHECK(restartd.repeated == 2);
    arrives(report(2, *book), 5);
    CHECK(restartd.repeated == 3);
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
    TaskLoop loop(1s);
    auto reporter = Reporter::start(loop, {{url}, munged.socket(), user}, book);
    REQUIRE(reporter);
    // restartd comes back after all were offered: an offer that waited for it would never return.
    for (int number = 1; number <= 20; ++number) {
        (*reporter)->offer(report(number, *book));
        std::this_thread::sleep_for(5ms);
    }
    CHECK_FALSE((*reporter)->flush(50ms));

    restartd.emplace(munged.socket(), port, 503U);
    REQUIRE(test::eventually([&] { return restartd->refused > 0; }));
    CHECK(restartd->reports().empty());
    restartd->status = 200;
    REQUIRE(test::eventually([&] { return restartd->reports().size() == 1; }));
    CHECK((*reporter)->flush(test::patience()));
    const auto arrived = restartd->reports().front();
    CHECK(arrived.boot_id == "20"); // only the newest
    CHECK(arrived.jobs.at(0).ckpt->step == 400);
    CHECK(book->undelivered() == 0);
}

TEST_CASE("a restartd that has gone hears no railrun") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    std::optional<Restartd> restartd(std::in_place, munged.socket());
    const auto port = restartd->port();
    const auto book = std::make_shared<JobBook>();
    REQUIRE(book->join({12, 1, 1000}));
    REQUIRE(book->run({12, 1, 1000}, book->new_holder(), JobRun{0, "n[1-4]", "n5", false}));
    TaskLoop loop(1s);
    auto reporter = Reporter::start(loop, {{restartd->url()}, munged.socket(), user}, book);
    REQUIRE(reporter);
    const auto heard = [&] { return book->run_advice({12, 1, 1000}).heard; };
    (*reporter)->offer(report(1, *book));
    REQUIRE(test::eventually(heard));
    restartd.reset();
    (*reporter)->offer(report(2, *book));
    REQUIRE(test::eventually([&] { return !heard(); }));
    restartd.emplace(munged.socket(), port, 200U);
    CHECK(test::eventually(heard));
}

TEST_CASE("another restartd from now on; a bad address changes nothing") {
    const test::PrivateMunged munged;
    NEED_MUNGED(munged);
    Restartd one(munged.socket()), two(munged.socket());
    const auto book = std::make_shared<JobBook>();
    TaskLoop loop(1s);
    CHECK_FALSE(Reporter::start(loop, {{"ftp://nowhere"}, munged.socket(), user}, book));
    auto reporter = Reporter::start(loop, {{one.url()}, munged.socket(), user}, book);
    REQUIRE(reporter);
    (*reporter)->offer(report(1, *book));
    CHECK(test::eventually([&] { return one.reports().size() == 1; }));
    CHECK_FALSE((*reporter)->retarget({{"ftp://nowhere"}, munged.socket(), user}));
    (*reporter)->offer(report(2, *book));
    CHECK(test::eventually([&] { return one.reports().size() == 2; }));
    REQUIRE((*reporter)->retarget({{two.url()}, munged.socket(), user}));
    (*reporter)->offer(report(3, *book));
    CHECK(test::eventually([&] { return two.reports().size() == 1; }));
}
