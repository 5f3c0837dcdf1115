// Lagrange: each host used earns its price, each unit used costs the price of a number of hosts, so the worth
// of a group is the least cost of using it, whatever else is chosen. The price of the gang's hosts beyond
// those that its units cost, plus the worth of the groups taken, is a lower bound on the cost of any choice
// of these groups. One price shows little about what is best, but much about what is impossible: leaving out
// or taking a group or a unit raises the bound by its whole worth.
//
// The bound is for the first term of Cost after units that is not already minimal: avoidance, where each host
// has its own cost; or the left-over free hosts, where no impaired host may be used and a unit costs its
// other free hosts. Prices of hosts are in the unit of that term, or a 16th of it.
#include "sched/search/narrow.hpp"

#include "sched/search/nested_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sched {
namespace {

// Units: by how many hosts choices with the fewest units fall short.
enum class Term { units, domains, avoidance, left };

Term term_of(const Cost& cost) {
    if (cost.domains > 0) return Term::domains;
    return cost.avoidance > 0 ? Term::avoidance : Term::left;
}

// An upper bound, in its term, for a choice cheaper than a known one.
std::int64_t most_below(const Cost& known) {
    const auto last = known.broken_domains == 0 && known.broken == 0 && known.left == 0 ? 1 : 0;
    if (known.domains > 0) return std::int64_t{known.domains} - last;
    return known.avoidance > 0 ? static_cast<std::int64_t>(known.avoidance) - last
                               : std::int64_t{known.left} - 1;
}

} // namespace

class Narrowing::Relaxation {
public:
    Relaxation(const Loads& loads, GroupPlan plan, Term term, UnitBound fewest)
        : plan_(std::move(plan)), term_(term), scale_(scale_of(loads, term)),
          nodes_(std::int64_t{loads.need()} * loads.quantum()), unit_count_(fewest.units),
          unit_total_(loads.units().size()) {
        for (const auto& group : plan_.groups) {
            for (auto u = group.first; u < group.first + group.size; ++u)
                add_unit(loads, u);
            ends_.push_back(units_.size());
        }
        worth_.resize(ends_.size());
        order_.resize(ends_.size());
        const auto hosts = std::int64_t{fewest.cost} * loads.quantum();
        settle(hosts);
        settle(hosts + loads.quantum());
        look(best_host_, best_hosts_);
    }

    Term term() const { return term_; }

    // Narrows to choices that cost no more than `most`.
    std::size_t narrow(std::int64_t most, GroupPlan& plan) const {
        most *= scale_;
        plan = plan_;
        if (bound_ > most) return 0;
        const auto exchanges = most_exchanges(most);
        keep_groups(most, plan);
        plan.kept.resize(unit_total_, 0);
        for (const auto& unit : units_)
            if (bound_ - best_use(unit, best_host_, best_hosts_).first > most) plan.kept[unit.unit] = 1;
        return std::min(exchanges, plan.swaps());
    }

private:
    struct Unit {
        std::uint32_t unit = 0;
        std::int64_t sound = 0; // hosts
        std::int64_t cost = 0;
        std::size_t avoided = 0, end = 0; // its hosts in avoided_
    };

    struct Avoided { // hosts that are used together, or not at all
        std::int64_t cost = 0, hosts = 0;
    };

    static std::int64_t scale_of(const Loads& loads, Term term) {
        if (term == Term::domains) return 256;
        return term == Term::left || (term == Term::avoidance && only_moves(loads)) ? 16 : 1;
    }

    // Whether only hosts new to the job are avoided, each at a cost of one.
    static bool only_moves(const Loads& loads) { return loads.keeps() && loads.snapshot().health.empty(); }

