// B1: how long one placement takes, from 128 to 16,384 hosts, on an empty and on a half busy fabric, beside
// a bare scan of bit masks (free hosts counted by unit, the tightest unit kept), which no placement can beat.
// Two rows a size have NVLink domains, two of them in each unit; of other rows some hosts are irregular, or
// the jobs ask for segments and spares, or start again where they were. What Slurm takes for a gang stands in
// the table of quality_bench.py.
//
// Then the dearest requests that a user can make: what one costs slurmctld, in time and in steps of its
// budget.
//
// And jobs of one host ([placement] pack = "all"): the direct way to it beside the whole search.
//
// Sizes of jobs are drawn log-uniformly from 1 to the free hosts, so that units, pods and the fabric are all
// asked for. Each decision has its own state, made before the clock runs. A decision during which the kernel
// gave the CPU to another process is taken again.
#include "../unit/sched/dear.hpp"
#include "base/cli.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "sched/one_host.hpp"
#include "sched/place.hpp"
#include "topo/synth/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <random>

#include <sys/resource.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int hosts_a_unit = 32;
constexpr int units_a_pod = 4;

double micros(Clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
}

// Times this thread lost the CPU against its will.
long preemptions() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Case {
    sched::Snapshot snapshot;
    std::vector<std::uint32_t> masks; // free hosts of a unit, a bit each
    sched::Request request;
};

enum class Ask { nodes, spares, former };

struct Maker {
    const topo::Fabric& fabric;
    std::mt19937_64& random;
    double busy;
    bool impaired; // one host in fifty has a health below 1
    Ask ask = Ask::nodes;
    const sched::Placer* placer = nullptr; // for Ask::former

    // Segments of 2, 4 or 8 and up to an eighth as spares.
    void ask_for_spares(sched::Request& request) const {
        request.segment = 2U << random() % 3;
        request.spares = 1 + static_cast<std::uint32_t>(random() % std::max(request.nodes / 8, 1U));
        request.nodes =
            std::max(request.nodes * 3 / 4 / request.segment, 1U) * request.segment + request.spares;
    }

    // It ran on the best hosts, one in 32 of which is lost.
    void ask_for_former(Case& c) const {
        const auto placement = placer->place(c.snapshot, c.request);
        if (!placement) return;
        c.request.had = placement->hosts;
        for (auto lost = (c.request.had.size() + 31) / 32; lost > 0; --lost)
            c.snapshot.states[c.request.had[random() % c.request.had.size()]] = sched::HostState::down;
    }

    Case operator()() const {
        Case c;
        c.snapshot.states.resize(fabric.hosts.size(), sched::HostState::free);
        c.masks.resize(fabric.units.size(), 0);
        std::uint32_t free = 0;
        for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
            const bool is_busy = std::uniform_real_distribution<>(0, 1)(random) < busy;
            if (is_busy) c.snapshot.states[h] = sched::HostState::busy;
            if (!is_busy) c.masks[h / hosts_a_unit] |= 1U << h % hosts_a_unit;
            free += is_busy ? 0 : 1;
        }
        if (impaired) {
            c.snapshot.health.assign(fabric.hosts.size(), 1);
            for (auto& health : c.snapshot.health)
                if (random() % 50 == 0) health = static_cast<float>(random() % 100) / 100;
            free = free * 9 / 10;
        }
        const double most = std::log(std::max(free, 1U));
        c.request.nodes =
            static_cast<std::uint32_t>(std::exp(std::uniform_real_distribution<>(0, most)(random)));
        if (ask == Ask::spares) ask_for_spares(c.request);
        if (ask == Ask::former) ask_for_former(c);
        return c;
    }
};

// The limit: the tightest unit by counting bits, or the number of free hosts.
std::uint32_t bare_scan(const Case& c) {
    std::uint32_t best = ~0U, total = 0;
    for (const auto mask : c.masks) {
        const auto free = static_cast<std::uint32_t>(std::popcount(mask));
        total += free;
        if (free >= c.request.nodes) best = std::min(best, free);
    }
    return best == ~0U ? total : best;
}

struct Result {
    std::size_t hosts = 0;
    std::string state;
    std::vector<double> ours, by_tier[3], bare;
    std::size_t refused = 0, unproven = 0;
};

