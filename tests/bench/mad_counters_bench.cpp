// The counters of all ports of a live fabric, read as fabricwatchd does, beside a bare loop of libibmad that
// asks one question after the other. They take turns over the same ports; tests/bench/counters_bench.py
// starts the fabric. Usage: mad_counters_bench RUNS
#include "restart/watch/fabric/mad_counters.hpp"
#include "restart/watch/fabric/seen_ends.hpp"
#include "topo/read/mad_discover.hpp"

#include <infiniband/mad.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace {

using namespace restart;
using Clock = std::chrono::steady_clock;

struct Took {
    double seconds = 0;
    std::size_t answered = 0;
};

// As perfquery does it: what each device can is asked once, too.
Took bare(const std::vector<CounterTarget>& targets) {
    std::array<int, 1> classes{IB_PERFORMANCE_CLASS};
    auto* port = mad_rpc_open_port(nullptr, 0, classes.data(), 1);
    if (port == nullptr) return {};
    const auto began = Clock::now();
    Took took;
    topo::Guid device = 0;
    constexpr unsigned timeout_ms = 100;
    for (const auto& target : targets) {
        ib_portid_t at{};
        at.lid = target.lid;
        std::array<std::uint8_t, 1024> data{};
        if (target.node != device &&
            pma_query_via(data.data(), &at, target.port, timeout_ms, CLASS_PORT_INFO, port) == nullptr)
            continue;
        device = target.node;
        const bool plain =
            pma_query_via(data.data(), &at, target.port, timeout_ms, IB_GSI_PORT_COUNTERS, port);
        const bool wide =
            pma_query_via(data.data(), &at, target.port, timeout_ms, IB_GSI_PORT_COUNTERS_EXT, port);
        if (plain && wide) ++took.answered;
    }
    took.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    mad_rpc_close_port(port);
    return took;
}

Took ours(const std::vector<CounterTarget>& targets, std::uint32_t window) {
    const auto line = MadCounters::open({});
    if (!line) {
        fmt::print(stderr, "{}\n", line.error().text);
        return {};
    }
    const auto began = Clock::now();
    const auto swept = sweep_counters(**line, targets, {.window = window});
    Took took;
    if (!swept) return took;
    took.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    took.answered =
        static_cast<std::size_t>(std::count_if(swept->readings.begin(), swept->readings.end(),
                                               [](const auto& reading) { return reading.answered; }));
    return took;
}

} // namespace

int main(int argc, char** argv) {
    const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
    const auto swept = topo::discover_live({});
    if (!swept) {
        fmt::print(stderr, "{}\n", swept.error().text);
        return 1;
    }
    const auto targets = targets_of(seen_ends(*swept), {});
    struct Row {
        std::string_view name;
        std::uint32_t window; // 0: bare
        Took best;
    };
    std::array<Row, 4> rows{{{"a bare loop of libibmad", 0, {}},
                             {"our sweep, 1 question at a time", 1, {}},
                             {"our sweep, 16", 16, {}},
                             {"our sweep, 64 (the default)", 64, {}}}};
    for (int run = 0; run < runs; ++run)
        for (auto& row : rows) {
            const auto took = row.window == 0 ? bare(targets) : ours(targets, row.window);
            if (took.answered != targets.size())
                fmt::print("{}: {} of {} ports answered\n", row.name, took.answered, targets.size());
            if (run == 0 || took.seconds < row.best.seconds) row.best = took;
        }
    fmt::print("counters of {} ports of {} devices, best of {}\n", targets.size(), swept->nodes.size(), runs);
    fmt::print("{:34}{:>9}{:>12}{:>10}\n", "", "s", "us a port", "x bare");
    for (const auto& row : rows)
        fmt::print("{:34}{:9.3f}{:12.2f}{:10.2f}\n", row.name, row.best.seconds,
                   row.best.seconds * 1e6 / static_cast<double>(std::max<std::size_t>(targets.size(), 1)),
                   row.best.seconds / rows[0].best.seconds);
    return 0;
}
