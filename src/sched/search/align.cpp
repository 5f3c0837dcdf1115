// Hosts whose kept rails meet at the same places are interchangeable for alignment. So: require fewer and
// fewer rails; for each set of kept rails, try each family of hosts that agree on it, using the ordinary
// search narrowed to that family. The first number of dropped rails that works is the minimum. Rails that
// agree on every candidate are dropped together, so there are few sets; one family of each unit (pod, island)
// is tried at the same time, as the search stays within one of them anyway. In the usual case, where the only
// irregularity is that hosts lack rails, align_lacking() does the same without examining the regular hosts.
#include "sched/search/align.hpp"

#include "sched/search/lacking.hpp"
#include "sched/search/nested_fit.hpp"
#include "sched/search/search_tier.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace sched {
namespace {

// The range from which hosts can be chosen within a tier: a unit, a pod, an island, or everything.
struct Scope {
    std::uint32_t first = 0; // positions in PlacementIndex::order
    std::uint32_t size = 0;
};

std::vector<Scope> scopes_of(const PlacementIndex& index, Tier tier) {
    std::vector<Scope> scopes;
    if (tier == one_unit)
        for (const auto& unit : index.units)
            scopes.push_back({unit.first, unit.size});
    else if (tier == one_pod)
        for (const auto& pod : index.pods)
            scopes.push_back({index.units[pod.first].first, pod.hosts});
    else if (tier == one_island)
        for (const auto& island : index.islands)
            scopes.push_back({index.units[index.pods[island.first].first].first, island.hosts});
    else
        scopes.push_back({0, static_cast<std::uint32_t>(index.order.size())});
    return scopes;
}

// The candidates of a scope that meet at the same places on every rail.
struct Kind {
    std::vector<int> places; // by rail
    std::vector<std::uint32_t> hosts;
};

struct Field {
    std::vector<Kind> kinds;
    std::vector<std::vector<std::uint32_t>> classes; // rails that split the kinds in the same way
    std::size_t hosts = 0;
};

std::vector<Kind> kinds_of(const Loads& loads, const Scope& scope, Tier tier) {
    const auto& index = loads.index();
    std::vector<Kind> kinds;
    std::map<std::vector<int>, std::size_t> seen;
    auto regular = static_cast<std::size_t>(-1); // the kind of the regular hosts
    for (auto i = scope.first; i < scope.first + scope.size; ++i) {
        const auto h = index.order[i];
        if (!loads.candidate(h)) continue;
        const bool is_regular = tier != everywhere && !index.irregular(h, tier);
        if (!is_regular || regular == static_cast<std::size_t>(-1)) {
            std::vector<int> places;
            for (std::uint32_t rail = 0; rail < index.rails; ++rail)
                places.push_back(index.meeting(h, rail, tier));
            const auto [found, fresh] = seen.try_emplace(std::move(places), kinds.size());
            if (fresh) kinds.push_back({found->first, {}});
            if (is_regular) regular = found->second;
            kinds[found->second].hosts.push_back(h);
        } else {
            kinds[regular].hosts.push_back(h);
        }
    }
    return kinds;
}

Field field_of(const Loads& loads, const Scope& scope, Tier tier) {
    Field field;
    field.kinds = kinds_of(loads, scope, tier);
    for (const auto& kind : field.kinds)
        field.hosts += kind.hosts.size();
    std::map<std::vector<int>, std::size_t> seen;
    for (std::uint32_t rail = 0; rail < loads.index().rails; ++rail) {
        std::map<int, int> numbers; // places, numbered by first appearance
        std::vector<int> split;
        for (const auto& kind : field.kinds) {
            const int place = kind.places[rail];
            const auto next = static_cast<int>(numbers.size());
            split.push_back(place < 0 ? -1 : numbers.try_emplace(place, next).first->second);
        }
        const auto [found, fresh] = seen.try_emplace(std::move(split), field.classes.size());
        if (fresh) field.classes.emplace_back();
        field.classes[found->second].push_back(rail);
    }
    return field;
}

// Kinds that agree on the kept rails.
struct Family {
    std::vector<std::size_t> kinds;
    std::size_t hosts = 0;
};

// The families of a field with exactly `dropped` rails given up, largest first, none smaller than the gang.
class Families {
public:
    Families(const Field& field, std::uint32_t nodes, std::uint32_t dropped, Budget& budget)
        : field_(field), nodes_(nodes), budget_(budget), kept_(field.classes.size(), true) {
        choose(0, dropped);
        std::stable_sort(list.begin(), list.end(),
                         [](const auto& a, const auto& b) { return a.hosts > b.hosts; });
    }
    std::vector<Family> list;

private:
    // Every way to drop that many rails, in whole classes from `next` on.
    void choose(std::size_t next, std::uint32_t rails) {
        if (next == field_.classes.size()) {
            if (rails == 0) collect();
            return;
        }
        if (list.size() >= most_families) budget_.cut();
        if (list.size() >= most_families || !budget_.spend(10)) return;
        choose(next + 1, rails);
        const auto members = static_cast<std::uint32_t>(field_.classes[next].size());
        if (members > rails) return;
        kept_[next] = false;
        choose(next + 1, rails - members);
        kept_[next] = true;
    }