    void add_unit(const Loads& loads, std::uint32_t u) {
        const auto& load = loads.unit(u);
        if (load.quanta == 0) return;
        if (term_ == Term::domains) return add_domains(loads, u);
        Unit unit{u, load.candidates, 0, avoided_.size(), avoided_.size()};
        if (load.impaired != 0 && term_ != Term::units) {
            const auto values = loads.optional_avoidances(u);
            unit.sound -= static_cast<std::int64_t>(values.size());
            if (term_ == Term::avoidance && !values.empty()) {
                for (auto value = values.begin(); value != values.end();) {
                    const auto alike = std::count(value, values.end(), *value);
                    avoided_.push_back({alike * *value * scale_, alike});
                    value += alike;
                }
                most_avoided_ = std::max(most_avoided_, values.front() * scale_);
            }
            unit.end = avoided_.size();
        }
        if (term_ == Term::left) unit.cost = (load.free - unit.sound) * scale_;
        units_.push_back(unit);
    }

    // Each domain costs one; the largest is included with the unit.
    void add_domains(const Loads& loads, std::uint32_t u) {
        Unit unit{u, 0, scale_, avoided_.size(), avoided_.size()};
        for (const auto& part : unit_parts(loads, u)) {
            const std::int64_t size = part.candidates;
            if (size == 0) continue;
            if (unit.sound > 0) avoided_.push_back({scale_, std::min(size, unit.sound)});
            unit.sound = std::max(unit.sound, size);
        }
        unit.end = avoided_.size();
        units_.push_back(unit);
    }

    // The bound is rarely highest at a higher price of a host.
    std::int64_t highest_price() const {
        if (term_ == Term::units) return 1;
        if (term_ == Term::domains) return scale_;
        return scale_ > 1 ? 8 * scale_ : 2 * most_avoided_;
    }

    // Searches for the price of a host with the highest bound, if a unit costs the price of `hosts`.
    void settle(std::int64_t hosts) {
        std::int64_t low = 0, high = highest_price();
        while (low < high) {
            const auto price = (low + high + 1) / 2;
            const bool rises = look(price, hosts);
            if (bound_ > best_) {
                best_ = bound_;
                best_host_ = price;
                best_hosts_ = hosts;
            }
            if (rises)
                low = price;
            else
                high = price - 1;
        }
    }

    // The minimum cost of using a unit, and how many of its hosts that takes.
    std::pair<std::int64_t, std::int64_t> best_use(const Unit& unit, std::int64_t host,
                                                   std::int64_t hosts) const {
        auto cost = unit.cost + host * (hosts - unit.sound), used = unit.sound;
        for (auto i = unit.avoided; i < unit.end; ++i)
            if (const auto& alike = avoided_[i]; alike.cost < alike.hosts * host) {
                cost += alike.cost - alike.hosts * host;
                used += alike.hosts;
            }
        return {cost, used};
    }

