// The costs that the dynamic program adds and compares, each packed into one integer. Internal to src/sched.
#pragma once

#include "sched/search/dynamic_program.hpp"
#include "sched/search/loads.hpp"
#include "sched/search/nested_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sched::packed {

// The sums, in the smallest type that holds every one. Narrow: the number of units, sufficient for simple
// loads, eight at a time. Otherwise units, domains, avoidance, broken and left side by side in one integer,
// so one comparison orders them (Fields).
using Narrow = std::int16_t;
__extension__ using Wide = __int128;

// Above every cost, and low enough for a cost to be added without overflow.
template <class V> constexpr V infinite = V{1} << (sizeof(V) * 8 - 2);
template <> constexpr Narrow infinite<Narrow> = 0x3fff;

// Where each term of a cost begins, in bits from the lowest; the sums of terms never overlap, and are as
// narrow as the groups of the plan permit.
struct Fields {
    Fields() = default; // for Narrow, which has only one term
    Fields(const Loads& loads, const GroupPlan& plan) : settled_last(settles_last(loads, plan)) {
        std::uint64_t parts = 0, joined = 0, whole = 0, avoided = 0, left = 0;
        for (const auto& group : plan.groups)
            for (auto u = group.first; u < group.first + group.size; ++u) {
                const auto& load = loads.unit(u);
                ++parts;
                if (plan.domains) {
                    whole += load.whole ? 1 : 0;
                    joined += unit_parts(loads, u).size();
                    left += load.candidates;
                    continue;
                }
                whole += load.whole ? 1 : 0;
                avoided +=
                    plan.segments ? load.candidates % loads.request().segment : loads.total_avoidance(u);
                // Apart from what does not fit into a quantum, only impaired hosts are left out, unless hosts
                // are required.
                const auto quantum = loads.quantum();
                const auto dropped = loads.required() != 0 ? load.candidates
                                     : settled_last        ? 0
                                                    : (load.impaired + quantum - 1) / quantum * quantum;
                left += load.free - load.candidates +
                        std::min(load.candidates, load.candidates % quantum + dropped);
            }
        broken = width(left);
        avoidance = broken + width(whole);
        domains = avoidance + width(avoided);
        units = domains + width(joined);
        bits = units + width(parts);
    }
    template <class V> V pack(const Cost& cost) const {
        return static_cast<V>(static_cast<V>(cost.units) << units | static_cast<V>(cost.domains) << domains |
                              static_cast<V>(cost.avoidance) << avoidance |
                              static_cast<V>(cost.broken) << broken | static_cast<V>(cost.left));
    }
    template <class V> Cost unpack(V value) const {
        const auto part = [&](unsigned from, unsigned to) {
            return static_cast<std::uint64_t>(value >> from & ((V{1} << (to - from)) - 1));
        };
        Cost cost;
        cost.units = static_cast<std::uint32_t>(part(units, bits));
        cost.domains = static_cast<std::uint32_t>(part(domains, units));
        cost.avoidance = part(avoidance, domains);
        cost.broken = static_cast<std::uint32_t>(part(broken, avoidance));
        cost.left = static_cast<std::uint32_t>(part(0, broken));
        return cost;
    }

    unsigned broken = 0, avoidance = 0, domains = 0, units = 0, bits = 0;

    // Only hosts new to the job are avoided, all at the same cost: how many of them the gang has follows from
    // the units chosen and the remaining slack. So units are used completely, and the slack is taken from
    // them at the end.
    bool settled_last = false;

private:
    static bool settles_last(const Loads& loads, const GroupPlan& plan) {
        if (!loads.keeps() || !loads.snapshot().health.empty() || loads.required() != 0 ||
            loads.quantum() != 1)
            return false;
        std::uint64_t kept = 0;
        for (const auto& group : plan.groups)
            for (auto u = group.first; u < group.first + group.size; ++u) {
                // Breaking a whole unit, or not, is a separate choice.
                if (loads.unit(u).whole) return false;
                kept += loads.unit(u).candidates - loads.unit(u).impaired;
            }
        return kept <= loads.need();
    }
    static unsigned width(std::uint64_t most) { return static_cast<unsigned>(std::bit_width(most)); }
};

} // namespace sched::packed
