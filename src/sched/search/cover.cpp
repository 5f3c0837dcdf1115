#include "sched/search/cover.hpp"

#include "sched/search/bounds.hpp"
#include "sched/search/cover_labels.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace sched {
namespace {

using namespace covering;

class Search {
public:
    Search(const Loads& loads, std::uint32_t first, std::uint32_t size, Budget& budget)
        : budget_(budget), segment_(loads.request().segment), spares_(loads.request().spares),
          segments_((loads.request().nodes - loads.request().spares) / loads.request().segment),
          nodes_(loads.request().nodes) {
        std::uint32_t required = 0;
        for (auto p = first; p < first + size; ++p) {
            required += loads.pod_required(p);
            if (loads.pod_candidates(p) > 0) add(loads, p);
        }
        sound_ = required == loads.required();
    }

    std::optional<Choice> solve() {
        Number segments = 0, hosts = 0;
        for (const auto& pod : pods_) {
            segments += pod.all_segments();
            hosts += pod.all_hosts();
        }
        if (!sound_ || segments < segments_ || hosts < nodes_) return std::nullopt;
        auto best = units_in(fewest_pods());
        fewest_units(best);
        return best;
    }

    const Pod& pod(std::size_t i) const { return pods_[i]; }

private:
    using Bound = Labels::Bound;
    using Set = std::vector<std::size_t>; // positions in pods_
    struct Held {
        Number segments = 0, hosts = 0;
    };

    void add(const Loads& loads, std::uint32_t p) {
        Pod pod;
        pod.index = p;
        Number segments = 0, hosts = 0;
        for (const auto u : covering_order(loads, std::span(&p, 1))) {
            const auto& load = loads.unit(u);
            if (load.required > 0) {
                ++pod.forced;
                segments += load.candidates / segment_;
                hosts += load.candidates;
            } else {
                pod.sizes.push_back(load.candidates);
            }
        }
        pod.segments.reserve(pod.sizes.size() + 1);
        pod.hosts.reserve(pod.sizes.size() + 1);
        pod.segments.push_back(segments);
        pod.hosts.push_back(hosts);
        for (const auto units : pod.sizes) {
            pod.segments.push_back(segments += units / segment_);
            pod.hosts.push_back(hosts += units);
        }
        forced_ += pod.forced > 0 ? 1 : 0;
        pods_.push_back(std::move(pod));
    }

    // ---- the fewest pods ----

    Number weight(const Pod& pod, Number of_segments) const {
        return of_segments * segment_ * pod.all_segments() + (weights - of_segments) * pod.all_hosts();
    }

    // The `count` pods with most weight, forced ones first; returns the sum of their weights.
    template <class Weight> Number heaviest(std::size_t count, Set& set, const Weight& weight) const {
        std::vector<std::pair<Number, std::size_t>> others;
        others.reserve(pods_.size());
        set.clear();
        Number sum = 0;
        for (std::size_t i = 0; i < pods_.size(); ++i) {
            const auto w = weight(pods_[i]);
            if (pods_[i].forced > 0) {
                sum += w;
                set.push_back(i);
            } else {
                others.emplace_back(-w, i);
            }
        }
        const auto rest = std::min(count - set.size(), others.size());
        if (rest < others.size())
            std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(rest),
                             others.end());
        for (std::size_t i = 0; i < rest; ++i) {
            sum -= others[i].first;
            set.push_back(others[i].second);
        }
        return sum;
    }

    bool holds(const Set& set) const {
        Number segments = 0, hosts = 0;
        for (const auto i : set) {
            segments += pods_[i].all_segments();
            hosts += pods_[i].all_hosts();
        }
        return segments >= segments_ && hosts >= nodes_;
    }

    enum class Verdict { cannot, can, open };

