#include "restart/daemon/driver.hpp"

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "rm_double.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <latch>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

using namespace std::chrono_literals;
using restart::Driver;

namespace {

// A driver over a journal in a private folder; made again it goes on where the last one ended.
struct Yard {
    test::Folder folder;
    test::RmDouble rm{{"n001", "n002", "n003"}};
    restart::Metrics metrics;
    std::unique_ptr<Driver> driver;
    bool observe_only = false;
    base::Duration silent = 1h; // no host is, unless a test says so
    std::filesystem::path fabric{};

    void start() {
        base::log::open("unit_daemon", base::log::Level::error);
        restart::DriverOptions options;
        options.policy.retry_most = 1s;
        options.poll = 20ms;
        options.tick = 10ms;
        options.policy.observe_only = observe_only;
        options.policy.silent = silent;
        options.health = folder.path / "health.json";
        options.fabric = fabric;
        auto journal = restart::Journal::open(folder.path / "journal.db");
        REQUIRE(journal);
        auto made = Driver::make(*std::move(journal), rm, metrics, options);
        REQUIRE(made);
        driver = *std::move(made);
        driver->start();
    }
    void end() {
        CHECK(driver->stop(test::patience()));
        driver.reset();
    }
    bool known() const {
        return test::eventually([&] {
            return driver->look([](const auto& state, const auto&) { return state.rm_read.has_value(); });
        });
    }
    std::string intent_state(const std::string& incident) const {
        const auto intents = driver->intents(incident);
        REQUIRE(intents);
        return intents->empty() ? "none" : intents->front().state;
    }
};

restart::Report report_of(const std::string& host) {
    restart::Report report;
    report.host = host;
    report.boot_id = "boot";
    return report;
}

} // namespace

TEST_CASE("an operator's drain is written, done and recorded") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    const auto incident = yard.driver->drain("n002", "fan tray", "alice");
    REQUIRE(incident);
    REQUIRE(yard.rm.wait_for_calls(1));
    CHECK(yard.rm.node("n002").reason == "railyard[user:alice]: fan tray");
    CHECK(test::eventually([&] { return yard.intent_state(*incident) == "done"; }));
    const auto notes = yard.driver->notes({.incident = *incident});
    REQUIRE(notes);
    CHECK(notes->size() >= 2);
    REQUIRE(test::eventually([&] { return yard.driver->resume("n002", "alice").has_value(); }));
    REQUIRE(yard.rm.wait_for_calls(2));
    CHECK(yard.rm.calls().back() == "resume n002");
    yard.end();
}

TEST_CASE(
    "notes are written a moment later, but a reader finds the one that was just made, and so does a stop") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    std::size_t made = 0;
    for (int i = 0; i < 20; ++i) {
        auto report = report_of("n002");
        if (i % 2 == 0) // begins and ends
            report.findings.push_back(
                {"ib.some", "mlx5_0:1", restart::Severity::warn, base::now(), "12 more"});
        REQUIRE(yard.driver->report(report));
        const auto notes = yard.driver->notes({.host = "n002"});
        REQUIRE(notes);
        CHECK(notes->size() == ++made);
    }
    REQUIRE(yard.driver->report([] {
        auto report = report_of("n003");
        report.findings.push_back({"ib.some", "mlx5_0:1", restart::Severity::warn, base::now(), "12 more"});
        return report;
    }()));
    yard.end();
    auto journal = restart::Journal::open(yard.folder.path / "journal.db");
    REQUIRE(journal);
    const auto notes = journal->notes({.host = "n003"});
    REQUIRE(notes);
    CHECK(notes->size() == 1);
}

TEST_CASE("a silent host that takes connections and answers none is lost, one that answers is not") {
    const auto life = GENERATE(restart::Life::mute, restart::Life::answers);
    Yard yard;
    yard.silent = test::patience() / 300;
    yard.rm.set_life(life);
    yard.start();
    REQUIRE(yard.known());
    const auto report = [&](const char* host) { CHECK(yard.driver->report(report_of(host))); };
    const auto incidents = [&] {
        return yard.driver->look([](const auto& state, const auto&) { return state.next_incident; });
    };
    report("n001");
    // The others report on, so that it is silent alone.
    const bool acted = test::eventually([&] {
        report("n002");
        report("n003");
        return !yard.rm.calls().empty() || (life == restart::Life::answers && incidents() > 1);
    });
    CHECK(acted);
    if (life == restart::Life::mute)
        CHECK(yard.rm.calls().front().find("n001") != std::string::npos);
    else
        CHECK(yard.rm.calls().empty());
    yard.end();
}

