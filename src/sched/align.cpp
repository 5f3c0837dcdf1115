// Hosts whose kept rails meet at the same places are interchangeable as far as alignment goes. So: drop more
// and more rails from what is asked for; for each set that is kept, try each family of hosts that agree on
// it, with the ordinary search narrowed to that family. The first number of dropped rails that works is the
// least. Rails that agree on every host in play are dropped together, so that the sets are few.
#include "sched/align.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace sched {
namespace {

// Where hosts can be chosen from within a tier: a unit, a pod, an island, or everything.
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

// Rails of one scope that stand and fall together.
struct RailClass {
    std::vector<std::uint32_t> rails;
};

struct Field {
    std::vector<std::uint32_t> hosts; // candidates of the scope
    std::vector<RailClass> classes;
};

// The hosts' meeting points on one rail, numbered by first appearance: equal for rails that split the hosts
// in the same way.
std::vector<int> pattern(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                         std::uint32_t rail, Tier tier) {
    std::map<int, int> numbers;
    std::vector<int> out;
    out.reserve(hosts.size());
    for (const auto h : hosts) {
        const int value = index.meeting(h, rail, tier);
        out.push_back(value < 0 ? -1
                                : numbers.try_emplace(value, static_cast<int>(numbers.size())).first->second);
    }
    return out;
}

Field field_of(const Loads& loads, const Scope& scope, Tier tier) {
    const auto& index = loads.index();
    Field field;
    for (auto i = scope.first; i < scope.first + scope.size; ++i)
        if (loads.candidate(index.order[i])) field.hosts.push_back(index.order[i]);
    std::map<std::vector<int>, std::size_t> seen;
    for (std::uint32_t rail = 0; rail < index.rails; ++rail) {
        const auto [found, fresh] =
            seen.try_emplace(pattern(index, field.hosts, rail, tier), field.classes.size());
        if (fresh) field.classes.emplace_back();
        field.classes[found->second].rails.push_back(rail);
    }
    return field;
}

class Aligner {
public:
    Aligner(const Loads& loads, Found& found) : loads_(loads), found_(found) {
        for (const auto& scope : scopes_of(loads.index(), found.tier)) {
            auto field = field_of(loads, scope, found.tier);
            if (field.hosts.size() >= loads.request().nodes) fields_.push_back(std::move(field));
        }
    }

    void run() {
        for (std::uint32_t dropped = 0; dropped <= found_.misaligned && trials_ < most_trials; ++dropped) {
            for (const auto& field : fields_)
                choose_classes(field, 0, dropped);
            if (!best_) continue;
            best_->misaligned = misaligned_rails(loads_.index(), best_->hosts, best_->tier);
            found_ = std::move(*best_);
            return;
        }
    }

private:
    // Every way to drop exactly `rails` rails, in whole classes from `next` on.
    void choose_classes(const Field& field, std::size_t next, std::uint32_t rails) {
        if (next == field.classes.size()) {
            if (rails == 0) try_families(field);
            return;
        }
        if (trials_ >= most_trials) return;
        const auto& members = field.classes[next].rails;
        choose_classes(field, next + 1, rails); // kept
        if (members.size() > rails) return;
        kept_.resize(field.classes.size(), true);
        kept_[next] = false;
        choose_classes(field, next + 1, rails - static_cast<std::uint32_t>(members.size()));
        kept_[next] = true;
    }

    void try_families(const Field& field) {
        kept_.resize(field.classes.size(), true);
        std::map<std::vector<int>, std::vector<std::uint32_t>> families;
        for (const auto h : field.hosts) {
            std::vector<int> places;
            bool complete = true;
            for (std::size_t c = 0; c < field.classes.size(); ++c) {
                if (!kept_[c]) continue;
                for (const auto rail : field.classes[c].rails) {
                    places.push_back(loads_.index().meeting(h, rail, found_.tier));
                    complete = complete && places.back() >= 0;
                }
            }
            if (complete) families[std::move(places)].push_back(h);
        }
        for (const auto& [places, hosts] : families)
            if (hosts.size() >= loads_.request().nodes) try_hosts(hosts);
    }

    void try_hosts(const std::vector<std::uint32_t>& hosts) {
        if (++trials_ > most_trials) return;
        std::vector<std::uint8_t> allowed(loads_.index().order.size(), 0);
        for (const auto h : hosts)
            allowed[h] = 1;
        const Loads narrowed(loads_.index(), loads_.snapshot(), loads_.request(), &allowed);
        for (const auto h : loads_.request().required)
            if (!narrowed.candidate(h)) return;
        auto tried = search_tier(narrowed, found_.tier);
        if (!tried || tried->pods != found_.pods || tried->units != found_.units) return;
        const auto order = [](const Found& f) { return std::tuple(f.avoidance, f.broken, f.left); };
        if (best_ && order(*best_) <= order(*tried)) return;
        fill_hosts(narrowed, *tried);
        best_ = std::move(tried);
    }

    const Loads& loads_;
    Found& found_;
    std::vector<Field> fields_;
    std::vector<bool> kept_;
    std::optional<Found> best_;
    std::uint32_t trials_ = 0;
};

} // namespace

std::uint32_t misaligned_rails(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts,
                               Tier tier) {
    std::uint32_t misaligned = 0;
    for (std::uint32_t rail = 0; rail < index.rails; ++rail) {
        const int first = index.meeting(hosts.front(), rail, tier);
        const bool aligned = first >= 0 && std::all_of(hosts.begin(), hosts.end(), [&](std::uint32_t h) {
                                 return index.meeting(h, rail, tier) == first;
                             });
        if (!aligned) ++misaligned;
    }
    return misaligned;
}

void align(const Loads& loads, Found& found) {
    const auto& index = loads.index();
    if (index.regular && found.tier != everywhere) return;
    const bool all_regular = std::none_of(found.hosts.begin(), found.hosts.end(),
                                          [&](std::uint32_t h) { return index.irregular(h, found.tier); });
    if (all_regular && found.tier != everywhere) return;
    found.misaligned = misaligned_rails(index, found.hosts, found.tier);
    if (found.misaligned > 0) Aligner(loads, found).run();
}

} // namespace sched