Result measure(const sched::Placer& placer, const Maker& maker, std::string state, std::size_t rounds) {
    Result result;
    result.hosts = maker.fabric.hosts.size();
    result.state = std::move(state);
    std::uint32_t sink = 0;
    for (std::size_t i = 0; i < rounds + rounds / 10; ++i) { // the first tenth warms up
        const auto c = maker();
        const auto before = preemptions();
        const auto start = Clock::now();
        const auto placement = placer.place(c.snapshot, c.request);
        const auto middle = Clock::now();
        sink += bare_scan(c);
        const auto end = Clock::now();
        if (preemptions() != before) {
            --i;
            continue;
        }
        if (i < rounds / 10) continue;
        const double took = micros(middle - start);
        result.ours.push_back(took);
        result.bare.push_back(micros(end - middle));
        if (placement)
            result.by_tier[std::min(placement->score.tier, 2U)].push_back(took);
        else
            ++result.refused;
        result.unproven += placement && !placement->exact ? 1 : 0;
    }
    volatile auto keep = sink; // the scan must not be optimised away
    static_cast<void>(keep);
    return result;
}

enum class Kind { sound, flawed, exchanged, racks };

struct Row {
    const char* name;
    double busy;
    bool impaired;
    Kind kind;
    Ask ask = Ask::nodes;
};

std::string cell(const std::vector<double>& values, double q) {
    return values.empty() ? "-" : fmt::format("{:.2f}", quantile(values, q));
}

// Seeds of sched_test::dear() whose searches go on longest on 4,096 hosts when nothing ends them (--search).
constexpr std::uint64_t worst_seeds[] = {3, 62, 48, 129, 259};

// A dear request: a range of sizes in odd segments beside a spare; segments, many spares and required hosts
// in different pods; long lists of required and excluded hosts; or one of a random family.
sched_test::Dear dear_one(std::mt19937_64& random, const topo::Fabric& fabric, std::size_t kind) {
    const auto hosts = static_cast<std::uint32_t>(fabric.hosts.size());
    if (kind == 3) return sched_test::dear(random, fabric);
    if (kind == 4) {
        std::mt19937_64 worst(worst_seeds[random() % std::size(worst_seeds)]);
        return sched_test::dear(worst, fabric);
    }
    sched_test::Dear out{sched::Snapshot::all_free(fabric), {}};
    auto& request = out.request;
    if (kind == 0) {
        request.nodes = 4;
        request.most = hosts;
        request.segment = 3;
        request.spares = 1;
    } else if (kind == 1) {
        request.nodes = 168;
        request.segment = 2;
        request.spares = 48;
        for (std::uint32_t h = 0; h < 8; ++h)
            request.required.push_back(h * hosts / 8);
    } else {
        request.nodes = hosts / 2 + 2;
        request.most = hosts;
        request.segment = 5;
        request.spares = hosts / 4;
        for (std::uint32_t h = 0; h < hosts; h += 3)
            request.required.push_back(h);
        for (std::uint32_t h = 1; h < hosts; h += 9)
            request.excluded.push_back(h);
    }
    return out;
}

constexpr const char* dear_names[] = {"-N4-N segment 3 spares 1", "-N168 segment 2 spares 48 -w 8 hosts",
                                      "-w a third, -x a ninth of all", "random, 1% lack a rail",
                                      "worst found by --search"};

void add_dear(base::Table& table, boost::json::array& rows, const topo::Fabric& fabric,
              const sched::Placer& placer, std::mt19937_64& random, std::size_t rounds) {
    for (std::size_t kind = 0; kind < std::size(dear_names); ++kind) {
        std::vector<double> took;
        std::uint64_t most_spent = 0;
        std::size_t cut = 0, placed = 0; // of those that nothing disturbed
        for (std::size_t i = 0; i < 20 * rounds && took.size() < rounds; ++i) {
            const auto c = dear_one(random, fabric, kind);
            auto budget = placer.budget();
            const auto before = preemptions();
            const auto start = Clock::now();
            const auto placement = placer.place(c.snapshot, c.request, budget);
            const auto end = Clock::now();
            if (preemptions() != before) continue;
            took.push_back(micros(end - start) / 1000);
            most_spent = std::max(most_spent, budget.spent());
            placed += placement ? 1 : 0;
            cut += placement && !placement->exact ? 1 : 0;
        }
        if (took.empty()) continue;
        table.add({std::to_string(fabric.hosts.size()), dear_names[kind], cell(took, 0.5), cell(took, 0.99),
                   cell(took, 1), fmt::format("{:.2f}", static_cast<double>(most_spent) / 1e6),
                   fmt::format("{:.2f}", static_cast<double>(placer.budget().left()) / 1e6),
                   std::to_string(placed), std::to_string(cut)});
        rows.push_back({{"hosts", fabric.hosts.size()},
                        {"request", dear_names[kind]},
                        {"p50_ms", quantile(took, 0.5)},
                        {"p99_ms", quantile(took, 0.99)},
                        {"max_ms", quantile(took, 1)},
                        {"spent", most_spent},
                        {"placed", placed},
                        {"cut", cut}});
    }
}