TEST_CASE("what step refuses reaches the operator") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    const auto unknown = yard.driver->drain("n999", "x", "alice");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().code == base::Code::not_found);
    yard.rm.change([](restart::RmSnapshot& world) {
        world.nodes[0].drain = true;
        world.nodes[0].reason = "bob is soldering";
    });
    REQUIRE(test::eventually([&] {
        return yard.driver->look(
            [](const auto& state, const auto&) { return state.hosts.at("n001").node->drain; });
    }));
    const auto others = yard.driver->resume("n001", "alice");
    REQUIRE_FALSE(others);
    CHECK(others.error().code == base::Code::denied);
    CHECK(yard.rm.calls().empty());
}

TEST_CASE("a report of an unknown host is refused") {
    Yard yard;
    yard.rm.away(true);
    yard.start();
    const auto early = yard.driver->report(report_of("n001"));
    REQUIRE_FALSE(early);
    CHECK(early.error().code == base::Code::unavailable);
    yard.rm.away(false);
    REQUIRE(yard.known());
    CHECK(yard.driver->report(report_of("n001")));
    const auto unknown = yard.driver->report(report_of("evil"));
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().code == base::Code::denied);
    // Its name is kept for those who look for it, until it is known or silent; made-up ones do not fill the
    // memory.
    const auto unknown_hosts = [&] {
        return yard.driver->look([](const auto&, const auto& status) { return status.unknown_hosts; });
    };
    CHECK(unknown_hosts() == std::vector<std::string>{"evil"});
    for (int i = 0; i < 1000; ++i)
        CHECK_FALSE(yard.driver->report(report_of("evil" + std::to_string(i))));
    CHECK(unknown_hosts().size() == 256);
    yard.driver->look([](const auto& state, const auto&) {
        CHECK(state.hosts.at("n001").last_report);
        CHECK_FALSE(state.hosts.contains("evil"));
    });
}

TEST_CASE(
    "while the resource manager is away an action waits, over a restart of restartd too, and is done once") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    yard.rm.away(true);
    const auto incident = yard.driver->drain("n003", "smoke", "alice");
    REQUIRE(incident);
    CHECK(test::eventually([&] {
        const auto intents = yard.driver->intents(*incident);
        return intents && !intents->front().error.empty(); // tried, and told why not
    }));
    CHECK(yard.intent_state(*incident) == "pending");
    yard.end();
    yard.start();
    CHECK(yard.rm.calls().empty());
    yard.rm.away(false);
    REQUIRE(yard.rm.wait_for_calls(1));
    CHECK(test::eventually([&] { return yard.intent_state(*incident) == "done"; }));
    std::this_thread::sleep_for(200ms);
    CHECK(yard.rm.calls() == std::vector<std::string>{"drain n003: railyard[user:alice]: smoke"});
    yard.end();
    yard.start(); // and a further start repeats nothing
    REQUIRE(yard.known());
    std::this_thread::sleep_for(200ms);
    CHECK(yard.rm.calls().size() == 1);
}

TEST_CASE("an intent without an outcome is settled by what the resource manager shows") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    REQUIRE(yard.driver->stop(test::patience()));
    // A process that is killed after the commit leaves exactly this: the state with the intent given.
    std::string incident;
    {
        const auto path = yard.folder.path / "journal.db";
        yard.driver.reset();
        auto journal = restart::Journal::open(path);
        REQUIRE(journal);
        auto state = *journal->state();
        REQUIRE(state);
        restart::Policy policy;
        policy.observe_only = false;
        auto step = restart::step(*std::move(state), restart::OperatorDrain{"n001", "smoke", "alice"},
                                  base::now(), policy);
        REQUIRE(step.actions.size() == 1);
        incident = step.actions.front().id.substr(0, step.actions.front().id.find('/'));
        REQUIRE(journal->commit(
            {restart::StateRows().changes(step.state), step.notes, step.actions, {}, {}, {}}, base::now()));
    }
    SECTION("it was not done: it is done once") {
        yard.start();
        REQUIRE(yard.rm.wait_for_calls(1));
        std::this_thread::sleep_for(200ms);
        CHECK(yard.rm.calls() == std::vector<std::string>{"drain n001: railyard[user:alice]: smoke"});
    }
    SECTION("it was done: it is not done again") {
        yard.rm.change([](restart::RmSnapshot& world) {
            world.nodes[0].drain = true;
            world.nodes[0].reason = "railyard[user:alice]: smoke";
        });
        yard.start();
        REQUIRE(yard.known());
        std::this_thread::sleep_for(200ms);
        CHECK(yard.rm.calls().empty());
    }
    CHECK(test::eventually([&] { return yard.intent_state(incident) == "done"; }));
    yard.end();
}