    // Whether that many pods hold the gang, as far as the weighted bounds show; `set` does if they can. Sets
    // tightest_ to the weight with the tightest bound.
    Verdict weigh(std::size_t count, Set& set) {
        Number low = 0, high = weights, least = std::numeric_limits<Number>::max();
        Set tried;
        set.clear();
        const auto excess = [&](Number of_segments) {
            budget_.spend(pods_.size() * 8);
            const auto sum = heaviest(count, tried, [&](const Pod& p) { return weight(p, of_segments); }) -
                             (of_segments * segment_ * segments_ + (weights - of_segments) * nodes_);
            if (sum < least) {
                least = sum;
                tightest_ = of_segments;
            }
            if (set.empty() && holds(tried)) set = tried;
            return sum;
        };
        const auto decided = [&] { return least < 0 || !set.empty(); };
        const Number fine = budget_.left() > 0 ? 2 : weights / 8; // coarse once the budget is spent
        excess(low);
        if (!decided()) excess(high);
        while (!decided() && high - low > fine) {
            const auto left = low + (high - low) / 3, right = high - (high - low) / 3;
            if (excess(left) <= excess(right))
                high = right;
            else
                low = left;
        }
        for (auto a = low; a <= high && !decided(); a += fine / 2)
            excess(a);
        return least < 0 ? Verdict::cannot : set.empty() ? Verdict::open : Verdict::can;
    }

    Set fewest_pods() {
        auto count = std::max<std::size_t>(forced_, 1), most = pods_.size();
        Set set;
        while (count < most) {
            const auto middle = (count + most) / 2;
            if (weigh(middle, set) == Verdict::cannot)
                count = middle + 1;
            else
                most = middle;
        }
        for (;; ++count) {
            const auto verdict = weigh(count, set);
            if (verdict == Verdict::can) return set;
            if (verdict == Verdict::cannot) continue;
            const auto a = tightest_;
            std::vector<Bound> bounds;
            for (const auto x :
                 {Number{0}, weights, a, std::max(Number{0}, a - 64), std::min(weights, a + 64)})
                bounds.push_back({{x * segment_, weights - x, 0}, {}});
            const auto order = order_by({a * segment_, weights - a, 0});
            auto found = labels_.find(count, true, 0, bounds, order, 64);
            if (!found) found = labels_.find(count, true, 0, bounds, order, 0);
            if (found) {
                for (const auto& [pod, units] : found->pods)
                    set.push_back(pod);
                return set;
            }
            if (budget_.left() == 0) return rounded_up(count + 1);
        }
    }

    // The pods preferred by the weights, for increasing counts: the first set that holds the gang.
    Set rounded_up(std::size_t count) {
        Set set;
        auto most = pods_.size();
        for (const auto few : {count, count + 1})
            if (few < most && weigh(few, set) == Verdict::can) return set;
        while (count < most) {
            const auto middle = (count + most) / 2;
            if (weigh(middle, set) == Verdict::can)
                most = middle;
            else
                count = middle + 1;
        }
        weigh(most, set);
        return set;
    }

    // ---- the fewest units in as many pods ----

    // The forced units of these pods, then the largest of all.
    Choice units_in(const Set& set) {
        Choice choice;
        std::vector<std::pair<std::uint32_t, std::size_t>> others; // size, position in set
        Number segments = 0, hosts = 0;
        std::uint32_t units = 0;
        for (std::size_t s = 0; s < set.size(); ++s) {
            const auto& pod = pods_[set[s]];
            segments += pod.segments.front();
            hosts += pod.hosts.front();
            units += pod.forced;
            choice.pods.emplace_back(set[s], 0);
            for (const auto size : pod.sizes)
                others.emplace_back(size, s);
        }
        budget_.spend(others.size() * 40 + 20 * set.size());
        std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        for (auto other = others.begin(); segments < segments_ || hosts < nodes_; ++other) {
            if (other == others.end()) return {};
            segments += other->first / segment_;
            hosts += other->first;
            ++choice.pods[other->second].second;
            ++units;
        }
        choice.units = units;
        return choice;
    }

    // A lower bound on the units needed in that many pods, times unit_cost; `set`: the pods that are best
    // then.
    Number least_units(std::size_t count, const Weights& by, Set& set) {
        budget_.spend(pods_.size() * 16);
        return by.segments * segments_ + by.hosts * nodes_ -
               heaviest(count, set, [&](const Pod& p) { return value(p, by, segment_); });
    }