// Jobs of one host: whole ones, and such that share hosts, of which a third have jobs and room.
void add_one(base::Table& table, boost::json::array& rows, const Maker& maker, const sched::Placer& placer,
             bool shared, std::size_t rounds) {
    std::vector<double> direct, searched;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        auto c = maker();
        c.request.nodes = 1;
        c.request.shared = shared;
        for (auto& state : c.snapshot.states)
            if (shared && state == sched::HostState::free && maker.random() % 3 == 0)
                state = sched::HostState::mixed;
        const auto before = preemptions();
        const auto start = Clock::now();
        const auto one = sched::best_host(placer.index(), c.snapshot, c.request);
        const auto middle = Clock::now();
        const auto placement = placer.place(c.snapshot, c.request);
        const auto end = Clock::now();
        if (preemptions() != before) continue;
        direct.push_back(micros(middle - start));
        searched.push_back(micros(end - middle));
        const bool same = one.has_value() == placement.has_value();
        if (!same || (!shared && one && one->host != placement->hosts.front())) ++differ;
    }
    table.add({std::to_string(maker.fabric.hosts.size()), shared ? "shared" : "whole", cell(direct, 0.5),
               cell(direct, 0.99), cell(searched, 0.5), cell(searched, 0.99),
               fmt::format("{:.1f}", quantile(searched, 0.5) / quantile(direct, 0.5)),
               std::to_string(differ)});
    rows.push_back({{"hosts", maker.fabric.hosts.size()},
                    {"shared", shared},
                    {"p50_us", quantile(direct, 0.5)},
                    {"p99_us", quantile(direct, 0.99)},
                    {"place_p50_us", quantile(searched, 0.5)},
                    {"differ", differ}});
}