TEST_CASE("nothing is done while the journal cannot be written, and all of it afterwards") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{0, before.rlim_max}; // what a full disk looks like to the writer
    ::setrlimit(RLIMIT_FSIZE, &full);
    const auto first = yard.driver->drain("n001", "smoke", "alice");
    const auto second = yard.driver->drain("n002", "smoke", "alice");
    const auto told = yard.driver->look([](const auto&, const auto& status) { return status.journal_error; });
    std::this_thread::sleep_for(300ms);
    const auto calls = yard.rm.calls();
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignore);
    CHECK(first); // taken before it was known
    REQUIRE_FALSE(second);
    CHECK(second.error().code == base::Code::unavailable);
    CHECK(told.find("journal.db") != std::string::npos);
    CHECK(calls.empty());
    REQUIRE(yard.rm.wait_for_calls(1));
    CHECK(yard.rm.calls().front() == "drain n001: railyard[user:alice]: smoke");
    CHECK(yard.driver->look([](const auto&, const auto& status) { return status.journal_error; }).empty());
}

TEST_CASE("a lost host that came back while the journal could not be written is not set down when it can") {
    Yard yard;
    yard.silent = test::patience() / 200;
    yard.start();
    REQUIRE(yard.known());
    const auto lost = [&] {
        return yard.driver->look([](const auto& state, const auto&) { return state.hosts.at("n002").lost; });
    };
    const auto report = [&](bool all) {
        for (const auto* host : {"n001", "n003"})
            REQUIRE(yard.driver->report(report_of(host)));
        if (all) REQUIRE(yard.driver->report(report_of("n002")));
    };
    const auto hear = [&](bool heard) {
        yard.rm.change([&](restart::RmSnapshot& world) { world.nodes[1].not_responding = !heard; });
    };
    report(true);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto ignore = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{0, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
    hear(false);
    const bool was_lost = test::eventually([&] {
        report(false);
        return lost();
    });
    hear(true);
    report(true);
    const bool returned = test::eventually([&] {
        report(true);
        return yard.driver->look([](const auto& state, const auto&) {
            return !state.hosts.at("n002").lost && !state.hosts.at("n002").node->not_responding;
        });
    });
    const auto error =
        yard.driver->look([](const auto&, const auto& status) { return status.journal_error; });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignore);
    CHECK(was_lost);
    CHECK(returned);
    CHECK_FALSE(error.empty()); // all that while
    CHECK(test::eventually([&] {
        report(true);
        const auto intents = yard.driver->intents({});
        return intents && intents->size() == 1 && intents->front().state == "failed";
    }));
    CHECK(yard.rm.calls().empty());
    CHECK(yard.driver->intents({})->front().error == "its agent reports again");
    yard.end();
}

TEST_CASE("a stored state that cannot be understood is refused, not replaced") {
    const test::Folder folder;
    const auto path = folder.path / "journal.db";
    test::RmDouble rm({"n001"});
    restart::Metrics metrics;
    {
        auto journal = restart::Journal::open(path);
        REQUIRE(journal->commit(
            {{{"host/n001", "{}"}, {"rest", R"({"v":2,"files":17})"}}, {}, {}, {}, {}, {}}, base::now()));
    }
    for (int i = 0; i < 2; ++i) {
        const auto driver = Driver::make(*restart::Journal::open(path), rm, metrics, {});
        REQUIRE_FALSE(driver);
        CHECK(driver.error().text.find(path.string()) != std::string::npos);
        CHECK(driver.error().text.find("next_incident") != std::string::npos);
    }
}

