// Tiers of switches, from the hosts upward.
#include "topo/derive_parts.hpp"
#include "topo/names.hpp"
#include "topo/numbered_name.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace topo {
namespace {

// The number of compute and storage HCAs on each switch, and of their hosts.
struct Load {
    std::size_t compute = 0, storage = 0, hosts = 0;
    std::size_t hcas() const { return compute + storage; }
};

std::vector<Load> switch_loads(const Fabric& fabric) {
    std::vector<Load> loads(fabric.switches.size());
    std::vector<const Host*> last(loads.size(), nullptr); // the last one counted
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports) {
                if (port.leaf == none) continue;
                Load& load = loads[at(port.leaf)];
                ++(hca.role == Role::compute ? load.compute : load.storage);
                load.hosts += std::exchange(last[at(port.leaf)], &host) == &host ? 0 : 1;
            }
    return loads;
}

// Whether a switch belongs to a tier although this is not visible from below: a leaf whose hosts are off, or
// a spine above such leaves. It does if most of its links go where those of a switch of the tier go. In a
// fabric with a single pod, this also applies to the switches above: then names decide, if they are
// systematic, else only a switch with exactly the same uplinks belongs to the tier.
class Kin {
public:
    // `uppers`: the tier of the switches whose links are compared; none: all.
    Kin(const Fabric& fabric, const Neighbours& neighbours, const std::vector<int>& members, int uppers)
        : fabric_(fabric), neighbours_(neighbours), members_(members.begin(), members.end()),
          uppers_(uppers) {
        for (const int s : members) {
            shapes_.insert(name_shape(fabric.switches[at(s)].name));
            upward_.insert(upward(s));
        }
        systematic_ = !members.empty() && shapes_.size() * 8 <= std::max<std::size_t>(members.size(), 8);
    }

    // `likely`: there is other evidence besides its links.
    bool holds(int s, bool likely) const {
        const auto own = upward(s);
        if (own.empty()) return false;
        if (!systematic_ && !likely) return upward_.contains(own);
        if (systematic_ && !shapes_.contains(name_shape(fabric_.switches[at(s)].name))) return false;
        std::unordered_map<int, std::size_t> shared; // by member: upper switches shared with this switch
        std::vector<int> uppers = own;
        uppers.erase(std::unique(uppers.begin(), uppers.end()), uppers.end());
        std::size_t most = 0;
        for (const int upper : uppers) {
            std::unordered_set<int> seen;
            neighbours_.each(upper, [&](int n) {
                if (n != s && members_.contains(n) && seen.insert(n).second)
                    most = std::max(most, ++shared[n]);
            });
        }
        return most * 2 > uppers.size();
    }

private:
    std::vector<int> upward(int s) const {
        std::vector<int> all;
        neighbours_.each(s, [&](int n) {
            if (uppers_ == none || fabric_.switches[at(n)].tier == uppers_) all.push_back(n);
        });
        std::sort(all.begin(), all.end());
        return all;
    }

    const Fabric& fabric_;
    const Neighbours& neighbours_;
    std::unordered_set<int> members_;
    int uppers_;
    std::set<std::string> shapes_;
    std::set<std::vector<int>> upward_;
    bool systematic_;
};

// Finds tier 0. Switches with many HCAs are leaves, unless they are above others. One with few (less than an
// eighth of its links) is a leaf if its uplinks are like those of others, or if it has no leaf as a neighbour
// and nothing else shows its tier.
class LeafFinder {
public:
    LeafFinder(const Fabric& fabric, const Neighbours& neighbours)
        : fabric_(fabric), neighbours_(neighbours), loads_(switch_loads(fabric)) {}

    std::vector<int> find() const {
        const auto computes = computing();
        Marks plain(loads_.size(), 0);
        std::vector<int> many;
        for (int s = 0; at(s) < loads_.size(); ++s)
            if (computes[at(s)] != 0 || (loads_[at(s)].compute == 0 && loads_[at(s)].storage > 0 &&
                                         !thin(s) && !above(s, computes))) {
                plain[at(s)] = 1;
                many.push_back(s);
            }
        const Kin kin(fabric_, neighbours_, many, none);
        // A switch two links from a leaf is a neighbour of a spine, as leaves are: a core with a host plugged
        // in.
        const auto behind = [&](int s) {
            bool found = false;
            neighbours_.each(s, [&](int n) { found = found || links_to(n, plain) > 0; });
            return found;
        };
        std::vector<int> leaves = many;
        for (int s = 0; at(s) < loads_.size(); ++s) {
            if (plain[at(s)] != 0 || loads_[at(s)].hcas() == 0 || !thin(s)) continue;
            const bool alone = links_to(s, plain) == 0 && !behind(s);
            if (kin.holds(s, true) || (alone && (loads_[at(s)].compute > 0 || many.empty())))
                leaves.push_back(s);
        }
        std::sort(leaves.begin(), leaves.end());
        return leaves;
    }

private:
    using Marks = std::vector<char>; // by switch

