#include "sched/search/one_measure.hpp"

#include "sched/search/search_tier.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace sched {
namespace {

struct Held {
    std::uint64_t hosts = 0, segments = 0;
    bool whole = false; // one of the units is wholly free
};

template <class Units> Held held_by(const Loads& loads, const Units& units) {
    Held held;
    for (const auto& load : units) {
        held.hosts += load.candidates;
        held.segments += load.candidates / loads.request().segment;
        held.whole = held.whole || load.whole;
    }
    return held;
}

// The search for the segments, as if there were no spares.
std::optional<Found> search_segments(const Loads& loads, Tier tier, Budget& budget) {
    auto request = loads.request();
    request.nodes -= request.spares;
    request.spares = request.spare_floor = 0;
    std::vector<std::uint8_t> allowed;
    if (loads.narrowed())
        for (std::uint32_t h = 0; h < loads.index().order.size(); ++h)
            allowed.push_back(loads.candidate(h) ? 1 : 0);
    const Loads alone(loads.index(), loads.snapshot(), request, loads.narrowed() ? &allowed : nullptr,
                      loads.keeps());
    return search_tier(alone, tier, budget);
}

} // namespace

std::optional<Found>
search_by_one_measure(const Loads& loads, Tier tier, Budget& budget,
                      const std::function<std::optional<Found>(Budget&)>& ordinary,
                      const std::function<Found(const std::vector<std::uint32_t>& units)>& deal) {
    if (loads.required() > 0) return std::nullopt; // they may be spares
    const auto& request = loads.request();
    const auto segments = (request.nodes - request.spares) / request.segment;
    const auto all = held_by(loads, loads.units());
    const bool scarcer = segments * all.hosts > request.nodes * all.segments;
    for (const bool by_segments : {scarcer, !scarcer}) {
        if (by_segments && all.whole) continue; // spares may fill up one that segments alone break
        Budget attempt(budget.left() / 4);
        const auto usual = by_segments ? search_segments(loads, tier, attempt) : ordinary(attempt);
        budget.spend(attempt.spent());
        if (!usual || attempt.cuts() > 0) continue;
        std::vector<std::uint32_t> units;
        std::vector<UnitLoad> taken;
        for (const auto& [unit, hosts] : usual->taken) {
            units.push_back(unit);
            taken.push_back(loads.unit(unit));
        }
        const auto held = held_by(loads, taken);
        if (held.hosts < request.nodes || held.segments < segments) continue;
        auto found = deal(units);
        const auto terms = [](const Found& f) { return std::tuple(f.pods, f.units, f.avoidance, f.broken); };
        // For segments alone, other hosts of the units are left over.
        if (terms(found) == terms(*usual) && (by_segments ? found.avoidance == 0 : found.left == usual->left))
            return found;
    }
    return std::nullopt;
}

} // namespace sched