TEST_CASE("placement is told which hosts to avoid, and nothing while observing") {
    Yard yard;
    yard.observe_only = GENERATE(false, true);
    yard.start();
    REQUIRE(yard.known());
    const auto avoided = [&] {
        const auto text = base::read_file(yard.folder.path / "health.json");
        const auto file = text ? base::parse_health(*text, "health.json") : base::HealthFile{};
        REQUIRE(file);
        return file->hosts;
    };
    auto report = report_of("n002");
    report.findings.push_back(
        {"ib.symbol_error", "mlx5_0:1", restart::Severity::warn, base::now(), "12 an hour"});
    REQUIRE(yard.driver->report(report));
    if (yard.observe_only) {
        REQUIRE(test::eventually([&] { return std::filesystem::exists(yard.folder.path / "health.json"); }));
        std::this_thread::sleep_for(50ms);
        CHECK(avoided().empty());
    } else {
        CHECK(test::eventually([&] { return avoided().contains("n002"); }));
        restart::RmQueue queue;
        queue.nodes.emplace_back().name = "n002";
        yard.rm.set_queue(queue);
        CHECK((*yard.driver->queue(test::patience()))->nodes.at(0).health == avoided().at("n002").health);
        report.findings.clear();
        REQUIRE(yard.driver->report(report));
        CHECK(test::eventually([&] { return avoided().empty(); }));
    }
    yard.end();
}

TEST_CASE("the queue is asked for between other calls, and a manager that is away is told as such") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    restart::RmQueue queue;
    queue.jobs.emplace_back().id = 12;
    yard.rm.set_queue(queue);
    const auto answer = yard.driver->queue(test::patience());
    REQUIRE(answer);
    CHECK((*answer)->jobs.size() == 1);
    REQUIRE(yard.driver->write_why(12, "needs 4 nodes", test::patience()));
    CHECK(yard.rm.job(12).shown == "needs 4 nodes");
    CHECK(yard.driver->refresh(test::patience()));
    yard.rm.away(true);
    CHECK_FALSE(yard.driver->refresh(test::patience()));
    CHECK(yard.driver->queue(test::patience()).error().code == base::Code::unavailable);
    yard.end();
}

TEST_CASE("many who ask at once share a reading of the queue, and none gets an older one") {
    constexpr int count = 16;
    std::latch begun(count);
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    restart::RmQueue queue;
    queue.jobs.resize(1);
    yard.rm.set_queue(queue);
    REQUIRE(yard.driver->queue(test::patience()));
    queue.jobs.resize(2);
    yard.rm.set_queue(queue);
    const auto before = yard.rm.queue_readings();
    std::atomic<int> current = 0;
    // The first reading lasts until all ask, and the queue rests for longer than that before the next.
    yard.rm.during_queue([&] { begun.wait(); });
    {
        std::vector<std::jthread> askers;
        for (int i = 0; i < count; ++i)
            askers.emplace_back([&] {
                begun.count_down();
                const auto answer = yard.driver->queue(test::patience());
                if (answer && (*answer)->jobs.size() == 2) ++current;
            });
    }
    CHECK(current == count);
    CHECK(yard.rm.queue_readings() - before < count);
    yard.end();
}

TEST_CASE("a refreshed state has seen what happened before the question") {
    Yard yard;
    yard.start();
    REQUIRE(yard.known());
    for (std::uint32_t number = 1; number <= 20; ++number) {
        const base::JobId id(number);
        yard.rm.change([&](restart::RmSnapshot& world) {
            restart::RmJob job;
            job.id = id;
            world.jobs.push_back(job);
        });
        REQUIRE(yard.driver->refresh(test::patience()));
        CHECK(yard.driver->look([&](const auto& state, const auto&) { return state.jobs.contains(id); }));
    }
    yard.end();
}

TEST_CASE("a fabric file that hangs holds up no decision, and the end only for as long as it is given") {
    Yard yard;
    yard.fabric = yard.folder.path / "fabric.json";
    yard.start();
    REQUIRE(yard.known());
    REQUIRE(::mkfifo(yard.fabric.c_str(), 0600) == 0);
    base::UniqueFd writer; // can be had once it is being read, and never says anything
    REQUIRE(test::eventually([&] {
        writer = base::UniqueFd(::open(yard.fabric.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        return bool(writer);
    }));
    const auto ticks = yard.driver->ticks();
    CHECK(test::eventually([&] { return yard.driver->ticks() > ticks + 10; }));
    REQUIRE(yard.driver->drain("n002", "fan tray", "alice"));
    CHECK(yard.rm.wait_for_calls(1));
    CHECK_FALSE(yard.driver->stop(50ms));
    writer = {};
    yard.driver.reset();
}
