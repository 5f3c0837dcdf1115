// SIGKILL at 200 random moments of a driver's work, over a resource manager that survives it: what was taken
// is done once, and the journal's decisions can be done again.
#include "restart/daemon/driver.hpp"
#include "restart/daemon/replay.hpp"

#include "base/log.hpp"
#include "unit/folder.hpp"
#include "unit/patience.hpp"
#include "unit/trials.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

namespace {

constexpr std::size_t hosts = 12, wished_hosts = 4, most_wishes = 100'000;
constexpr std::uint32_t job_number = 7;

// What the processes share. A change that counts is one store.
struct Shared {
    struct Host {
        std::array<char, 256> reason{};
        std::atomic<bool> drain = false, fault = false;
    };
    std::array<Host, hosts> host;
    std::array<std::atomic<std::uint8_t>, most_wishes> done;  // how often the drain of a wish was carried out
    std::array<std::atomic<std::uint8_t>, most_wishes> taken; // restartd had said yes
    std::atomic<std::uint32_t> wishes = 0;
    std::atomic<std::uint64_t> job = hosts - 1; // epoch × 256 + the host it runs on
    std::atomic<std::uint32_t> faults = 0;      // of the job's hosts
    std::atomic<std::uint32_t> actions = 0;
};

std::string name_of(std::size_t host) {
    return fmt::format("n{:03}", host);
}
std::size_t host_named(const std::string& name) {
    return std::stoul(name.substr(1));
}

// Checks before it acts, as restart/rm does.
class LastingRm final : public restart::ResourceManager {
public:
    explicit LastingRm(Shared& shared) : shared_(shared) {}