    std::vector<std::size_t> order_by(const Weights& by) const {
        std::vector<Number> values;
        for (const auto& pod : pods_)
            values.push_back(value(pod, by, segment_));
        std::vector<std::size_t> order(pods_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            const bool first = pods_[a].forced > 0, second = pods_[b].forced > 0;
            return first != second ? first : values[a] > values[b];
        });
        return order;
    }

    // What the units preferred by these weights hold, in a set of pods.
    Held held_by(const Weights& by, const Set& set) const {
        Held held;
        for (const auto i : set) {
            const auto units = preferred(pods_[i], by, segment_);
            held.segments += pods_[i].segments[units];
            held.hosts += pods_[i].hosts[units];
        }
        return held;
    }

    // By hosts alone and by segments alone, which is nearly always sufficient.
    std::uint32_t plainly_fewest(std::size_t count) const {
        if (forced_ > 0) return 0;
        Stock hosts, segments;
        for (const auto& pod : pods_) {
            hosts.held.insert(hosts.held.end(), pod.sizes.begin(), pod.sizes.end());
            hosts.ends.push_back(hosts.held.size());
        }
        for (const auto size : hosts.held)
            segments.held.push_back(size / static_cast<std::uint32_t>(segment_));
        segments.ends = hosts.ends;
        return std::max(sched::fewest_units(hosts, count, static_cast<std::uint64_t>(nodes_)).units,
                        sched::fewest_units(segments, count, static_cast<std::uint64_t>(segments_)).units);
    }

    void fewest_units(Choice& best) {
        const auto count = best.pods.size();
        budget_.spend(pods_.size() * 64);
        const auto plain = plainly_fewest(count);
        Number least = 0;
        Weights tight{0, 0, unit_cost};
        std::vector<std::pair<Number, Weights>> seen;
        const auto low = [&] {
            return std::max(plain, static_cast<std::uint32_t>((least + unit_cost - 1) / unit_cost));
        };
        const auto open = [&] { return best.units > low() && budget_.left() > 0; };
        Set set;
        const auto bound_by = [&](const Weights& by) {
            const auto units = least_units(count, by, set);
            if (units > least) {
                least = units;
                tight = by;
            }
            return units;
        };
        Number share = 0, most = std::numeric_limits<Number>::min();
        // For a share in 1024ths, finds the best size of the weights, in which the bound is concave: it rises
        // while they hold too little. Whether they lack segments: then a larger share is better.
        const auto try_share = [&](Number part) {
            const auto sized = [&](Number size) {
                return Weights{size * part * segment_ / 1024, size * (1024 - part) / 1024, unit_cost};
            };
            Number from = 0, to = unit_cost;
            Held held;
            while (to - from > 2 && open()) {
                const auto by = sized((from + to) / 2);
                bound_by(by);
                held = held_by(by, set);
                const auto rise =
                    part * segment_ * (segments_ - held.segments) + (1024 - part) * (nodes_ - held.hosts);
                (rise > 0 ? from : to) = (from + to) / 2;
            }
            if (best.units <= low()) return false;
            auto weights_there = sized(from);
            auto bound = bound_by(weights_there);
            if (const auto units = bound_by(sized(to)); units > bound) {
                bound = units;
                weights_there = sized(to);
            }
            seen.emplace_back(bound, weights_there);
            least_units(count, weights_there, set);
            held = held_by(weights_there, set);
            keep_fewer(best, units_in(set));
            if (best.units <= low()) return false;
            heaviest(count, set, [&](const Pod& p) { return weight(p, part * weights / 1024); });
            keep_fewer(best, units_in(set));
            if (bound > most) {
                most = bound;
                share = part;
            }
            return held.segments < segments_;
        };
        // As a function of the share, the best bounds rise to a maximum, and then fall.
        if (open() && try_share(0) && open()) { // hosts alone
            try_share(1024);
            for (Number from = 0, to = 1024; open() && to - from > 1;)
                (try_share((from + to) / 2) ? from : to) = (from + to) / 2;
        }
        for (Number step = 32; step >= 1 && open(); step /= 2)
            for (const auto part : {share - step, share + step})
                if (const auto before = most; part >= 0 && part <= 1024 && open()) {
                    try_share(part);
                    if (most > before) break;
                }
        if (open()) exchange(best, low());
        const bool proven = best.units <= low() || label_units(best, low(), count, tight, std::move(seen));
        if (!proven) budget_.cut();
    }

    static void keep_fewer(Choice& best, Choice other) {
        if (other.units < best.units) best = std::move(other);
    }

    // Exchanges one pod for another while that saves units.
    void exchange(Choice& best, std::uint32_t low) {
        for (bool better = true; better && best.units > low && budget_.left() > 0;) {
            better = false;
            std::vector<std::uint8_t> in(pods_.size(), 0);
            Number segments = 0, hosts = 0;
            Set set;
            for (const auto& [i, units] : best.pods) {
                in[i] = 1;
                set.push_back(i);
                segments += pods_[i].all_segments();
                hosts += pods_[i].all_hosts();
            }
            auto tries = 512 / set.size() + 4; // in each round: it rarely helps
            for (std::size_t out = 0; out < set.size() && !better; ++out) {
                const auto& given = pods_[set[out]];
                if (given.forced > 0) continue;
                for (std::size_t i = 0; i < pods_.size() && !better; ++i) {
                    if (in[i] != 0) continue;
                    const auto& pod = pods_[i];
                    if (segments - given.all_segments() + pod.all_segments() < segments_ ||
                        hosts - given.all_hosts() + pod.all_hosts() < nodes_)
                        continue;
                    if (tries-- == 0 || budget_.left() == 0) return;
                    auto changed = set;
                    changed[out] = i;
                    auto choice = units_in(changed);
                    better = choice.units < best.units;
                    keep_fewer(best, std::move(choice));
                }
            }
        }
    }

    // Whether no choice has fewer units than `best` then.
    bool label_units(Choice& best, std::uint32_t low, std::size_t count, const Weights& tight,
                     std::vector<std::pair<Number, Weights>> seen) {
        if (budget_.left() == 0) return false;
        std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        std::vector<Bound> bounds;
        for (std::size_t i = 0; i < seen.size() && i < 6; i += i < 2 ? 1 : 2)
            bounds.push_back({seen[i].second, {}});
        for (const auto x : {Number{0}, weights, tightest_})
            bounds.push_back({{x * segment_, weights - x, 0}, {}});
        const auto order = order_by(tight);
        for (const std::size_t beam : {32U, 256U})
            while (best.units > low) {
                auto found =
                    labels_.find(count, false, beam == 32 ? low : best.units - 1, bounds, order, beam);
                if (!found || found->units >= best.units) break;
                best = *std::move(found);
            }
        for (auto target = low; target < best.units; ++target) {
            auto found = labels_.find(count, false, target, bounds, order, 0);
            if (found) best = *std::move(found);
            if (!found && budget_.left() == 0) return false;
        }
        return true;
    }

    Budget& budget_;
    const Number segment_, spares_, segments_, nodes_;
    std::vector<Pod> pods_;
    std::size_t forced_ = 0; // pods with required hosts
    bool sound_ = false;     // all required hosts are in these pods
    Number tightest_ = weights / 2;
    Labels labels_{pods_, {segment_, spares_, segments_, nodes_}, budget_};
};

} // namespace

std::vector<std::uint32_t> covering_order(const Loads& loads, std::span<const std::uint32_t> pods) {
    std::vector<std::uint32_t> units;
    for (const auto p : pods) {
        const auto& pod = loads.index().pods[p];
        for (auto u = pod.first; u < pod.first + pod.size; ++u)
            if (loads.unit(u).candidates > 0) units.push_back(u);
    }
    std::sort(units.begin(), units.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto &x = loads.unit(a), &y = loads.unit(b);
        if ((x.required > 0) != (y.required > 0)) return x.required > 0;
        if (x.candidates != y.candidates) return x.candidates > y.candidates;
        if (x.impaired != y.impaired) return x.impaired < y.impaired;
        if (x.whole != y.whole) return !x.whole;
        return a < b;
    });
    return units;
}

std::optional<Cover> cover(const Loads& loads, std::uint32_t first, std::uint32_t size, Budget& budget) {
    Search search(loads, first, size, budget);
    const auto choice = search.solve();
    if (!choice) return std::nullopt;
    Cover out{{}, choice->units};
    for (const auto& [i, units] : choice->pods)
        out.pods.push_back(search.pod(i).index);
    std::sort(out.pods.begin(), out.pods.end());
    return out;
}

} // namespace sched
