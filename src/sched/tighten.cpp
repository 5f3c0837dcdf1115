#include "sched/tighten.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace sched {
namespace {

class Exchange {
public:
    // Units [begin, end) may be taken.
    Exchange(const Loads& loads, std::vector<std::uint32_t> units, std::uint32_t begin, std::uint32_t end,
             Budget& budget)
        : loads_(loads), budget_(budget), segment_(loads.request().segment), begin_(begin), end_(end),
          units_(std::move(units)), in_(loads.units().size(), 0), in_pod_(loads.index().pods.size(), 0) {
        std::int64_t segments = 0, hosts = 0;
        for (const auto u : units_) {
            in_[u] = 1;
            ++in_pod_[pod_of(u)];
            segments += segments_of(u);
            hosts += loads.unit(u).candidates;
        }
        const auto& request = loads.request();
        spare_segments_ = segments - (request.nodes - request.spares) / segment_;
        left_ = hosts - request.nodes;
    }

    std::vector<std::uint32_t> run() {
        while (left_ > 0) {
            if (!scan()) break;
            auto best = swaps_.upper_bound(left_); // the next below is the largest that is not too large
            if (best != swaps_.begin() && std::prev(best)->first > 0)
                apply(std::prev(best)->second);
            else if (!two_at_once())
                break;
        }
        return std::move(units_);
    }

private:
    struct Swap {
        std::size_t place = 0; // in units_
        std::uint32_t unit = 0;
    };

    std::uint32_t pod_of(std::uint32_t u) const { return loads_.index().units[u].pod; }
    std::int64_t segments_of(std::uint32_t u) const { return loads_.unit(u).candidates / segment_; }

    bool allowed(std::uint32_t out, std::uint32_t in) const {
        const auto &a = loads_.unit(out), &b = loads_.unit(in);
        if (pod_of(out) != pod_of(in) && (in_pod_[pod_of(in)] > 0) == (in_pod_[pod_of(out)] == 1))
            return false; // another number of pods
        // Free hosts that are no candidates are left over, too.
        return b.impaired <= a.impaired && b.whole <= a.whole &&
               b.free - b.candidates <= a.free - a.candidates;
    }

    // One exchange for each number of hosts that it gets rid of.
    bool scan() {
        if (!budget_.spend(2 * units_.size() * (end_ - begin_))) return false;
        swaps_.clear();
        for (std::size_t i = 0; i < units_.size(); ++i) {
            const auto out = units_[i];
            if (loads_.unit(out).required > 0) continue;
            for (auto in = begin_; in < end_; ++in) {
                if (in_[in] != 0 || loads_.unit(in).candidates == 0) continue;
                const auto less = std::int64_t{loads_.unit(out).candidates} - loads_.unit(in).candidates;
                if (less == 0 || less > left_ || segments_of(out) - segments_of(in) > spare_segments_)
                    continue;
                if (allowed(out, in)) swaps_.try_emplace(less, Swap{i, in});
            }
        }
        return true;
    }

    void apply(const Swap& swap) {
        const auto out = std::exchange(units_[swap.place], swap.unit);
        in_[out] = 0;
        in_[swap.unit] = 1;
        --in_pod_[pod_of(out)];
        ++in_pod_[pod_of(swap.unit)];
        spare_segments_ += segments_of(swap.unit) - segments_of(out);
        left_ += std::int64_t{loads_.unit(swap.unit).candidates} - loads_.unit(out).candidates;
    }

    // One that makes it worse, so that another makes it as good as can be.
    bool two_at_once() {
        const auto first = swaps_;
        for (auto swap = first.rbegin(); swap != first.rend(); ++swap) {
            const Swap back{swap->second.place, units_[swap->second.place]};
            apply(swap->second);
            if (!scan()) return false;
            if (const auto exact = swaps_.find(left_); exact != swaps_.end()) {
                apply(exact->second);
                return true;
            }
            apply(back);
        }
        return false;
    }

    const Loads& loads_;
    Budget& budget_;
    const std::uint32_t segment_, begin_, end_;
    std::vector<std::uint32_t> units_;
    std::vector<std::uint8_t> in_;       // by unit
    std::vector<std::uint32_t> in_pod_;  // by pod: units
    std::int64_t spare_segments_ = 0;    // that the units hold above those of the gang
    std::int64_t left_ = 0;              // candidates above those of the gang
    std::map<std::int64_t, Swap> swaps_; // by hosts that it gets rid of
};

} // namespace

std::vector<std::uint32_t> units_of(const Loads& loads, const Cover& cover) {
    std::vector<std::uint32_t> all;
    for (const auto& [pod, count] : cover.pods) {
        auto units = covering_order(loads, pod);
        units.resize(count);
        all.insert(all.end(), units.begin(), units.end());
    }
    return all;
}

std::vector<std::uint32_t> tightened(const Loads& loads, std::vector<std::uint32_t> units,
                                     std::uint32_t first, std::uint32_t size, Budget& budget) {
    const auto& pods = loads.index().pods;
    const auto& last = pods[first + size - 1];
    return Exchange(loads, std::move(units), pods[first].first, last.first + last.size, budget).run();
}

} // namespace sched