    base::Expected<restart::RmSnapshot> read() override {
        restart::RmSnapshot snapshot;
        for (std::size_t i = 0; i < hosts; ++i) {
            auto& node = snapshot.nodes.emplace_back();
            node.name = name_of(i);
            node.drain = shared_.host[i].drain;
            node.state = node.drain ? "IDLE+DRAIN" : "IDLE";
            if (node.drain) node.reason = shared_.host[i].reason.data();
        }
        auto& job = snapshot.jobs.emplace_back();
        const auto word = shared_.job.load();
        job.id = base::JobId(job_number);
        job.name = "7";
        job.phase = restart::JobPhase::running;
        job.nodes = {name_of(word % 256)};
        job.node_count = 1;
        job.restarts = static_cast<std::uint32_t>(word / 256);
        job.start = base::Time(std::chrono::seconds(1'700'000'000 + job.restarts));
        job.requeue = true;
        job.restart = true;
        snapshot.config.emplace();
        snapshot.config->takes_flags = snapshot.config->chooses_nodes = true;
        return snapshot;
    }

    restart::Life ask_host(const std::string&, base::Duration) override { return restart::Life::unknown; }

    base::Expected<void> perform(const restart::Action& action) override {
        ++shared_.actions;
        if (const auto* drain = restart::as<restart::DrainHost>(action)) {
            auto& host = shared_.host[host_named(drain->host)];
            if (host.drain && drain->reason == host.reason.data()) return {};
            std::strncpy(host.reason.data(), drain->reason.c_str(), host.reason.size() - 1);
            const auto wish = drain->reason.find(": wish ");
            host.drain = true;
            if (wish != std::string::npos) ++shared_.done[std::stoul(drain->reason.substr(wish + 7))];
        } else if (const auto* resume = restart::as<restart::ResumeHost>(action)) {
            shared_.host[host_named(resume->host)].drain = false;
        } else if (const auto* requeue = restart::as<restart::RequeueJob>(action)) {
            const auto word = shared_.job.load();
            if (word / 256 != requeue->job.epoch) return {}; // it began a later start
            for (std::size_t i = wished_hosts; i < hosts; ++i)
                if (i != word % 256 && !shared_.host[i].drain && !shared_.host[i].fault) {
                    shared_.job = (word / 256 + 1) * 256 + i;
                    return {};
                }
            return base::Error{base::Code::unavailable, "no host is free"};
        }
        return {};
    }
    base::Expected<restart::RmQueue> queue() override { return restart::RmQueue(); }
    base::Expected<void> write_why(base::JobId, const std::string&) override { return {}; }
    base::Expected<restart::RmUser> user(const std::string&) override { return restart::RmUser(); }
    restart::RmWords words() const override { return {}; }
    std::optional<std::uint32_t> owner() override { return 0; }

private:
    Shared& shared_;
};

// What agents and an operator do until the process is killed, or until all has been quiet for a while.
class Life {
public:
    Life(const std::filesystem::path& journal, Shared& shared, unsigned seed)
        : shared_(shared), rm_(shared), random_(seed) {
        base::log::open("unit_daemon", base::log::Level::error);
        restart::DriverOptions options;
        options.policy.observe_only = false;
        options.policy.max_drained_percent = 100;
        options.policy.retry_most = 50ms;
        options.poll = 5ms;
        options.tick = 5ms;
        options.save = 20ms;
        options.keep_events = 64 << 20;
        auto opened = restart::Journal::open(journal);
        if (!opened) fail(opened.error());
        auto made = restart::Driver::make(*std::move(opened), rm_, metrics_, options);
        if (!made) fail(made.error());
        driver_ = *std::move(made);
        if (const auto word = shared_.job.load(); word / 256 != shared_.faults)
            shared_.host[word % 256].fault = true; // killed between counting it and making it
        driver_->start();
    }

    [[noreturn]] void until_killed() {
        for (;;) {
            agents();
            faults();
            operators();
            std::this_thread::sleep_for(1ms);
        }
    }

    // Nothing new: what was begun comes to its end.
    [[noreturn]] void to_the_end() {
        const auto end = std::chrono::steady_clock::now() + 2 * test::patience();
        for (int quiet = 0; quiet < 50;) {
            if (std::chrono::steady_clock::now() > end) {
                tell();
                ::_exit(3);
            }
            agents();
            const bool moved = shared_.job / 256 == shared_.faults;
            const bool idle = driver_->look([](const restart::State& state, const auto&) {
                for (const auto& [number, incident] : state.incidents)
                    for (const auto& intent : incident.intents)
                        if (!intent.settled()) return false;
                return state.rm_read.has_value();
            });
            quiet = moved && idle ? quiet + 1 : 0;
            std::this_thread::sleep_for(5ms);
        }
        ::_exit(driver_->stop(test::patience()) ? 0 : 1);
    }

private:
    // What has not come to its end.
    void tell() {
        driver_->look([this](const restart::State& state, const auto&) {
            fmt::print(stderr, "{} faults, the job was moved {} times; resource manager {}\n",
                       shared_.faults.load(), shared_.job / 256, state.rm_read ? "read" : "not read");
            for (const auto& [name, host] : state.hosts)
                fmt::print(stderr, "{}: fault {}, findings {}, overruled {}\n", name,
                           shared_.host[host_named(name)].fault.load(), host.findings.size(),
                           fmt::join(host.overruled, " "));
            for (const auto& [number, incident] : state.incidents) {
                fmt::print(stderr, "{} {} {}\n", incident.id(), incident.host, to_string(incident.phase));
                for (const auto& kept : incident.withheld)
                    fmt::print(stderr, "  withheld: {} ({}): {}\n", kept.what, kept.key, kept.why);
                for (const auto& affected : incident.jobs)
                    fmt::print(stderr, "  job {} from {}: {}\n", affected.shown(), affected.epoch,
                               affected.left);
                for (const auto& intent : incident.intents)
                    fmt::print(stderr, "  {}: {}\n", describe(intent.action),
                               static_cast<int>(intent.progress));
            }
            return true;
        });
    }

    [[noreturn]] static void fail(const base::Error& error) {
        fmt::print(stderr, "{}\n", error.text);
        ::_exit(2);
    }

    void agents() {
        for (std::size_t i = 0; i < hosts; ++i) {
            restart::Report report;
            report.host = name_of(i);
            report.boot_id = "boot";
            if (shared_.host[i].fault)
                report.findings.push_back(
                    {"gpu.lost", "gpu0", restart::Severity::fatal, base::Time(1s), "gone"});
            (void)driver_->report(report);
        }
    }

    // Of the job's host, once it runs; it is mended as soon as the job has left it.
    void faults() {
        const auto word = shared_.job.load();
        for (std::size_t i = wished_hosts; i < hosts; ++i)
            if (i != word % 256) shared_.host[i].fault = false;
        if (word / 256 != shared_.faults || random_() % 4 != 0) return;
        const bool seen = driver_->look([&](const restart::State& state, const auto&) {
            const auto job = state.jobs.find(base::JobId(job_number));
            return job != state.jobs.end() && job->second.rm.restarts == word / 256;
        });
        if (!seen || shared_.host[word % 256].drain) return;
        ++shared_.faults;
        shared_.host[word % 256].fault = true;
    }

    void operators() {
        const auto number = shared_.wishes.load();
        if (number + 1 >= most_wishes) return;
        const auto host = random_() % wished_hosts;
        if (shared_.host[host].drain) {
            (void)driver_->resume(name_of(host), "alice");
        } else {
            ++shared_.wishes;
            if (driver_->drain(name_of(host), fmt::format("wish {}", number), "alice"))
                shared_.taken[number] = 1;
        }
        for (std::size_t i = wished_hosts; i < hosts; ++i)
            if (shared_.host[i].drain && !shared_.host[i].fault && i != shared_.job % 256 && seems_sound(i))
                (void)driver_->resume(name_of(i), "alice");
    }

    // Whoever resumes a host before restartd has heard that its fault is over has overruled that fault, and
    // the next of its name too where the daemon dies before it has written that the first one ended.
    bool seems_sound(std::size_t host) {
        return driver_->look([&](const restart::State& state, const auto&) {
            const auto found = state.hosts.find(name_of(host));
            return found != state.hosts.end() && found->second.findings.empty();
        });
    }

    Shared& shared_;
    LastingRm rm_;
    restart::Metrics metrics_;
    std::mt19937 random_;
    std::unique_ptr<restart::Driver> driver_;
};

} // namespace

TEST_CASE("a daemon that is killed at 200 random moments does each action once, and its journal replays") {
    const test::Folder folder;
    const auto journal = folder.path / "journal.db";
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto& shared = *new (memory) Shared;
    std::mt19937 random(1);
    const int kills = test::trials(200);
    for (int life = 0; life <= kills; ++life) {
        const auto child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            Life lived(journal, shared, static_cast<unsigned>(life));
            if (life == kills) lived.to_the_end();
            lived.until_killed();
        }
        int status = 0;
        if (life < kills) {
            // Later on a slow machine, so that as much has happened by then.
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 120'000) *
                                        (test::patience() / 1min));
            ::kill(child, SIGKILL);
            REQUIRE(::waitpid(child, &status, 0) == child);
            REQUIRE(WIFSIGNALED(status)); // it had not ended by itself
        } else {
            REQUIRE(::waitpid(child, &status, 0) == child);
            REQUIRE(WIFEXITED(status));
            REQUIRE(WEXITSTATUS(status) == 0);
        }
    }
    std::uint32_t taken = 0, done = 0;
    for (std::uint32_t i = 0; i < shared.wishes; ++i) {
        INFO("wish " << i);
        if (shared.taken[i] != 0) CHECK(shared.done[i] == 1);
        CHECK(shared.done[i] <= 1);
        taken += shared.taken[i];
        done += shared.done[i];
    }
    CHECK(taken > 0);
    CHECK(shared.faults > 0);
    CHECK(shared.job / 256 == shared.faults); // each fault moved the job once
    auto opened = restart::Journal::open(journal);
    REQUIRE(opened);
    const auto intents = opened->intents("", {}, 100'000);
    REQUIRE(intents);
    for (const auto& intent : *intents)
        CHECK(intent.state != "pending");
    const auto replayed = restart::replay(journal, [](const auto&) {});
    INFO((replayed ? replayed->difference.value_or("") : replayed.error().text));
    REQUIRE(replayed);
    CHECK_FALSE(replayed->difference);
    CHECK(replayed->outcomes > 0);
    WARN(fmt::format(
        "{} kills: {} drains and {} requeues, each done once, in {} calls; {} events replayed, {} with an "
        "outcome",
        kills, done, shared.faults.load(), shared.actions.load(), replayed->events, replayed->outcomes));
    ::munmap(memory, sizeof(Shared));
}