// The requests on 4,096 hosts, one in a hundred of which lacks a rail, whose search goes on longest.
int search_dear(std::size_t count, std::uint64_t first) {
    topo::SynthSpec spec;
    spec.pods = 32;
    spec.units = units_a_pod;
    spec.hosts = hosts_a_unit;
    auto fabric = *topo::synthesise(spec);
    for (std::size_t h = 0; h < fabric.hosts.size(); h += 100)
        fabric.hosts[h].leaves[h / 100 % static_cast<std::size_t>(fabric.rails)] = topo::none;
    const sched::Placer placer(fabric);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found; // steps, seed
    for (auto seed = first; seed < first + count; ++seed) {
        std::mt19937_64 random(seed);
        const auto c = sched_test::dear(random, fabric);
        sched::Budget budget(std::uint64_t{2'000'000'000});
        static_cast<void>(placer.place(c.snapshot, c.request, budget));
        found.emplace_back(budget.spent(), seed);
    }
    std::sort(found.rbegin(), found.rend());
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 10); ++i)
        fmt::print("seed {}: {:.1f} million steps\n", found[i].second,
                   static_cast<double>(found[i].first) / 1e6);
    return base::exit_done;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("place_bench", "Time sched::place beside a bare bit-mask scan.", "railplan(1)");
    std::uint64_t seed = 1;
    std::size_t rounds = 2000, most = 16384, search = 0;
    bool json = false;
    cli->add_option("--seed", seed, "Of the random states and sizes")->capture_default_str();
    cli->add_option("--rounds", rounds, "Decisions a row")->capture_default_str()->range(1, 1000000000);
    cli->add_option("--most", most, "Hosts of the largest fabric")->capture_default_str();
    cli->add_option("--search", search,
                    "Look for the dearest of so many requests instead: prints their seeds");
    cli->add_flag("--json", json, "Print JSON");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;

    if (search > 0) return search_dear(search, seed);
    std::mt19937_64 random(seed);
    base::Table table({"HOSTS", "STATE", "P50 us", "P99 us", "MAX us", "UNIT p50", "POD p50", "FABRIC p50",
                       "FABRIC p99", "BARE p50", "RATIO p50", "UNPROVEN"});
    for (std::size_t column = 2; column < 12; ++column)
        table.align(column, base::Table::Align::right);
    base::Table dear({"HOSTS", "DEAR REQUEST", "P50 ms", "P99 ms", "MAX ms", "STEPS max, million", "BUDGET",
                      "PLACED", "CUT"});
    for (std::size_t column = 2; column < 9; ++column)
        dear.align(column, base::Table::Align::right);
    base::Table one(
        {"HOSTS", "ONE HOST", "P50 us", "P99 us", "PLACE p50", "PLACE p99", "RATIO p50", "DIFFER"});
    for (std::size_t column = 2; column < 8; ++column)
        one.align(column, base::Table::Align::right);
    boost::json::array rows, dear_rows, one_rows;
    for (const int pods : {1, 4, 8, 32, 128}) {
        topo::SynthSpec spec;
        spec.pods = pods;
        spec.units = units_a_pod;
        spec.hosts = hosts_a_unit;
        const auto hosts = static_cast<std::size_t>(pods * units_a_pod * hosts_a_unit);
        if (hosts > most) continue;
        const auto fabric = topo::synthesise(spec);
        if (!fabric) return cli.fail(fabric.error());
        auto flawed = *fabric;
        for (std::size_t h = 0; h < flawed.hosts.size(); h += 100)
            flawed.hosts[h].leaves[h / 100 % static_cast<std::size_t>(flawed.rails)] = topo::none;
        auto exchanged = *fabric; // two cables of one host in twenty
        for (std::size_t h = 0; h < exchanged.hosts.size(); h += 20)
            std::swap(exchanged.hosts[h].leaves[h / 20 % 4], exchanged.hosts[h].leaves[4 + h / 80 % 4]);
        spec.domains = hosts_a_unit / 2;
        const auto racks = topo::synthesise(spec);
        if (!racks) return cli.fail(racks.error());
        const topo::Fabric* fabrics[] = {&*fabric, &flawed, &exchanged, &*racks}; // by Kind
        const sched::Placer placer(*fabric), flawed_placer(flawed), exchanged_placer(exchanged),
            rack_placer(*racks);
        const sched::Placer* placers[] = {&placer, &flawed_placer, &exchanged_placer, &rack_placer};
        for (const auto& row :
             {Row{"empty", 0, false, Kind::sound}, Row{"half busy", 0.5, false, Kind::sound},
              Row{"half busy, 2% impaired", 0.5, true, Kind::sound},
              Row{"half busy, 1% lack a rail", 0.5, false, Kind::flawed},
              Row{"half busy, 5% exchanged", 0.5, false, Kind::exchanged},
              Row{"segments and spares", 0.5, false, Kind::sound, Ask::spares},
              Row{"former hosts", 0.5, false, Kind::sound, Ask::former},
              Row{"former hosts, 5% exchanged", 0.5, false, Kind::exchanged, Ask::former},
              Row{"empty, domains of 16", 0, false, Kind::racks},
              Row{"half busy, domains of 16", 0.5, false, Kind::racks}}) {
            const auto kind = static_cast<std::size_t>(row.kind);
            const auto& asked = *placers[kind];
            const Maker maker{*fabrics[kind], random, row.busy, row.impaired, row.ask, &asked};
            const auto result = measure(asked, maker, row.name, rounds);
            const double p50 = quantile(result.ours, 0.5), bare = quantile(result.bare, 0.5);
            table.add({std::to_string(hosts), row.name, fmt::format("{:.2f}", p50), cell(result.ours, 0.99),
                       cell(result.ours, 1), cell(result.by_tier[0], 0.5), cell(result.by_tier[1], 0.5),
                       cell(result.by_tier[2], 0.5), cell(result.by_tier[2], 0.99),
                       fmt::format("{:.2f}", bare), fmt::format("{:.1f}", p50 / bare),
                       std::to_string(result.unproven)});
            rows.push_back({{"hosts", hosts},
                            {"state", row.name},
                            {"p50_us", p50},
                            {"p99_us", quantile(result.ours, 0.99)},
                            {"bare_p50_us", bare},
                            {"refused", result.refused},
                            {"unproven", result.unproven}});
        }
        for (const bool shared : {false, true})
            add_one(one, one_rows, Maker{*fabric, random, 0.5, false}, placer, shared, rounds);
        if (hosts >= 1024) add_dear(dear, dear_rows, flawed, flawed_placer, random, rounds / 10);
    }
    if (json)
        fmt::print("{}\n", base::to_text(boost::json::object{{"bench", "place"},
                                                             {"seed", seed},
                                                             {"rounds", rounds},
                                                             {"rows", rows},
                                                             {"one_host", one_rows},
                                                             {"dear", dear_rows}}));
    else
        fmt::print(
            "B1 placement latency, {} decisions a row, seed {}\n{}\nJobs of one host, half busy\n{}\nDear "
            "requests, {} a row: steps of the budget are about a nanosecond\n{}",
            rounds, seed, table.print(), one.print(), rounds / 10, dear.print());
    return base::finish_output(cli, base::exit_done);
}
