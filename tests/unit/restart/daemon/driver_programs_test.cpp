// The driver's threads that run the site's programs: whatever a program does, reports are answered, the
// resource manager is read and hosts are drained meanwhile, and what came of it is told once.
#include "restart/daemon/driver.hpp"

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "rm_double.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>

using namespace std::chrono_literals;
using namespace restart;

namespace {

namespace fs = std::filesystem;

// A driver that resets GPUs by a program of the test, which writes a line "HOST" into runs at each start.
struct Yard {
    test::Folder folder;
    test::RmDouble rm{{"n001", "n002", "n003", "n004", "n005", "n006"}};
    Metrics metrics;
    std::unique_ptr<Driver> driver;
    std::string program = (folder.path / "reset").string();
    base::Duration limit = test::patience();
    std::uint64_t at_once = 1;

    void write_program(const std::string& text) const {
        std::ofstream(program) << "#!/bin/sh\necho $1 >>" << (folder.path / "runs").string() << "\n"
                               << text << "\n";
        fs::permissions(program, fs::perms::owner_all);
    }
    void start() {
        base::log::open("unit_daemon", base::log::Level::error);
        DriverOptions options;
        options.poll = 20ms;
        options.tick = 10ms;
        options.policy.observe_only = false;
        options.policy.max_drained_percent = 100;
        options.policy.silent = 1h; // nobody reports here unless a test says so
        auto& repair = options.policy.repair;
        repair.max_at_once = at_once;
        repair.resets_gpus = true;
        repair.clean_window = 1h; // no rung after the first
        repair.ladders["gpu_error"] = {"gpu_reset", "hands"};
        options.programs = {program, "", limit};
        auto journal = Journal::open(folder.path / "journal.db");
        REQUIRE(journal);
        auto made = Driver::make(*std::move(journal), rm, metrics, options);
        REQUIRE(made);
        driver = *std::move(made);
        driver->start();
        REQUIRE(driver->refresh(test::patience()));
    }
    void stop() {
        CHECK(driver->stop(test::patience()));
        driver.reset();
    }
    void breaks(const std::string& host) const {
        Report report;
        report.host = host;
        report.boot_id = "boot";
        report.findings.push_back({"gpu.xid", "gpu3", Severity::fatal, base::now(), "XID 48", "gpu_error"});
        REQUIRE(driver->report(report));
    }
    std::vector<std::string> runs() const {
        std::vector<std::string> hosts;
        std::ifstream file(folder.path / "runs");
        for (std::string host; file >> host;)
            hosts.push_back(host);
        return hosts;
    }
    bool wait_for_run(const std::string& host) const {
        return test::eventually([&] {
            const auto hosts = runs();
            return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
        });
    }
    std::string story(const std::string& host) const {
        const auto notes = driver->notes({.host = host});
        REQUIRE(notes);
        std::string text;
        for (const auto& note : *notes)
            text += note.text + "\n";
        return text;
    }
    // How often the notes of the host say so.
    std::size_t told(const std::string& host, const std::string& what) const {
        const auto text = story(host);
        std::size_t count = 0;
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
            ++count;
        return count;
    }
    // The outcome came, and does not come again while time passes and the resource manager is read.
    void check_told_once(const std::string& host, const std::string& what) const {
        INFO(host << ": " << what);
        REQUIRE(test::eventually([&] { return told(host, what) > 0; }));
        for (int i = 0; i < 5; ++i)
            REQUIRE(driver->refresh(test::patience()));
        INFO(story(host));
        CHECK(told(host, what) == 1);
        const auto hosts = runs();
        CHECK(std::count(hosts.begin(), hosts.end(), host) <= 1);
    }
    // Others are served: a report, a reading, a drain.
    void check_serves(const std::string& host) const {
        Report report;
        report.host = host;
        report.boot_id = "boot";
        CHECK(driver->report(report));
        CHECK(driver->refresh(test::patience()));
        REQUIRE(driver->drain(host, "fan", "alice"));
        CHECK(test::eventually([&] { return const_cast<test::RmDouble&>(rm).node(host).drain; }));
    }
};

} // namespace

