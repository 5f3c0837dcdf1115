// Each further segment of a unit takes as many idle hosts as the one before or more, so that taking the
// cheapest segment again and again gives the most of them.
#include "sched/few_idle.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace sched {
namespace {

class Chooser {
public:
    Chooser(const Loads& loads, std::uint32_t first, std::uint32_t size)
        : loads_(loads), segment_(std::max(loads.request().segment, 1U)), left_(loads.idle_limit()) {
        const auto& index = loads.index();
        const auto end = index.pods[first + size - 1].first + index.pods[first + size - 1].size;
        for (auto u = index.pods[first].first; u < end; ++u)
            units_.push_back({u, required_idle(u)});
    }

    std::optional<std::vector<std::uint8_t>> run() {
        for (const auto& unit : units_) {
            if (unit.idle > left_) return std::nullopt;
            left_ -= unit.idle;
        }
        using Next = std::pair<std::uint32_t, std::size_t>; // idle hosts of the next segment, unit
        std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
        const auto add = [&](std::size_t i) {
            if (const auto idle = idle_for_next(units_[i])) next.emplace(*idle, i);
        };
        for (std::size_t i = 0; i < units_.size(); ++i)
            add(i);
        for (; !next.empty() && next.top().first <= left_;) {
            const auto [idle, i] = next.top();
            next.pop();
            units_[i].idle += idle;
            ++units_[i].segments;
            left_ -= idle;
            add(i);
        }
        return allowed();
    }

private:
    struct Unit {
        std::uint32_t unit = 0;
        std::uint32_t idle = 0; // that may be taken
        std::uint32_t segments = 0;
    };

    template <class Visit> void each_candidate(std::uint32_t unit, Visit visit) const {
        const auto& part = loads_.index().units[unit];
        for (auto i = part.first; i < part.first + part.size; ++i)
            if (const auto h = loads_.index().order[i]; loads_.candidate(h)) visit(h);
    }

    std::uint32_t required_idle(std::uint32_t unit) const {
        std::uint32_t idle = 0;
        each_candidate(unit, [&](auto h) { idle += loads_.is_required(h) && loads_.idle(h) ? 1 : 0; });
        return idle;
    }

    std::optional<std::uint32_t> idle_for_next(const Unit& unit) const {
        const auto& load = loads_.unit(unit.unit);
        const auto hosts = (unit.segments + 1) * segment_;
        if (hosts > load.candidates) return std::nullopt;
        const auto idle = hosts - std::min(hosts, load.mixed);
        return idle - std::min(idle, unit.idle);
    }

    std::optional<std::vector<std::uint8_t>> allowed() {
        std::vector<std::uint8_t> allowed(loads_.index().order.size(), 0);
        std::uint32_t hosts = 0, segments = 0;
        for (auto& unit : units_) {
            const auto& load = loads_.unit(unit.unit);
            const auto more = std::min(left_, load.candidates - load.mixed - unit.idle); // for spares
            unit.idle += more;
            left_ -= more;
            hosts += load.mixed + unit.idle;
            segments += (load.mixed + unit.idle) / segment_;
            std::vector<std::uint32_t> idle;
            each_candidate(unit.unit, [&](auto h) {
                if (loads_.idle(h))
                    idle.push_back(h);
                else
                    allowed[h] = 1;
            });
            std::stable_sort(idle.begin(), idle.end(), [&](auto a, auto b) {
                return std::pair(!loads_.is_required(a), loads_.penalty(a)) <
                       std::pair(!loads_.is_required(b), loads_.penalty(b));
            });
            for (std::uint32_t i = 0; i < unit.idle; ++i)
                allowed[idle[i]] = 1;
        }
        const auto& request = loads_.request();
        const auto spares = segment_ > 1 ? request.spares : 0;
        if (hosts < request.nodes || segments < (request.nodes - spares) / segment_) return std::nullopt;
        return allowed;
    }

    const Loads& loads_;
    const std::uint32_t segment_;
    std::uint32_t left_; // idle hosts that may still be taken
    std::vector<Unit> units_;
};

} // namespace

std::optional<std::vector<std::uint8_t>> with_few_idle(const Loads& loads, std::uint32_t first,
                                                       std::uint32_t size) {
    return Chooser(loads, first, size).run();
}

} // namespace sched
