// How surely railcheck net names what is slow, beside a fixed threshold on single measures, in made-up
// matrices of which is known what is slow (tests/traces/rail_matrix): after so many rounds of the tournament,
// with 5 % noise and 1 % of measures disturbed. Then what the schedule and the fit cost.
//
// The thresholds are what scripts do: Azure's node health check compares one ib_write_bw of each HCA with a
// fixed number of Gb/s, HPE's bwcheck.sh with a share of the mean; Autopilot measures pairs around a ring,
// and leaves the judgement of each to a reader.
#include "base/cli.hpp"
#include "base/table.hpp"
#include "check/net/culprits.hpp"
#include "check/net/tournament.hpp"
#include "traces/rail_matrix.hpp"

#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <random>
#include <set>

namespace {

using namespace check::net;
using trace::MatrixShape;
using trace::RailMatrix;

using Named =
    std::set<std::pair<std::uint32_t, std::uint32_t>>; // host and rail; a whole host or leaf: see key()

struct Count {
    int slow = 0, found = 0, named = 0, right = 0;
    void add(const Named& wanted, const Named& have) {
        slow += static_cast<int>(wanted.size());
        named += static_cast<int>(have.size());
        for (const auto& one : have)
            right += static_cast<int>(wanted.count(one));
        found = right;
    }
    std::string text() const {
        return fmt::format("{:5.1f} % / {:5.1f} %", slow == 0 ? 0 : 100.0 * found / slow,
                           named == 0 ? 0 : 100.0 * (named - right) / named);
    }
};

// A host as (host, 1000), a leaf as (leaf, 2000 + rail), a rail as (rail, 3000).
std::pair<std::uint32_t, std::uint32_t> key(const Culprit& one) {
    switch (one.part) {
    case Part::rail: return {*one.rail, 3000};
    case Part::leaf: return {*one.leaf, 2000 + *one.rail};
    case Part::host: return {*one.host, 1000};
    case Part::cable: break;
    }
    return {*one.host, *one.rail};
}

// One measure of each HCA, below this share of what it should be.
Named below(const RailMatrix& matrix, const MatrixShape& shape, double share, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, shape.noise);
    std::uniform_real_distribution<double> chance(0, 1);
    Named named;
    for (std::uint32_t host = 0; host < shape.hosts; ++host)
        for (std::uint32_t rail = 0; rail < shape.rails; ++rail) {
            const double hiccup = chance(random) < shape.hiccups ? std::log(2.0) : 0;
            if (std::max(matrix.slow(host, rail), hiccup) + noise(random) > -std::log(share))
                named.insert({host, rail});
        }
    return named;
}

struct Kind {
    const char* name;
    int cables = 0, hosts = 0, leaves = 0;
    double share = 0.7; // of the speed that is left
};

struct Planted {
    RailMatrix matrix;
    Named wanted;
    Named ends; // the same as single cables: what a threshold can name
};

Planted plant(const Kind& kind, const MatrixShape& shape, std::uint64_t seed) {
    Planted made{RailMatrix(shape), {}, {}};
    std::mt19937_64 random(seed);
    const auto host = [&] { return static_cast<std::uint32_t>(random() % shape.hosts); };
    const auto rail = [&] { return static_cast<std::uint32_t>(random() % shape.rails); };
    const double by = -std::log(kind.share);
    for (int i = 0; i < kind.leaves; ++i) {
        const auto leaf = static_cast<std::uint32_t>(random() % (shape.hosts / shape.hosts_a_leaf));
        const auto of = rail();
        made.matrix.slow_leaf(leaf, of, by);
        made.wanted.insert({leaf, 2000 + of});
    }
    for (int i = 0; i < kind.hosts; ++i) {
        const auto one = host();
        made.matrix.slow_host(one, by);
        made.wanted.insert({one, 1000});
    }
    for (int i = 0; i < kind.cables; ++i) {
        const auto one = host();
        const auto of = rail();
        made.matrix.slow_cable(one, of, by);
        made.wanted.insert({one, of});
    }
    for (std::uint32_t one = 0; one < shape.hosts; ++one)
        for (std::uint32_t of = 0; of < shape.rails; ++of)
            if (made.matrix.slow(one, of) > 0.2) made.ends.insert({one, of});
    return made;
}

Named named_of(const RailMatrix& matrix, std::uint32_t rounds, const MatrixShape& shape, std::uint64_t seed) {
    Named named;
    for (const auto& one :
         culprits(fit(matrix.measure(seed, rounds), shape.hosts, shape.rails), matrix.leaves()))
        named.insert(key(one));
    return named;
}

