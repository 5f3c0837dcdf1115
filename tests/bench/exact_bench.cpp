// B1: how often a placement is worse than the best there is, or refuses what fits: every subset of the hosts
// tried for small fabrics, a dense programme over pods and units for large ones. Every option of a request is
// drawn. NVLink domains and nested segments have rows of their own.
#include "../unit/sched/dense_oracle.hpp"
#include "../unit/sched/domain_oracle.hpp"
#include "../unit/sched/oracle.hpp"
#include "base/cli.hpp"
#include "base/json.hpp"
#include "base/table.hpp"

#include <fmt/format.h>

namespace {

using namespace sched_test;

struct Tally {
    std::string name, against;
    std::size_t asked = 0, fitting = 0, refused = 0, invented = 0, worse = 0, claimed = 0, unproven = 0;
};

void count(Tally& tally, bool fits, const base::Expected<sched::Placement>& placement, bool worse) {
    ++tally.asked;
    tally.fitting += fits ? 1 : 0;
    tally.refused += fits && !placement ? 1 : 0;
    tally.invented += !fits && placement ? 1 : 0;
    if (!fits || !placement) return;
    tally.worse += worse ? 1 : 0;
    tally.claimed += worse && placement->exact ? 1 : 0;
    tally.unproven += placement->exact ? 0 : 1;
}

void try_small(Tally& tally, const Case& c) {
    const auto& [fabric, snapshot, request] = c;
    const auto best = Oracle(fabric, snapshot, request.shared, request.had).best_of_range(request);
    const auto placement = sched::place(fabric, snapshot, request);
    const bool same = best && placement && placement->hosts.size() == best->first &&
                      terms(placement->score) == best->second;
    count(tally, best.has_value(), placement, !same);
}

void try_large(Tally& tally, std::mt19937_64& random) {
    const auto [fabric, snapshot, request] = large_case(random);
    const DenseOracle oracle(fabric, snapshot, request);
    const auto size = oracle.largest();
    const auto placement = sched::place(fabric, snapshot, request);
    bool worse = false;
    if (size && placement) {
        const auto& score = placement->score;
        const auto best = oracle.fewest(*size, score.pods, score.units);
        worse = placement->hosts.size() != *size || !best || best->tier != score.tier ||
                best->pods != score.pods || best->units != score.units;
    }
    count(tally, size.has_value(), placement, worse);
}

// With domains, nested segments or both.
Case nested_case(std::mt19937_64& random, std::size_t number) {
    auto c = random_case(random, number % 2 == 0, true);
    if (number % 3 != 0) c = with_domains(random, std::move(c));
    if (number % 3 != 1) nest(random, c.request);
    return c;
}

void try_domains(Tally& tally, std::mt19937_64& random) {
    const auto [fabric, snapshot, request] = domain_case(random);
    const auto least = DomainOracle(fabric, snapshot, request).least();
    const auto placement = sched::place(fabric, snapshot, request);
    const bool worse = least && placement &&
                       DomainOracle::Least{placement->score.pods, placement->score.units,
                                           placement->score.domains} != *least;
    count(tally, least.has_value(), placement, worse);
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("exact_bench", "Hold sched::place to the best places there are.", "railplan(1)");
    std::uint64_t seed = 1;
    std::size_t small = 10'000, large = 2'000;
    bool json = false;
    cli->add_option("--seed", seed, "Of the random questions")->capture_default_str();
    cli->add_option("--small", small, "Questions held to every subset of the hosts")->capture_default_str();
    cli->add_option("--large", large, "Questions held to programmes")->capture_default_str();
    cli->add_flag("--json", json, "Print JSON");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;

    std::mt19937_64 random(seed);
    Tally tallies[] = {{"up to 27 hosts", "every subset, all terms"},
                       {"150 to 1,200 hosts", "programme, pods and units"},
                       {"up to 27, domains or nested", "every subset, all terms"},
                       {"up to 200 in domains", "tables, pods, units, domains"}};
    for (std::size_t i = 0; i < small; ++i)
        try_small(tallies[0], random_case(random, i % 2 == 0, true));
    for (std::size_t i = 0; i < large; ++i)
        try_large(tallies[1], random);
    for (std::size_t i = 0; i < small; ++i)
        try_small(tallies[2], nested_case(random, i));
    for (std::size_t i = 0; i < large; ++i)
        try_domains(tallies[3], random);

    base::Table table({"FABRICS", "HELD TO", "REQUESTS", "FIT", "REFUSED", "INVENTED", "WORSE",
                       "CLAIMED BEST", "NOT PROVEN"});
    for (std::size_t column = 2; column < 9; ++column)
        table.align(column, base::Table::Align::right);
    boost::json::array rows;
    for (const auto& t : tallies) {
        table.add({t.name, t.against, std::to_string(t.asked), std::to_string(t.fitting),
                   std::to_string(t.refused), std::to_string(t.invented), std::to_string(t.worse),
                   std::to_string(t.claimed), std::to_string(t.unproven)});
        rows.push_back({{"fabrics", t.name},
                        {"requests", t.asked},
                        {"fit", t.fitting},
                        {"refused", t.refused},
                        {"invented", t.invented},
                        {"worse", t.worse},
                        {"claimed", t.claimed},
                        {"unproven", t.unproven}});
    }
    if (json)
        fmt::print("{}\n",
                   base::to_text(boost::json::object{{"bench", "exact"}, {"seed", seed}, {"rows", rows}}));
    else
        fmt::print("B1 exactness, seed {}\n{}", seed, table.print());
    return base::finish_output(cli, base::exit_done);
}
