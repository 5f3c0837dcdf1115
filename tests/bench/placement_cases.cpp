// B3, and the cases of B2: fragmented fabrics, gangs that fit into what is free, what sched::place makes of
// them, and the least that any placement needs. quality_bench.py reads the cases and asks real slurmctlds.
//
// A pod counts before a unit. What a placement needs at least is proven by a table: the most hosts that so
// many units of so many pods hold, filled pod by pod. A placement over more pods than needed is held against
// the fewest units over that many pods, so that its pods are not counted against it twice.
#include "base/cli.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "sched/ask/rank_order.hpp"
#include "sched/place.hpp"
#include "topo/synth/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

namespace {

using Clock = std::chrono::steady_clock;
using Hosts = std::vector<std::uint32_t>;

constexpr int hosts_a_unit = 32, units_a_pod = 4;
constexpr std::size_t gangs_a_state = 12;

// Either host by host, or as jobs leave it that took hosts in a row.
sched::Snapshot fragmented(std::mt19937_64& random, std::size_t hosts, double busy, bool scattered) {
    sched::Snapshot snapshot;
    snapshot.states.resize(hosts, sched::HostState::free);
    auto left = static_cast<std::size_t>(busy * static_cast<double>(hosts));
    while (left > 0) {
        auto at = random() % hosts;
        for (auto run = scattered ? 1 : 1 + random() % hosts_a_unit; run > 0 && left > 0 && at < hosts;
             --run, ++at) {
            if (snapshot.states[at] != sched::HostState::free) continue;
            snapshot.states[at] = sched::HostState::busy;
            --left;
        }
    }
    return snapshot;
}

class Least {
public:
    Least(const sched::PlacementIndex& index, const sched::Snapshot& snapshot)
        : units_(index.units.size()), most_(index.pods.size() + 1, Hosts(units_ + 1, 0)) {
        std::size_t seen = 0;
        for (const auto& pod : index.pods) {
            Hosts free(pod.size, 0);
            for (std::uint32_t u = 0; u < pod.size; ++u) {
                const auto& unit = index.units[pod.first + u];
                for (auto i = unit.first; i < unit.first + unit.size; ++i)
                    free[u] += snapshot.states[index.order[i]] == sched::HostState::free ? 1 : 0;
            }
            std::sort(free.rbegin(), free.rend());
            std::partial_sum(free.begin(), free.end(), free.begin());
            ++seen;
            for (auto pods = seen; pods > 0; --pods)
                for (std::size_t taken = 1; taken <= free.size(); ++taken)
                    for (auto units = taken; units <= units_; ++units)
                        most_[pods][units] =
                            std::max(most_[pods][units], most_[pods - 1][units - taken] + free[taken - 1]);
        }
    }

    // The fewest units over at most so many pods; more than there are where they do not hold so many hosts.
    std::size_t units(std::uint32_t nodes, std::size_t pods) const {
        std::size_t units = 1;
        while (units <= units_ && most_[pods][units] < nodes)
            ++units;
        return units;
    }
    // The same for 1, 2, … pods; 0 where they do not hold the gang.
    boost::json::array by_pods(std::uint32_t nodes) const {
        boost::json::array fewest;
        for (std::size_t pods = 1; pods < most_.size(); ++pods) {
            const auto needs = units(nodes, pods);
            fewest.push_back(needs > units_ ? 0 : needs);
        }
        return fewest;
    }

private:
    std::size_t units_;
    std::vector<Hosts> most_; // by pods and units; a pod gives its fullest units first
};

// B3: the edges of a ring over the ranks that leave a unit.
std::size_t crossings(const sched::PlacementIndex& index, const Hosts& ranks) {
    std::size_t edges = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        edges += index.unit_of[ranks[r]] != index.unit_of[ranks[(r + 1) % ranks.size()]] ? 1 : 0;
    return edges;
}

struct Order {
    const char* name;
    std::size_t edges = 0, least = 0; // over all gangs of more than one unit
};

struct Orders {
    Order ours{"Railyard"}, stock{"srun, names by unit"}, dealt{"srun, names dealt to units in turn"},
        random{"random"};
    std::size_t gangs = 0, units = 0;