TEST_CASE("programs that hang hold up neither reports nor the resource manager, and are told of once") {
    Yard yard;
    yard.at_once = 3; // one more than there are threads for programs
    SECTION("for minutes") {
        const auto go_on = yard.folder.path / "go";
        yard.limit = 10min;
        yard.write_program("while ! [ -e " + go_on.string() + " ]; do sleep 0.05; done; echo at last");
        yard.start();
        for (const auto* host : {"n001", "n002", "n003"})
            yard.breaks(host);
        REQUIRE(test::eventually([&] { return yard.runs().size() == 2; }));
        yard.check_serves("n004");
        CHECK(yard.runs().size() == 2);
        std::ofstream(go_on) << "\n";
        for (const auto* host : {"n001", "n002", "n003"})
            yard.check_told_once(host, "at last");
    }
    SECTION("for ever: each is killed in its time") {
        yard.limit = test::patience() / 60; // in which the shell must have started
        yard.write_program("echo begun; exec sleep 1000");
        yard.start();
        for (const auto* host : {"n001", "n002", "n003"})
            yard.breaks(host);
        for (const auto* host : {"n001", "n002", "n003"})
            yard.check_told_once(host, "has not ended within " + base::human_duration(yard.limit) +
                                           ", and was killed");
    }
    CHECK(yard.runs().size() == 3);
    yard.stop();
}

TEST_CASE("a program that fails, prints without end or is not there is told of once, in a line") {
    Yard yard;
    SECTION("it fails") {
        yard.write_program("echo \"no GPU $2 of $1\" >&2; exit 3");
        yard.start();
        yard.breaks("n001");
        yard.check_told_once("n001", "status 3: no GPU 3 of n001");
    }
    SECTION("it prints much, and ends well") {
        yard.write_program("yes 'a line \x01' | head -c 2000000; echo; printf '\\033[1mreset %0900d\\n' 7");
        yard.start();
        yard.breaks("n001");
        yard.check_serves("n004");
        REQUIRE(test::eventually([&] { return yard.told("n001", "[1mreset 000") > 0; }));
        yard.check_told_once("n001", "[1mreset 000");
        const auto text = yard.story("n001");
        CHECK(text.size() < 4000);
        CHECK(text.find('\x1b') == std::string::npos);
    }
    SECTION("it prints without end, and is killed") {
        yard.limit = test::patience() / 12; // in which the shell must have started
        yard.write_program("exec yes 'on and on'");
        yard.start();
        yard.breaks("n001");
        yard.check_serves("n004");
        yard.check_told_once("n001", "was killed: on and on");
    }
    SECTION("it is not there") {
        yard.start();
        yard.breaks("n001");
        yard.check_told_once("n001", yard.program + ": No such file or directory");
    }
    SECTION("it cannot be run") {
        yard.write_program("true");
        fs::permissions(yard.program, fs::perms::owner_read);
        yard.start();
        yard.breaks("n001");
        yard.check_told_once("n001", yard.program + ": Permission denied");
    }
    yard.stop();
}

TEST_CASE("a program under way when restartd stops is left to end, and is not run again") {
    Yard yard;
    const auto ended = yard.folder.path / "ended", go_on = yard.folder.path / "go";
    yard.write_program("echo $$ >" + (yard.folder.path / "pid").string() + "; while ! [ -e " +
                       go_on.string() + " ]; do sleep 0.05; done; echo >" + ended.string());
    yard.start();
    yard.breaks("n001");
    REQUIRE(yard.wait_for_run("n001"));
    yard.stop(); // does not wait for it
    CHECK_FALSE(fs::exists(ended));
    yard.start();
    yard.check_serves("n004");
    // As what a program of the site may have done: it shows by itself.
    REQUIRE(test::eventually([&] {
        return yard.driver->look([](const State& state, const auto&) {
            const auto& repair = state.hosts.at("n001").repair;
            return repair && repair->stage == RepairStage::watching;
        });
    }));
    INFO(yard.story("n001"));
    CHECK(yard.runs().size() == 1);
    CHECK(yard.told("n001", "attempt 1 of") == 1);
    std::ofstream(go_on) << "\n";
    CHECK(test::eventually([&] { return fs::exists(ended); })); // it was not killed
    yard.stop();
    yard.start(); // a third life runs nothing, either
    for (int i = 0; i < 5; ++i)
        REQUIRE(yard.driver->refresh(test::patience()));
    CHECK(yard.runs().size() == 1);
    yard.stop();
}
