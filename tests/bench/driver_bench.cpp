// How many reports restartd's driver takes, and how long one waits, without HTTP and MUNGE: with the journal
// on a disk and a double of the resource manager. Quiet: 1 % of the reports change a finding. Storm: each
// begins or ends a warning. Meanwhile readers ask for the history of many notes. Then what a report costs at
// 4,096 of them a second: processor time of all threads, bytes of events that the journal keeps and bytes
// written to its files, with the events recorded for a replay and without.
#include "base/cli.hpp"
#include "base/log.hpp"
#include "restart/daemon/driver.hpp"
#include "unit/folder.hpp"
#include "unit/restart/daemon/rm_double.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <random>
#include <sys/resource.h>

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

    Yard(std::size_t count, std::size_t jobs, std::uint64_t keep_events = 0)
        : hosts(names(count)), rm(hosts) {
        rm.change([&](restart::RmSnapshot& world) {
            for (std::size_t j = 0; j < jobs; ++j) {
                restart::RmJob job;
                job.id = base::JobId(j + 1);
                job.name = to_string(job.id);
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
        options.keep_events = keep_events;
        driver =
            *restart::Driver::make(*restart::Journal::open(folder.path / "journal.db"), rm, metrics, options);
        driver->start();
        while (!driver->report(report(hosts.front(), false)))
            std::this_thread::sleep_for(10ms);
    }
};

struct Measured {
    double rate = 0;                   // reports a second
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

constexpr double cost_rate = 4096; // reports a second

struct Used {
    double cpu = 0;     // seconds, of all threads
    double written = 0; // bytes, to any file
};

Used used() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    Used now{seconds(usage.ru_utime) + seconds(usage.ru_stime), 0};
    std::ifstream io("/proc/self/io");
    for (std::string key; io >> key;)
        if (double value = 0; key == "wchar:" && io >> value) now.written = value;
    return now;
}

// Of events and the states they begin with.
double bytes_kept(const Yard& yard) {
    auto database =
        restart::Database::open(yard.folder.path / "journal.db", restart::Database::Open::reading);
    if (!database) std::abort();
    double bytes = 0;
    for (const char* sql : {"SELECT ifnull(sum(length(bytes)), 0) FROM events",
                            "SELECT ifnull(sum(length(state)), 0) FROM segments"})
        bytes += std::stod(*database->value(sql));
    return bytes;
}

struct Cost {
    double cpu = 0, kept = 0, written = 0; // seconds and bytes a report; what goes on besides is shared out
};

// At the set rate: what all of the daemon uses, its readings of the resource manager and its ticks with it.
Cost cost(Yard& yard, double seconds, unsigned changing, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<bool> warns(yard.hosts.size());
    const auto turn = [&](std::size_t i) {
        if (random() % 100 < changing) warns[i] = !warns[i];
        if (!yard.driver->report(report(yard.hosts[i], warns[i]))) std::abort();
    };
    for (std::size_t i = 0; i < yard.hosts.size(); ++i) // the first of each says more
        turn(i);
    std::this_thread::sleep_for(1s); // and is written
    const auto before = used();
    const auto kept = bytes_kept(yard);
    const auto begin = Clock::now();
    const auto count = static_cast<std::size_t>(cost_rate * seconds);
    for (std::size_t i = 0; i < count; ++i) {
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(static_cast<double>(i / 64 * 64) / cost_rate)));
        turn(i % yard.hosts.size());
    }
    if (!yard.driver->stop(30s)) std::abort(); // writes the rest
    const auto after = used();
    const auto reports = static_cast<double>(count);
    return {(after.cpu - before.cpu) / reports, (bytes_kept(yard) - kept) / reports,
            (after.written - before.written) / reports};
}

void print_costs(std::size_t hosts, std::size_t jobs, double seconds, unsigned seed) {
    fmt::print("\ncost of a report at {:.0f} a second, {} hosts, {} jobs, {:.0f} s a row; seed {}\n"
               "{:24} {:>9} {:>10} {:>10} {:>12} {:>10}\n",
               cost_rate, hosts, jobs, seconds, seed, "", "CPU us", "of a core", "kept B", "written B",
               "CPU ratio");
    for (const auto& [name, changing] : {std::pair("quiet", 1U), std::pair("storm", 100U)}) {
        double without = 0;
        for (const std::uint64_t keep : {std::uint64_t{0}, std::uint64_t{128} << 20}) {
            Yard yard(hosts, jobs, keep);
            const auto measured = cost(yard, seconds, changing, seed);
            if (keep == 0) without = measured.cpu;
            fmt::print("{:24} {:9.1f} {:9.1f}% {:10.1f} {:12.0f} {:9.2f}x\n",
                       fmt::format("{}, {}", name, keep == 0 ? "not recorded" : "recorded"),
                       measured.cpu * 1e6, measured.cpu * cost_rate * 100, measured.kept, measured.written,
                       measured.cpu / without);
        }
    }
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
    bool only_costs = false;
    cli->add_flag("--costs", only_costs, "Only what a report costs");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    base::log::open("driver_bench", base::log::Level::error);
    if (only_costs) {
        print_costs(4096, 500, seconds, seed);
        return 0;
    }
    fmt::print("reports taken by one thread; seed {}; wanted: 4,096 hosts every 5 s (819 /s) with p99 < 100 "
               "ms, storm "
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
    print_costs(4096, 500, seconds, seed);
    return 0;
}