    bool thin(int s) const {
        const auto hcas = loads_[at(s)].hcas();
        return hcas * 8 < hcas + neighbours_.count(s);
    }
    std::size_t links_to(int s, const Marks& marked) const {
        std::size_t links = 0;
        neighbours_.each(s, [&](int n) { links += n != s && marked[at(n)] != 0 ? 1U : 0U; });
        return links;
    }
    // Most links of a spine with hosts lead to leaves; a stray cable of a leaf does, too.
    bool above(int s, const Marks& marked) const {
        const auto links = links_to(s, marked);
        return links * 3 > neighbours_.count(s) && links * 8 > loads_[at(s)].hcas();
    }

    // Switches with many compute HCAs, except spines into which part of a unit is plugged: those have fewer
    // hosts than most such switches next to them and are next to more of them than these are; so are spines
    // without hosts, or with few. A whole unit there was built like this.
    Marks computing() const {
        Marks computes(loads_.size(), 0);
        for (int s = 0; at(s) < loads_.size(); ++s)
            computes[at(s)] = loads_[at(s)].compute > 0 && !thin(s) ? 1 : 0;
        auto leaves = computes;
        for (int s = 0; at(s) < loads_.size(); ++s)
            if (computes[at(s)] != 0 && above(s, computes) && is_spine(s, computes)) leaves[at(s)] = 0;
        return leaves;
    }
    std::unordered_set<int> beside(int s, const Marks& marked) const {
        std::unordered_set<int> found;
        neighbours_.each(s, [&](int n) {
            if (n != s && marked[at(n)] != 0) found.insert(n);
        });
        return found;
    }
    bool is_spine(int s, const Marks& marked) const {
        const auto below = beside(s, marked);
        const auto lower = std::count_if(below.begin(), below.end(), [&](int n) {
            return loads_[at(s)].hosts < loads_[at(n)].hosts && beside(n, marked).size() < below.size();
        });
        return static_cast<std::size_t>(lower) * 2 > below.size() && has_twin(s, below);
    }
    // Whether a switch with few or no HCAs is above most of the switches that this one is above.
    bool has_twin(int s, const std::unordered_set<int>& below) const {
        std::unordered_map<int, std::size_t> shared; // by the other switch
        for (const int leaf : below) {
            std::unordered_set<int> seen;
            neighbours_.each(leaf, [&](int n) {
                if (n != s && thin(n) && seen.insert(n).second) ++shared[n];
            });
        }
        return std::any_of(shared.begin(), shared.end(),
                           [&](const auto& other) { return other.second * 2 > below.size(); });
    }

    const Fabric& fabric_;
    const Neighbours& neighbours_;
    std::vector<Load> loads_; // by switch
};

// Removes switches that at most one cable in eight puts above the known tiers: a core with a cable to a leaf.
// Most of its cables lead to others in this set that have more.
void take_out_strayed(const Fabric& fabric, const Neighbours& neighbours, std::vector<int>& above) {
    std::unordered_set<int> firm;
    for (const int s : above) {
        std::size_t below = 0;
        neighbours.each(s, [&](int n) { below += fabric.switches[at(n)].tier != none ? 1U : 0U; });
        if (below * 8 > neighbours.count(s)) firm.insert(s);
    }
    std::erase_if(above, [&](int s) {
        if (firm.contains(s)) return false;
        std::size_t beside = 0;
        neighbours.each(s, [&](int n) { beside += firm.contains(n) ? 1U : 0U; });
        return beside * 2 > neighbours.count(s);
    });
}

} // namespace

void derive_tiers(Fabric& fabric, const Neighbours& neighbours) {
    for (Switch& s : fabric.switches)
        s.tier = s.pod = none;
    std::vector<std::vector<int>> tiers{LeafFinder(fabric, neighbours).find()};
    for (const int s : tiers[0])
        fabric.switches[at(s)].tier = 0;
    const auto put = [&](int s, int tier) {
        fabric.switches[at(s)].tier = tier;
        tiers[at(tier)].push_back(s);
    };
    for (int tier = 1; !tiers.back().empty(); ++tier) {
        std::vector<int> above;
        for (const int s : tiers[at(tier - 1)])
            neighbours.each(s, [&](int n) {
                if (fabric.switches[at(n)].tier == none) above.push_back(n);
            });
        std::sort(above.begin(), above.end());
        above.erase(std::unique(above.begin(), above.end()), above.end());
        take_out_strayed(fabric, neighbours, above);
        tiers.emplace_back();
        if (tier >= 2) {
            const Kin kin(fabric, neighbours, tiers[at(tier - 2)], tier - 1);
            std::vector<int> siblings;
            std::copy_if(above.begin(), above.end(), std::back_inserter(siblings),
                         [&](int s) { return kin.holds(s, false); });
            for (const int s : siblings)
                put(s, tier - 2);
            // The switches below a spine without hosts are its leaves, and so on.
            for (int lower = tier - 3; lower >= 0 && !siblings.empty(); --lower) {
                std::vector<int> below;
                for (const int s : siblings)
                    neighbours.each(s, [&](int n) {
                        if (fabric.switches[at(n)].tier != none) return;
                        put(n, lower);
                        below.push_back(n);
                    });
                siblings = std::move(below);
            }
        }
        for (const int s : above)
            if (fabric.switches[at(s)].tier == none) put(s, tier);
    }
    tiers.pop_back();
    fabric.tiers = static_cast<int>(tiers.size());
}

} // namespace topo