    // Sets the bound at these prices, and its components. True: it rises with the price of a host.
    bool look(std::int64_t host, std::int64_t hosts) {
        std::size_t next = 0;
        for (std::size_t g = 0; g < ends_.size(); ++g) {
            std::int64_t sum = 0, rise = 0;
            for (; next < ends_[g]; ++next) {
                const auto [cost, used] = best_use(units_[next], host, hosts);
                if (cost >= 0) continue;
                sum += cost;
                rise += hosts - used;
            }
            worth_[g] = sum;
            order_[g] = {sum, rise};
        }
        std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(plan_.taken),
                         order_.end());
        chosen_ = 0;
        const auto above = nodes_ - hosts * unit_count_;
        auto rise = above;
        for (std::size_t i = 0; i < plan_.taken; ++i) {
            chosen_ += order_[i].first;
            rise += order_[i].second;
        }
        bound_ = host * above + chosen_;
        return rise > 0;
    }

    // The least increase of the bound by each exchange, best first, limits their number.
    std::size_t most_exchanges(std::int64_t most) const {
        auto bound = bound_ - chosen_; // for choices with a given number of exchanges, at first none
        std::vector<std::int64_t> out, in;
        for (std::size_t g = 0; g < worth_.size(); ++g) {
            bound += g < plan_.taken ? worth_[g] : 0;
            if (g >= plan_.taken)
                in.push_back(worth_[g]);
            else if (!plan_.groups[g].required)
                out.push_back(-worth_[g]);
        }
        std::sort(out.begin(), out.end());
        std::sort(in.begin(), in.end());
        std::size_t exchanges = 0;
        for (std::size_t r = 0; r < std::min(out.size(), in.size()); ++r) {
            bound += out[r] + in[r];
            if (bound <= most) exchanges = r + 1;
        }
        return exchanges;
    }

    // A group may be left out, or taken, if the bound with the next best in its place, or with it in place of
    // the last chosen one, is not too high.
    void keep_groups(std::int64_t most, GroupPlan& plan) const {
        const auto begin = order_.begin(), middle = begin + static_cast<std::ptrdiff_t>(plan_.taken);
        const auto last = std::max_element(begin, middle)->first;        // of the chosen ones
        const auto next = std::min_element(middle, order_.end())->first; // of the others
        std::vector<Group> fixed, loose, others;
        for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
            auto group = plan_.groups[g];
            if (g >= plan_.taken) {
                if (bound_ - last + std::max(last, worth_[g]) <= most) others.push_back(group);
                continue;
            }
            group.required = group.required || bound_ - std::min(next, worth_[g]) + next > most;
            (group.required ? fixed : loose).push_back(group);
        }
        plan.cheapest.resize(std::min(plan.cheapest.size(), 1 + std::min(loose.size(), others.size())));
        plan.groups = std::move(fixed);
        plan.groups.insert(plan.groups.end(), loose.begin(), loose.end());
        plan.groups.insert(plan.groups.end(), others.begin(), others.end());
    }

    const GroupPlan plan_;
    const Term term_;
    const std::int64_t scale_; // of costs and prices
    const std::int64_t nodes_, unit_count_;
    const std::size_t unit_total_;
    std::vector<Unit> units_;
    std::vector<std::size_t> ends_; // ends of each group's units
    std::vector<Avoided> avoided_;  // hosts of the units that are not required, the most expensive first
    std::int64_t most_avoided_ = 0;
    std::int64_t best_ = std::numeric_limits<std::int64_t>::min(), best_host_ = 0, best_hosts_ = 0;
    // From the last look:
    std::vector<std::int64_t> worth_;                          // by group
    std::vector<std::pair<std::int64_t, std::int64_t>> order_; // worth and rise, the chosen ones first
    std::int64_t chosen_ = 0, bound_ = 0;
};

UnitBound fewest_units(const Loads& loads, const GroupPlan& plan) {
    Stock stock;
    for (const auto& group : plan.groups) {
        for (auto u = group.first; u < group.first + group.size; ++u)
            stock.held.push_back(loads.unit(u).quanta);
        stock.ends.push_back(stock.held.size());
    }
    return fewest_units(stock, plan.taken, loads.need());
}

Narrowing::Narrowing(const Loads& loads, GroupPlan plan, UnitBound fewest, Budget& budget)
    : loads_(loads), plan_(std::move(plan)), fewest_(fewest), budget_(budget) {}

Narrowing::~Narrowing() = default;

std::size_t Narrowing::to_fewest_units() {
    if (plan_.taken >= plan_.groups.size()) return plan_.swaps();
    budget_.spend(loads_.units().size() * 10);
    return Relaxation(loads_, plan_, Term::units, fewest_).narrow(0, plan_);
}

std::size_t Narrowing::below(const Cost& known) {
    // Between avoidance and left-over hosts come broken units, which have no bound.
    if (plan_.taken >= plan_.groups.size() ||
        (known.domains == 0 && known.avoidance == 0 && known.broken > 0))
        return plan_.swaps();
    if (!relaxation_ || relaxation_->term() != term_of(known)) {
        budget_.spend(loads_.units().size() * 40);
        relaxation_ = std::make_unique<Relaxation>(loads_, plan_, term_of(known), fewest_);
    }
    return relaxation_->narrow(most_below(known), plan_);
}

} // namespace sched