    void add(const sched::PlacementIndex& index, Hosts hosts, std::uint32_t in_units, std::mt19937_64& draw) {
        if (in_units < 2) return;
        ++gangs;
        units += in_units;
        count(ours, index, sched::order_ranks(index, hosts, {}, 0, sched::RankOrder::ring).ranks, in_units);
        std::sort(hosts.begin(), hosts.end());
        count(stock, index, hosts, in_units);
        std::sort(hosts.begin(), hosts.end(), [](auto a, auto b) {
            return std::pair(a % hosts_a_unit, a) < std::pair(b % hosts_a_unit, b);
        });
        count(dealt, index, hosts, in_units);
        std::shuffle(hosts.begin(), hosts.end(), draw);
        count(random, index, hosts, in_units);
    }

private:
    static void count(Order& order, const sched::PlacementIndex& index, const Hosts& ranks,
                      std::uint32_t units) {
        const auto edges = crossings(index, ranks);
        order.edges += edges;
        order.least += edges == units ? 1 : 0;
    }
};

boost::json::object ours_of(const base::Expected<sched::Placement>& placement, Clock::duration took) {
    boost::json::object ours{{"us", std::chrono::duration<double, std::micro>(took).count()}};
    if (placement) {
        ours["pods"] = placement->score.pods;
        ours["units"] = placement->score.units;
    }
    return ours;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("placement_cases", "Draw fragmented cases, place them, and count what rings cross.",
                  "railplan(1)");
    std::uint64_t seed = 1;
    std::size_t cases = 1000;
    std::string out;
    cli->add_option("--seed", seed, "Of states, sizes and random orders")->capture_default_str();
    cli->add_option("--cases", cases, "In all, at least")->capture_default_str()->range(1, 1000000000);
    cli->add_option("--out", out, "Write the cases as JSON");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;

    std::mt19937_64 random(seed);
    Orders orders;
    boost::json::array states;
    const auto states_a_row = (cases + 8 * gangs_a_state - 1) / (8 * gangs_a_state);
    for (const int pods : {4, 32}) {
        topo::SynthSpec spec;
        spec.pods = pods;
        spec.units = units_a_pod;
        spec.hosts = hosts_a_unit;
        const auto fabric = topo::synthesise(spec);
        if (!fabric) return cli.fail(fabric.error());
        const sched::Placer placer(*fabric);
        for (const int busy : {30, 50, 70, 90})
            for (std::size_t s = 0; s < states_a_row; ++s) {
                const auto snapshot = fragmented(random, fabric->hosts.size(), busy / 100.0, s % 2 == 0);
                const Least least(placer.index(), snapshot);
                boost::json::array taken, gangs;
                for (std::size_t h = 0; h < snapshot.states.size(); ++h)
                    if (snapshot.states[h] == sched::HostState::busy) taken.push_back(h);
                const auto free = snapshot.states.size() - taken.size();
                for (std::size_t g = 0; g < gangs_a_state; ++g) {
                    const double most = std::log(static_cast<double>(free) / 2);
                    sched::Request request; // from 2 to all that is free
                    request.nodes = static_cast<std::uint32_t>(
                        2 * std::exp(std::uniform_real_distribution<>(0, most)(random)));
                    const auto start = Clock::now();
                    const auto placement = placer.place(snapshot, request);
                    const auto took = Clock::now() - start;
                    gangs.push_back({{"nodes", request.nodes},
                                     {"least", least.by_pods(request.nodes)},
                                     {"ours", ours_of(placement, took)}});
                    if (placement)
                        orders.add(placer.index(), placement->hosts, placement->score.units, random);
                }
                states.push_back({{"pods", pods},
                                  {"busy_percent", busy},
                                  {"busy", std::move(taken)},
                                  {"gangs", std::move(gangs)}});
            }
    }
    if (!out.empty()) {
        const boost::json::object all{
            {"seed", seed}, {"units_a_pod", units_a_pod}, {"hosts_a_unit", hosts_a_unit}, {"states", states}};
        if (const auto done = base::write_file(out, base::to_text(all)); !done) return cli.fail(done.error());
    }

    base::Table table({"ORDER OF RANKS", "EDGES", "A UNIT", "FEWEST IN", "RATIO"});
    for (std::size_t column = 1; column < 5; ++column)
        table.align(column, base::Table::Align::right);
    const auto share = [](std::size_t a, std::size_t b) {
        return static_cast<double>(a) / static_cast<double>(std::max<std::size_t>(b, 1));
    };
    for (const auto& order : {orders.ours, orders.stock, orders.dealt, orders.random})
        table.add({order.name, std::to_string(order.edges),
                   fmt::format("{:.2f}", share(order.edges, orders.units)),
                   fmt::format("{:.1f}%", 100 * share(order.least, orders.gangs)),
                   fmt::format("{:.1f}x", share(order.edges, orders.ours.edges))});
    fmt::print(
        "B3 edges of a ring over the ranks that leave their unit: {} gangs in {} units, seed {}; at least "
        "one for each unit\n{}",
        orders.gangs, orders.units, seed, table.print());
    return base::finish_output(cli, base::exit_done);
}
