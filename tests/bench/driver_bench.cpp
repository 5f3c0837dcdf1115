// How many reports restartd's driver takes, and how long one waits, without HTTP and MUNGE: with the journal on a disk
// and a double of the resource manager. Quiet: 1 % of the reports change a finding. Storm: each begins or ends a
// warning. Meanwhile readers ask for the history of many notes.
#include "base/cli.hpp"
#include "base/log.hpp"
#include "restart/daemon/driver.hpp"
#include "unit/folder.hpp"
#include "unit/restart/daemon/rm_double.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <random>

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> names(std::size_t hosts) {
    std::vector<std::string> list;
    for (std::size_t i = 1; i <= hosts; ++i)
        list.push_back(fmt::format("n{:05}", i));
    return list;
}

restart::Report report(const std::string& host, bool warns) {
    restart::Report made;
    made.host = host;
    made.boot_id = "b";
    if (warns)
        made.findings.push_back({"ib.counter.symbol_error", "mlx5_0:1", restart::Severity::warn, base::now(),
                                 "12 more in the last minute"});
    return made;
}

struct Yard {
    test::Folder folder;
    std::vector<std::string> hosts;
    test::RmDouble rm;
    restart::Metrics metrics;
    std::unique_ptr<restart::Driver> driver;

    Yard(std::size_t count, std::size_t jobs) : hosts(names(count)), rm(hosts) {
        rm.change([&](restart::RmSnapshot& world) {
            for (std::size_t j = 0; j < jobs; ++j) {
                restart::RmJob job;
                job.id = static_cast<std::uint32_t>(j + 1);
                job.name = std::to_string(job.id);
                job.phase = restart::JobPhase::running;
                job.nodes = {hosts[j % hosts.size()]};
                job.node_count = 1;
                job.restart = true;
                job.requeue = true;
                world.jobs.push_back(std::move(job));
            }
        });
        restart::DriverOptions options;
        options.policy.observe_only = false;
        driver =
            *restart::Driver::make(*restart::Journal::open(folder.path / "journal.db"), rm, metrics, options);
        driver->start();
        while (!driver->report(report(hosts.front(), false)))
            std::this_thread::sleep_for(10ms);
    }
};

struct Measured {
    double rate = 0; // reports a second
    double p50 = 0, p99 = 0, most = 0; // seconds a report waits
};

// Reports for so long, of hosts in turn; each of `changing` in a hundred begins or ends a warning.
Measured measure(Yard& yard, double seconds, unsigned changing, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<bool> warns(yard.hosts.size());
    std::vector<double> waits;
    const auto begin = Clock::now();
    for (std::size_t i = 0; since(begin) < seconds; i = (i + 1) % yard.hosts.size()) {
        if (random() % 100 < changing) warns[i] = !warns[i];
        const auto made = report(yard.hosts[i], warns[i]);
        const auto start = Clock::now();
        if (!yard.driver->report(made)) std::abort();
        waits.push_back(since(start));
    }
    const auto took = since(begin);
    std::sort(waits.begin(), waits.end());
    return {static_cast<double>(waits.size()) / took, waits[waits.size() / 2], waits[waits.size() * 99 / 100],
            waits.back()};
}

void print(const std::string& what, const Measured& measured) {
    fmt::print("{:44} {:9.0f} /s   p50 {:7.3f}  p99 {:8.3f}  most {:8.1f} ms\n", what, measured.rate,
               measured.p50 * 1e3, measured.p99 * 1e3, measured.most * 1e3);
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("driver_bench", "How many reports restartd's driver takes.", "HACKING");
    std::uint32_t seconds = 5;
    std::uint32_t seed = 1;
    std::vector<std::size_t> sizes{4096, 16384};
    cli->add_option("--seconds", seconds, "Of each row");
    cli->add_option("--seed", seed, "Of what changes");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    base::log::open("driver_bench", base::log::Level::error);
    fmt::print("reports taken by one thread; seed {}; wanted: 4,096 hosts every 5 s (819 /s) with p99 < 100 ms, storm "
               "4,096 /s\n",
               seed);
    for (const auto hosts : sizes)
        for (const std::size_t jobs : {500U, 5000U}) {
            Yard yard(hosts, jobs);
            const auto name = [&](const char* what) {
                return fmt::format("{:6} hosts {:5} jobs  {}", hosts, jobs, what);
            };
            print(name("quiet"), measure(yard, seconds, 1, seed));
            print(name("storm"), measure(yard, seconds, 100, seed));
            std::atomic<bool> stop = false;
            std::vector<std::jthread> readers;
            for (int i = 0; i < 16; ++i)
                readers.emplace_back([&] {
                    while (!stop)
                        if (!yard.driver->notes({.host = yard.hosts.front()})) return;
                });
            print(name("storm, 16 readers"), measure(yard, seconds, 100, seed));
            stop = true;
        }
    return 0;
}