// `again`: so many rounds more where the first ones name anything, as railcheck net does.
void confusion(const std::vector<Kind>& kinds, const MatrixShape& shape, std::uint32_t rounds,
               std::uint32_t again, int trials, std::uint64_t seed) {
    const auto all = Tournament(shape.hosts).rounds();
    base::Table table({"SLOW", "RAILCHECK", "BELOW 95 %", "BELOW 90 %", "BELOW 80 %"});
    for (const auto& kind : kinds) {
        Count ours, fixed[3];
        for (int i = 0; i < trials; ++i) {
            const auto of = seed + static_cast<std::uint64_t>(i);
            const auto planted = plant(kind, shape, of);
            auto named = named_of(planted.matrix, rounds, shape, of);
            if (again > 0 && !named.empty()) named = named_of(planted.matrix, rounds + again, shape, of);
            ours.add(planted.wanted, named);
            int column = 0;
            for (const double share : {0.95, 0.9, 0.8})
                fixed[column++].add(planted.ends, below(planted.matrix, shape, share, of));
        }
        table.add({kind.name, ours.text(), fixed[0].text(), fixed[1].text(), fixed[2].text()});
    }
    fmt::print("{} hosts x {} rails, {} of {} rounds{}, {:.0f} % noise; {} trials, seeds from {}\n"
               "found of what is slow / wrong among what is named\n{}\n",
               shape.hosts, shape.rails, rounds == 0 ? all : rounds, all,
               again == 0 ? "" : fmt::format(", {} more where anything is named", again), shape.noise * 100,
               trials, seed, table.print());
}

void schedule() {
    base::Table table({"HOSTS", "ROUNDS", "LEAST", "PAIRS", "BUSY", "TOOK"});
    for (const std::uint32_t hosts : {16u, 1024u, 4096u}) {
        const auto began = std::chrono::steady_clock::now();
        const Tournament tournament(hosts);
        std::uint64_t pairs = 0, busy = 0;
        for (std::uint32_t round = 0; round < tournament.rounds(); ++round)
            for (std::uint32_t host = 0; host < hosts; ++host)
                if (const auto other = tournament.opponent(round, host)) {
                    ++busy;
                    pairs += host < *other;
                }
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
        table.add({std::to_string(hosts), std::to_string(tournament.rounds()), std::to_string(hosts - 1),
                   std::to_string(pairs),
                   fmt::format("{:.1f} %", 100.0 * static_cast<double>(busy) /
                                               (static_cast<double>(tournament.rounds()) * hosts)),
                   fmt::format("{:.1f} ms", took.count())});
    }
    fmt::print("The tournament: least is the number of rounds that pairs need in any order\n{}\n",
               table.print());
}

void costs(std::uint64_t seed) {
    base::Table table({"HOSTS", "ROUNDS", "CELLS", "FIT"});
    for (const auto& [hosts, rounds] : {std::pair{64u, 0u}, {1024u, 8u}, {4096u, 8u}, {1024u, 128u}}) {
        MatrixShape shape;
        shape.hosts = hosts;
        const RailMatrix matrix(shape);
        const auto cells = matrix.measure(seed, rounds);
        const auto began = std::chrono::steady_clock::now();
        const auto named = culprits(fit(cells, hosts, shape.rails), matrix.leaves());
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
        if (!named.empty()) fmt::print("(named without cause: {})\n", named.size());
        table.add({std::to_string(hosts), rounds == 0 ? "all" : std::to_string(rounds),
                   std::to_string(cells.size()), fmt::format("{:.1f} ms", took.count())});
    }
    fmt::print("{}", table.print());
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("netfit_bench",
                  "Names what is slow in matrices of which it is known, beside fixed thresholds.", "HACKING");
    std::uint32_t trials = 100, seed = 1;
    cli->add_option("--trials", trials, "Matrices of each kind")->capture_default_str();
    cli->add_option("--seed", seed, "Seed of the first one")->capture_default_str();
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    schedule();
    const std::vector<Kind> one{{"one cable", 1}};
    const std::vector<Kind> kinds{
        {"nothing"},      {"one cable", 1},    {"one cable, 20 % slower", 1, 0, 0, 0.8}, {"40 cables", 40},
        {"a host", 0, 1}, {"a leaf", 0, 0, 1}, {"a leaf, a host, 3 cables", 3, 1, 1}};
    const int all = static_cast<int>(trials);
    const MatrixShape fleet;
    for (const std::uint32_t rounds : {3u, 4u, 6u, 8u})
        confusion(one, fleet, rounds, 0, all, seed);
    for (const std::uint32_t rounds : {3u, 4u})
        confusion(one, fleet, rounds, rounds, all, seed);
    confusion(kinds, fleet, 6, 6, all, seed);
    confusion(one, fleet, 0, 0, std::max(1, all / 50), seed);
    MatrixShape gang;
    gang.hosts = 16;
    gang.hosts_a_leaf = 8;
    confusion({{"nothing"},
               {"one cable", 1},
               {"one cable, 20 % slower", 1, 0, 0, 0.8},
               {"3 cables", 3},
               {"a host", 0, 1},
               {"a leaf", 0, 0, 1}},
              gang, 0, 0, all * 5, seed);
    costs(seed);
    return 0;
}
