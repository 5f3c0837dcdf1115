#include "sched/score.hpp"

#include "sched/search/align.hpp"
#include "sched/search/keep.hpp"
#include "sched/search/loads.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sched {
namespace {

auto order_of(const Score& s) {
    return std::tuple(s.tier, s.pods, s.units, s.domains, s.misaligned_rails,
                      std::llround(s.avoidance * static_cast<double>(avoidance_unit)), s.moved,
                      s.broken_domains, s.broken_units, s.left_in_domains, s.left_over);
}

std::uint32_t distinct(std::vector<std::uint32_t> values) {
    std::sort(values.begin(), values.end());
    return static_cast<std::uint32_t>(std::unique(values.begin(), values.end()) - values.begin());
}

void add_domains(Score& score, const Loads& loads, const std::vector<std::uint32_t>& hosts) {
    const auto& index = loads.index();
    if (index.domains.empty()) return;
    std::vector<std::uint32_t> taken(index.domains.size(), 0), of_free(index.domains.size(), 0);
    for (const auto h : hosts) {
        ++taken[index.domain_of[h]];
        if (loads.free(h)) ++of_free[index.domain_of[h]];
    }
    for (std::size_t d = 0; d < taken.size(); ++d) {
        const auto& domain = index.domains[d];
        if (!domain.joined) score.domains += taken[d];
        if (taken[d] == 0 || !domain.joined) continue;
        std::uint32_t free = 0;
        for (auto i = domain.first; i < domain.first + domain.size; ++i)
            free += loads.free(index.order[i]) ? 1 : 0;
        ++score.domains;
        score.left_in_domains += free - of_free[d];
        score.broken_domains += free == domain.size && of_free[d] < free ? 1 : 0;
    }
}

} // namespace

Score score_of(const PlacementIndex& index, const Snapshot& snapshot, const Request& request,
               const std::vector<std::uint32_t>& hosts) {
    Score score;
    if (hosts.empty()) return score;
    const Loads loads(index, snapshot, request);
    std::vector<std::uint32_t> units, pods, islands;
    std::vector<std::uint32_t> taken(index.units.size(), 0); // free hosts of each unit
    std::uint64_t avoidance = 0;
    for (const auto h : hosts) {
        const auto unit = index.unit_of[h];
        units.push_back(unit);
        pods.push_back(index.units[unit].pod);
        islands.push_back(index.pods[pods.back()].island);
        avoidance += loads.avoidance(h);
        if (loads.free(h)) ++taken[unit];
    }
    score.units = distinct(units);
    score.pods = distinct(pods);
    const auto tier = score.units == 1                    ? one_unit
                      : score.pods == 1                   ? one_pod
                      : distinct(std::move(islands)) == 1 ? one_island
                                                          : everywhere;
    score.tier = tier;
    score.misaligned_rails = misaligned_rails(index, hosts, tier);
    score.avoidance = static_cast<double>(avoidance) / avoidance_unit;
    score.moved = moved_hosts(request, hosts);
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    for (const auto unit : units) {
        const auto left = loads.unit(unit).free - taken[unit];
        score.left_over += left;
        if (loads.unit(unit).whole && left > 0) ++score.broken_units;
    }
    add_domains(score, loads, hosts);
    return score;
}

std::vector<ScoreTerm> terms_of(const Score& score) {
    const auto number = [](std::uint32_t value) { return static_cast<double>(value); };
    return {{"tier", "tier", number(score.tier)},
            {"pods", "pods", number(score.pods)},
            {"units", "units", number(score.units)},
            {"domains", "NVLink domains", number(score.domains)},
            {"misaligned_rails", "misaligned rails", number(score.misaligned_rails)},
            {"avoidance", "avoidance (1 - health)", score.avoidance},
            {"moved", "nodes that it did not have before", number(score.moved)},
            {"broken_domains", "wholly free domains broken up", number(score.broken_domains)},
            {"broken_units", "wholly free units broken up", number(score.broken_units)},
            {"left_in_domains", "free nodes left over in the domains used", number(score.left_in_domains)},
            {"left_over", "free nodes left over in the units used", number(score.left_over)}};
}

int compare(const Score& a, const Score& b) {
    const auto left = order_of(a), right = order_of(b);
    return left < right ? -1 : right < left ? 1 : 0;
}

} // namespace sched