    void collect() {
        if (!budget_.spend(field_.kinds.size() * (50 + 20 * field_.classes.size()))) return;
        std::map<std::vector<int>, Family> families; // by the places where the kept classes meet
        for (std::size_t k = 0; k < field_.kinds.size(); ++k) {
            std::vector<int> places;
            bool complete = true;
            for (std::size_t c = 0; c < field_.classes.size(); ++c) {
                if (!kept_[c]) continue;
                places.push_back(field_.kinds[k].places[field_.classes[c].front()]);
                complete = complete && places.back() >= 0;
            }
            if (!complete) continue;
            auto& family = families[std::move(places)];
            family.kinds.push_back(k);
            family.hosts += field_.kinds[k].hosts.size();
        }
        for (auto& [places, family] : families)
            if (family.hosts >= nodes_) list.push_back(std::move(family));
    }

    static constexpr std::size_t most_families = 1024;
    const Field& field_;
    const std::uint32_t nodes_;
    Budget& budget_;
    std::vector<bool> kept_; // by class
};

class Aligner {
public:
    Aligner(const Loads& loads, Found& found, Budget& budget)
        : loads_(loads), found_(found), budget_(budget) {
        const auto& index = loads.index();
        const auto places =
            found.tier == everywhere ? index.order.size() : index.irregular_hosts[found.tier].size();
        if (!budget.spend(10 * index.order.size() + places * (300 + 20 * index.rails))) return;
        for (const auto& scope : scopes_of(loads.index(), found.tier)) {
            auto field = field_of(loads, scope, found.tier);
            if (field.hosts >= loads.request().nodes) fields_.push_back(std::move(field));
        }
    }

    void run() {
        for (std::uint32_t dropped = 0; dropped <= found_.misaligned; ++dropped) {
            std::vector<std::vector<Family>> families; // by field
            std::size_t rounds = 0;
            for (const auto& field : fields_) {
                families.push_back(Families(field, loads_.request().nodes, dropped, budget_).list);
                rounds = std::max(rounds, families.back().size());
            }
            for (std::size_t round = 0; round < rounds && budget_.spend(20 * loads_.index().order.size());
                 ++round)
                try_round(families, round);
            if (budget_.left() == 0 && !best_) return;
            if (!best_) continue;
            best_->misaligned = misaligned_rails(loads_.index(), best_->hosts, best_->tier);
            found_ = std::move(*best_);
            return;
        }
    }

private:
    void try_round(const std::vector<std::vector<Family>>& families, std::size_t round) {
        std::vector<std::uint8_t> allowed(loads_.index().order.size(), 0);
        for (std::size_t f = 0; f < fields_.size(); ++f) {
            if (round >= families[f].size()) continue;
            for (const auto k : families[f][round].kinds)
                for (const auto h : fields_[f].kinds[k].hosts)
                    allowed[h] = 1;
        }
        const Loads narrowed(loads_.index(), loads_.snapshot(), loads_.request(), &allowed, loads_.keeps());
        auto tried = search_tier(narrowed, found_.tier, budget_, {found_.pods, found_.units});
        if (!tried || tried->pods != found_.pods || tried->units != found_.units ||
            tried->domains != found_.domains)
            return;
        if (best_ && behind_rails(*best_) <= behind_rails(*tried)) return;
        fill_hosts(narrowed, *tried);
        best_ = std::move(tried);
    }

    const Loads& loads_;
    Found& found_;
    Budget& budget_;
    std::vector<Field> fields_;
    std::optional<Found> best_;
};

} // namespace

std::vector<std::uint32_t> telling_hosts(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                                         Tier tier) {
    if (tier == everywhere) return hosts;
    std::vector<std::uint32_t> telling;
    bool regular = false;
    for (const auto h : hosts) {
        if (!index.irregular(h, tier) && std::exchange(regular, true)) continue;
        telling.push_back(h);
    }
    return telling;
}

std::uint32_t misaligned_rails(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                               Tier tier) {
    const auto telling = telling_hosts(index, hosts, tier);
    std::uint32_t misaligned = 0;
    for (std::uint32_t rail = 0; rail < index.rails; ++rail) {
        const int first = index.meeting(telling.front(), rail, tier);
        const bool aligned = first >= 0 && std::all_of(telling.begin(), telling.end(), [&](std::uint32_t h) {
                                 return index.meeting(h, rail, tier) == first;
                             });
        if (!aligned) ++misaligned;
    }
    return misaligned;
}

void align(const Loads& loads, Found& found, Budget& budget) {
    const auto& index = loads.index();
    if (index.regular && found.tier != everywhere) return;
    const bool all_regular = std::none_of(found.hosts.begin(), found.hosts.end(),
                                          [&](std::uint32_t h) { return index.irregular(h, found.tier); });
    if (all_regular && found.tier != everywhere) return;
    found.misaligned = misaligned_rails(index, found.hosts, found.tier);
    if (found.misaligned == 0) return;
    const bool nested = is_nested(index, loads.steps(), loads.request().span);
    if (nested || !align_lacking(loads, found, budget)) Aligner(loads, found, budget).run();
}

} // namespace sched
