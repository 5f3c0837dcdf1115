// Hosts in use cost nothing, so each additional segment of a unit takes at least as many idle hosts as the
// previous one: the first few none, the next one those that complete it, all others only idle hosts. Taking
// the cheapest repeatedly gives the most segments. Hosts in use and required ones are taken anyway; their
// segments include all required hosts except less than a segment in each unit, which the next segment
// includes.
#include "sched/search/few_idle.hpp"

#include "sched/search/fit.hpp"
#include "sched/search/found.hpp"
#include "sched/search/nested_fit.hpp"

#include <algorithm>

namespace sched {
namespace {

class Chooser {
public:
    // For units [first, end).
    Chooser(const Loads& loads, std::uint32_t first, std::uint32_t end)
        : loads_(loads), segment_(loads.steps().unit), spares_(segment_ > 1 ? loads.request().spares : 0),
          units_(loads.units().size()) {
        for (auto u = first; u < end; ++u)
            units_[u] = offer_of(u);
    }

    // Chooses as many segments from units [first, end) as the idle hosts allow. `covering`: first those that
    // include required hosts, until the spares have room for the rest. False: impossible.
    bool choose(std::uint32_t first, std::uint32_t end, bool covering) {
        left_ = loads_.idle_limit();
        segments_ = covered_ = hosts_ = 0;
        std::uint32_t out = 0, required = 0;
        next_.clear();
        for (auto u = first; u < end; ++u) {
            auto& unit = units_[u];
            if (unit.forced > left_) return false;
            left_ -= unit.idle = unit.forced;
            segments_ += unit.held;
            covered_ += loads_.unit(u).required / segment_;
            hosts_ += loads_.unit(u).mixed + unit.idle;
            out += unit.out;
            required += loads_.unit(u).required;
            if (unit.next > 0) next_.push_back(u);
        }
        if (required != loads_.required() || (covering && !cover(out))) return false;
        take_cheapest();
        for (auto u = first; u < end && left_ >= segment_; ++u)
            take(units_[u], segment_, std::min(units_[u].more, left_ / segment_));
        for (auto u = first; u < end; ++u) { // for spares
            const auto& load = loads_.unit(u);
            take(units_[u], 1, std::min(left_, load.candidates - load.mixed - units_[u].idle), 0);
        }
        return true;
    }

    // The largest gang for this choice; 0: none.
    std::uint32_t nodes() const {
        if (hosts_ < spares_) return 0;
        const auto segments = std::min(segments_, (hosts_ - spares_) / segment_);
        return segments == 0 ? 0 : segments * segment_ + spares_;
    }
    // The smallest gang that is certain to include all required hosts.
    std::uint32_t least() const { return covered_ * segment_ + spares_; }

    std::vector<std::uint8_t> allowed(std::uint32_t first, std::uint32_t end) const {
        std::vector<std::uint8_t> allowed(loads_.index().order.size(), 0);
        std::vector<std::uint32_t> idle;
        for (auto u = first; u < end; ++u) {
            idle.clear();
            each_candidate(u, [&](auto h) {
                if (loads_.idle(h))
                    idle.push_back(h);
                else
                    allowed[h] = 1;
            });
            std::stable_sort(idle.begin(), idle.end(), [&](auto a, auto b) {
                return std::pair(!loads_.is_required(a), loads_.penalty(a)) <
                       std::pair(!loads_.is_required(b), loads_.penalty(b));
            });
            for (std::uint32_t i = 0; i < units_[u].idle; ++i)
                allowed[idle[i]] = 1;
        }
        return allowed;
    }

private:
    struct Unit {
        std::uint32_t forced = 0; // required idle hosts
        std::uint32_t held = 0;   // segments of these and of hosts in use
        std::uint32_t next = 0;   // idle hosts that complete another one; 0: there is none
        std::uint32_t more = 0;   // segments of only idle hosts, once that is complete
        std::uint32_t out = 0;    // required hosts not in the held segments, but in the next one
        std::uint32_t idle = 0;   // chosen
    };

    template <class Visit> void each_candidate(std::uint32_t unit, Visit visit) const {
        const auto& part = loads_.index().units[unit];
        for (auto i = part.first; i < part.first + part.size; ++i)
            if (const auto h = loads_.index().order[i]; loads_.candidate(h)) visit(h);
    }

