#include "sched/score.hpp"

#include "sched/align.hpp"
#include "sched/keep.hpp"
#include "sched/loads.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sched {
namespace {

auto order_of(const Score& s) {
    return std::tuple(s.tier, s.pods, s.units, s.misaligned_rails,
                      std::llround(s.avoidance * static_cast<double>(avoidance_unit)), s.moved,
                      s.broken_units, s.left_over);
}

std::uint32_t distinct(std::vector<std::uint32_t> values) {
    std::sort(values.begin(), values.end());
    return static_cast<std::uint32_t>(std::unique(values.begin(), values.end()) - values.begin());
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
    return score;
}

std::vector<ScoreTerm> terms_of(const Score& score) {
    return {{"tier", "tier", static_cast<double>(score.tier)},
            {"pods", "pods", static_cast<double>(score.pods)},
            {"units", "units", static_cast<double>(score.units)},
            {"misaligned_rails", "misaligned rails", static_cast<double>(score.misaligned_rails)},
            {"avoidance", "avoidance (1 - health)", score.avoidance},
            {"moved", "nodes that it did not have before", static_cast<double>(score.moved)},
            {"broken_units", "wholly free units broken up", static_cast<double>(score.broken_units)},
            {"left_over", "free nodes left over in the units used", static_cast<double>(score.left_over)}};
}

int compare(const Score& a, const Score& b) {
    const auto left = order_of(a), right = order_of(b);
    return left < right ? -1 : right < left ? 1 : 0;
}

} // namespace sched
