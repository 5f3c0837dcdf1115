// railplan bench: how long a decision takes on a given fabric, in random states.
#include "base/table.hpp"
#include "sched/place.hpp"
#include "sched/tool/command.hpp"
#include "sched/tool/scene.hpp"
#include "topo/fabric_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>

namespace sched::tool {

namespace {

using base::Expected;

struct BenchOptions {
    std::string fabric;
    std::uint64_t seed = 1;
    std::size_t rounds = 1000;
    bool json = false;
};

struct Row {
    int busy = 0; // percent
    std::vector<double> micros;
    std::size_t refused = 0;

    double quantile(double q) const {
        return micros[static_cast<std::size_t>(q * static_cast<double>(micros.size() - 1) + 0.5)];
    }
};

// Each host is busy with the same probability; a job has 1 to all free hosts, small ones as likely as large
// ones.
Row measure(const Placer& placer, std::size_t hosts, int busy, std::size_t rounds, std::mt19937_64& random) {
    using Clock = std::chrono::steady_clock;
    Row row;
    row.busy = busy;
    Snapshot snapshot;
    for (std::size_t i = 0; i < rounds + rounds / 10; ++i) { // the first tenth warms up
        snapshot.states.assign(hosts, HostState::free);
        std::size_t free = hosts;
        for (auto& state : snapshot.states)
            if (random() % 100 < static_cast<std::uint64_t>(busy)) {
                state = HostState::busy;
                --free;
            }
        Request request;
        const double share = static_cast<double>(random() >> 11) * 0x1p-53;
        request.nodes =
            static_cast<std::uint32_t>(std::pow(static_cast<double>(std::max<std::size_t>(free, 1)), share));
        const auto start = Clock::now();
        const auto placement = placer.place(snapshot, request);
        const auto end = Clock::now();
        if (i < rounds / 10) continue;
        row.micros.push_back(std::chrono::duration<double, std::micro>(end - start).count());
        if (!placement) ++row.refused;
    }
    std::sort(row.micros.begin(), row.micros.end());
    return row;
}

Expected<int> run_bench(const BenchOptions& options) {
    const auto fabric = topo::read_fabric(options.fabric);
    if (!fabric) return fabric.error();
    if (fabric->hosts.empty())
        return base::Error{base::Code::input, fmt::format("{}: has no hosts", options.fabric)};
    const Placer placer(*fabric);
    std::mt19937_64 random(options.seed);
    base::Table table({"BUSY", "P50 us", "P99 us", "MAX us", "REFUSED"});
    for (std::size_t column = 0; column < 5; ++column)
        table.align(column, base::Table::Align::right);
    boost::json::array rows;
    for (const int busy : {0, 30, 50, 70, 90}) {
        const auto row = measure(placer, fabric->hosts.size(), busy, options.rounds, random);
        table.add({fmt::format("{}%", row.busy), fmt::format("{:.1f}", row.quantile(0.5)),
                   fmt::format("{:.1f}", row.quantile(0.99)), fmt::format("{:.1f}", row.quantile(1)),
                   fmt::to_string(row.refused)});
        rows.push_back({{"busy_percent", row.busy},
                        {"p50_us", row.quantile(0.5)},
                        {"p99_us", row.quantile(0.99)},
                        {"max_us", row.quantile(1)},
                        {"refused", row.refused}});
    }
    if (options.json)
        fmt::print("{}\n", base::to_text(boost::json::object{{"hosts", fabric->hosts.size()},
                                                             {"units", placer.index().units.size()},
                                                             {"pods", placer.index().pods.size()},
                                                             {"rounds", options.rounds},
                                                             {"seed", options.seed},
                                                             {"rows", std::move(rows)}}));
    else
        fmt::print("{} hosts in {} units and {} pods, {} decisions a row, seed {}\n{}", fabric->hosts.size(),
                   placer.index().units.size(), placer.index().pods.size(), options.rounds, options.seed,
                   table.print());
    return base::exit_done;
}

} // namespace

Command add_bench(base::Words& parent) {
    auto options = std::make_shared<BenchOptions>();
    auto* words = parent.add_subcommand("bench", "Time decisions on a fabric in random states");
    words->add_option("--fabric", options->fabric, "Fabric file (fabric.json), - for standard input")
        ->required();
    words->add_option("--rounds", options->rounds, "Decisions a row")
        ->capture_default_str()
        ->range(std::size_t{1}, std::size_t{10'000'000});
    words->add_option("--seed", options->seed, "Of the states and sizes")->capture_default_str();
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_bench(*options); }};
}

} // namespace sched::tool