    Unit offer_of(std::uint32_t u) const {
        const auto& load = loads_.unit(u);
        Unit unit;
        if (load.required > 0)
            each_candidate(u,
                           [&](auto h) { unit.forced += loads_.is_required(h) && loads_.idle(h) ? 1 : 0; });
        const auto reach = load.mixed + unit.forced, all = load.candidates / segment_;
        unit.held = reach / segment_;
        unit.more = all - unit.held;
        if (unit.more > 0 && reach % segment_ != 0) {
            unit.next = segment_ - reach % segment_;
            --unit.more;
        }
        unit.out = load.required - std::min(load.required, unit.held * segment_);
        return unit;
    }

    void take(Unit& unit, std::uint32_t idle, std::uint32_t times, std::uint32_t segments = 1) {
        unit.idle += idle * times;
        left_ -= idle * times;
        hosts_ += idle * times;
        segments_ += segments * times;
    }

    // The segments that include most required hosts first.
    bool cover(std::uint32_t out) {
        if (out <= spares_) return true;
        std::stable_sort(next_.begin(), next_.end(), [&](auto a, auto b) {
            return std::pair(units_[b].out, units_[a].next) < std::pair(units_[a].out, units_[b].next);
        });
        std::erase_if(next_, [&](auto u) {
            auto& unit = units_[u];
            if (out <= spares_ || unit.out == 0 || unit.next > left_) return false;
            take(unit, unit.next, 1);
            out -= unit.out;
            ++covered_;
            return true;
        });
        return out <= spares_;
    }

    void take_cheapest() {
        std::stable_sort(next_.begin(), next_.end(),
                         [&](auto a, auto b) { return units_[a].next < units_[b].next; });
        for (const auto u : next_) {
            if (units_[u].next > left_) break; // a whole segment is, too
            take(units_[u], units_[u].next, 1);
        }
    }

    const Loads& loads_;
    const std::uint32_t segment_, spares_;
    std::vector<Unit> units_;
    std::vector<std::uint32_t> next_; // units with a segment that idle hosts complete
    // For the current choice:
    std::uint32_t left_ = 0; // idle hosts that may still be taken
    std::uint32_t segments_ = 0, hosts_ = 0;
    std::uint32_t covered_ = 0; // segments with required hosts
};

} // namespace

std::optional<std::vector<std::uint8_t>> with_few_idle(const Loads& loads, std::uint32_t first,
                                                       std::uint32_t size) {
    const auto& index = loads.index();
    const auto& last = index.pods[first + size - 1];
    const auto begin = index.pods[first].first, end = last.first + last.size;
    Chooser chooser(loads, begin, end);
    for (const bool covering : {true, false})
        if (chooser.choose(begin, end, covering) && chooser.nodes() >= loads.request().nodes)
            return chooser.allowed(begin, end);
    return std::nullopt;
}

IdleRoom idle_room(const Loads& loads, std::uint32_t most) {
    const auto& index = loads.index();
    Chooser chooser(loads, 0, static_cast<std::uint32_t>(index.units.size()));
    IdleRoom room;
    const auto at_most = [&](std::uint32_t nodes) {
        return nodes_at_most(loads.request(), std::min(most, nodes)).value_or(0);
    };
    const bool nested = is_nested(index, loads.steps(), loads.request().span);
    const bool covered = loads.required() == 0 || loads.request().spares == 0 || loads.steps().unit == 1;
    const auto see = [&](std::uint32_t first, std::uint32_t size) {
        if (!covered && chooser.choose(first, first + size, false))
            room.most = std::max(room.most, at_most(chooser.nodes()));
        if (!chooser.choose(first, first + size, true)) return;
        const auto nodes = at_most(chooser.nodes());
        room.most = std::max(room.most, nodes);
        if (!nested && (loads.required() == 0 || nodes >= chooser.least()))
            room.sure = std::max(room.sure, nodes);
    };
    const auto see_pods = [&](std::uint32_t first, std::uint32_t size) {
        const auto& last = index.pods[first + size - 1];
        see(index.pods[first].first, last.first + last.size - index.pods[first].first);
    };
    switch (widest_tier(loads.request().span)) { // wider parts hold at least as much
    case one_unit:
        for (std::uint32_t u = 0; u < index.units.size(); ++u)
            see(u, 1);
        break;
    case one_pod:
        for (std::uint32_t p = 0; p < index.pods.size(); ++p)
            see_pods(p, 1);
        break;
    case one_island:
        for (const auto& island : index.islands)
            see_pods(island.first, island.size);
        break;
    case everywhere: see_pods(0, static_cast<std::uint32_t>(index.pods.size())); break;
    }
    return room;
}

} // namespace sched
