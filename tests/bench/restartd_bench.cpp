// restartd under thousands of agents: real HTTP on kept-open connections and a real munged, beside a double
// of the resource manager. The agents' end runs in this process and restartd in a child, on the same cores.
// Beside it the limit: the same HTTP server answering 204.
#include "bench/restartd_agents.hpp"
#include "bench/restartd_yard.hpp"

#include "base/cli.hpp"
#include "base/log.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace std::chrono_literals;

void raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

void row(const std::string& what, bench::Waits waits, double seconds, double cpu,
         const std::string& more = {}) {
    const auto sorted = waits.sorted();
    fmt::print("  {:42} {:8.0f} /s   p50 {:8.2f}  p99 {:8.2f}  most {:8.1f} ms   {:4.2f} cores{}\n", what,
               static_cast<double>(sorted.size()) / seconds, sorted.at(0.5) * 1e3, sorted.at(0.99) * 1e3,
               sorted.at(1) * 1e3, cpu, more);
    std::fflush(stdout);
}

struct Plan {
    std::size_t hosts, jobs, notes;
    std::uint32_t seconds, seed;
};

// Reports that arrive evenly; those of `changing` in a hundred begin or end a warning.
void steady(const std::string& what, bench::Agents& agents, const bench::Yard& yard, double rate,
            unsigned changing, const Plan& plan, const std::string& more = {}) {
    const auto before = yard.cpu();
    const auto waits = agents.evenly(rate, changing, plan.seconds);
    row(what, waits, plan.seconds, (yard.cpu() - before) / plan.seconds, more);
}

void measure(const Plan& plan, bool limit) {
    bench::Yard yard({plan.hosts, limit ? 0 : plan.jobs, limit ? 0 : plan.notes, limit});
    const auto bare = yard.memory();
    bench::Agents agents({yard.port(), limit ? std::string() : yard.munge_socket(), plan.hosts, plan.seed});
    fmt::print("{} hosts, {}\n", plan.hosts,
               limit ? "the limit: 204 to everything"
                     : fmt::format("{} jobs, {} notes", plan.jobs, plan.notes));
    const auto cpu = yard.cpu();
    const auto munged = yard.munged_cpu();
    const auto took = agents.connect();
    fmt::print("  {:42} {:8.0f} /s   all in {:.2f} s   {:4.2f} cores{}   {:.1f} kB a host\n",
               "all connect and report at once", static_cast<double>(plan.hosts) / took, took,
               (yard.cpu() - cpu) / took,
               limit ? "" : fmt::format(", munged {:4.2f}", (yard.munged_cpu() - munged) / took),
               static_cast<double>(yard.memory() - bare) / static_cast<double>(plan.hosts) / 1e3);
    steady("each every 5 s, 1 % change", agents, yard, static_cast<double>(plan.hosts) / 5, 1, plan);
    steady("4,096 /s, all change", agents, yard, 4096, 100, plan);
    {
        const auto before = yard.cpu();
        const auto waits = agents.flood(64, plan.seconds);
        row("64 at a time, all change", waits, plan.seconds, (yard.cpu() - before) / plan.seconds);
    }
    if (limit) return;
    const bench::Readers readers(yard.port(), 16, plan.hosts);
    steady("each every 5 s, 16 readers of explain", agents, yard, static_cast<double>(plan.hosts) / 5, 1,
           plan, "   (the readers take the rest)");
    steady("4,096 /s, all change, 16 readers", agents, yard, 4096, 100, plan);
    fmt::print("  {:42} {:8.0f} /s\n", "explanations meanwhile", readers.rate());
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("restartd_bench", "restartd under thousands of agents.", "HACKING");
    Plan plan{0, 5000, 1'000'000, 10, 1};
    std::vector<std::string> sizes{"4096", "16384"};
    cli->add_option("--seconds", plan.seconds, "Of each row");
    cli->add_option("--seed", plan.seed, "Of what changes");
    cli->add_option("--hosts", sizes, "Numbers of hosts");
    cli->add_option("--notes", plan.notes, "In the journal");
    bool serve = false;
    cli->add_flag("--serve", serve,
                  "One host, n00001: print port and munge socket, serve until the input ends");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    base::log::open("restartd_bench", base::log::Level::error);
    std::signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    if (serve) { // for agent_bench.py
        const bench::Yard yard({1, 0, 0, false});
        fmt::print("{} {}\n", yard.port(), yard.munge_socket());
        std::fflush(stdout);
        while (std::getchar() != EOF) {}
        return 0;
    }
    fmt::print(
        "seed {}; wanted: each every 5 s with p99 < 100 ms, < 10 kB a host and < 1 core; 4,096 /s when all "
        "change.\nA wait counts from when the report was due until its answer is checked. The agents' end "
        "shares "
        "the cores.\n",
        plan.seed);
    for (const auto& size : sizes)
        for (const bool limit : {true, false}) {
            plan.hosts = std::strtoul(size.c_str(), nullptr, 10);
            measure(plan, limit);
        }
    return 0;
}
