// Units: hosts with the same vector of leaves, despite dead and crossed cables.
#include "base/fnv.hpp"
#include "topo/derive_numbers.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace topo {
namespace {

// The leaves of all ports of all compute HCAs, with a mark after each rail.
std::vector<int> leaf_vector(const Fabric& fabric, const Host& host) {
    std::vector<int> leaves;
    for (const Hca& hca : host.hcas) {
        if (hca.rail == none) continue;
        leaves.push_back(-2 - hca.rail);
        for (const HcaPort& port : hca.ports)
            if (shapes_units(fabric, port.leaf)) leaves.push_back(port.leaf);
    }
    return leaves;
}

// Without the marks.
std::vector<int> leaves_of(const Fabric& fabric, const Host& host) {
    auto leaves = leaf_vector(fabric, host);
    std::erase_if(leaves, [](int leaf) { return leaf < 0; });
    return leaves;
}

struct LeavesHash {
    std::size_t operator()(const std::vector<int>& leaves) const {
        base::Fnv1a hash;
        for (const int leaf : leaves)
            hash.add(static_cast<std::uint32_t>(leaf));
        return hash.value() ^ (hash.value() >> 32);
    }
};

// Hosts with the same vector.
struct Group {
    std::vector<int> leaves; // without marks
    std::vector<int> rails;  // of each
    std::vector<std::uint32_t> hosts;
};

// Most hosts first, those without a leaf last.
std::vector<Group> equal_hosts(const Fabric& fabric) {
    std::vector<Group> groups;
    std::unordered_map<std::vector<int>, std::size_t, LeavesHash> group_of;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        const auto leaves = leaf_vector(fabric, fabric.hosts[h]);
        const auto [found, fresh] = group_of.try_emplace(leaves, groups.size());
        if (fresh) {
            auto& group = groups.emplace_back();
            int rail = none;
            for (const int leaf : leaves) {
                if (leaf < 0) {
                    rail = -2 - leaf;
                    continue;
                }
                group.leaves.push_back(leaf);
                group.rails.push_back(rail);
            }
        }
        groups[found->second].hosts.push_back(h);
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        if (a.leaves.empty() != b.leaves.empty()) return b.leaves.empty();
        if (a.hosts.size() != b.hosts.size()) return a.hosts.size() > b.hosts.size();
        return a.leaves.size() > b.leaves.size();
    });
    return groups;
}

class Grouping {
public:
    explicit Grouping(Fabric& fabric)
        : fabric_(fabric), claims_(fabric.switches.size()), numbering_(fabric), ports_(fabric) {}

    void run() {
        fabric_.units.clear();
        const auto groups = equal_hosts(fabric_);
        std::vector<std::uint32_t> leafless;
        std::vector<const Group*> unsure;
        for (const Group& group : groups) {
            if (group.leaves.empty())
                leafless.insert(leafless.end(), group.hosts.begin(), group.hosts.end());
            else if (is_unsure(group))
                unsure.push_back(&group);
            else
                place(group);
        }
        for (const Group* group : unsure)
            place(*group);
        const auto torn = take_torn();
        claim_by_cables();
        note_sizes();
        for (const auto& strays : {torn, leafless})
            for (const auto h : strays)
                place_stray(h);
        for (auto h = leafless.rbegin(); h != leafless.rend(); ++h) // later ones may have a unit by then
            if (fabric_.hosts[*h].unit == none) place_stray(*h);
        place_by_number();
        drop_empty();
    }

    // Hosts that may be in either of two units: a host of the other unit.
    const std::map<std::uint32_t, std::uint32_t>& undecided() const { return undecided_; }

private:
    // Rails that none of the unit's hosts has had so far are evidence neither for nor against it.
    std::size_t comparable(const Group& group, int unit) const {
        const auto& known = fabric_.units[at(unit)].leaves;
        return static_cast<std::size_t>(std::count_if(group.rails.begin(), group.rails.end(),
                                                      [&](int r) { return known[at(r)] != none; }));
    }
    bool claims(int unit, int leaf) const {
        const auto& units = claims_[at(leaf)];
        return std::find(units.begin(), units.end(), unit) != units.end();
    }
    void claim(int unit, int leaf) {
        if (!claims(unit, leaf)) claims_[at(leaf)].push_back(unit);
    }
    Tally votes_of(const std::vector<int>& leaves) const {
        Tally votes;
        for (const int leaf : leaves)
            for (const int unit : claims_[at(leaf)])
                votes.add(unit);
        return votes;
    }

    // Whether half of its cables are on leaves of a unit with at least as many hosts, but not enough to join
    // it: once all others are placed, more is known about that unit's leaves.
    bool is_unsure(const Group& group) const {
        bool unsure = false;
        for (const auto& [unit, count] : votes_of(group.leaves).counts) {
            const auto of = comparable(group, unit);
            if (count * 3 >= of * 2) return false;
            unsure =
                unsure || (count * 2 >= of && group.hosts.size() <= fabric_.units[at(unit)].hosts.size());
        }
        return unsure;
    }

    // Into the unit on whose leaves most of its cables are, or into a new one.
    void place(const Group& group) {
        int joined = none;
        std::size_t best = 0;
        for (const auto& [unit, count] : votes_of(group.leaves).counts)
            if (count > best && count * 3 >= comparable(group, unit) * 2) {
                joined = unit;
                best = count;
            }
        const bool fresh = joined == none;
        if (fresh) {
            joined = static_cast<int>(fabric_.units.size());
            fabric_.units.emplace_back().leaves.assign(at(fabric_.rails), none);
        }
        Unit& unit = fabric_.units[at(joined)];
        // A rail missing in the majority is learnt from a host that has it on an unclaimed leaf;
        // derive_unit_leaves() makes the final decision.
        const Host& first = fabric_.hosts[group.hosts.front()];
        for (std::size_t r = 0; r < first.leaves.size(); ++r) {
            const int leaf = first.leaves[r];
            if (shapes_units(fabric_, leaf) && unit.leaves[r] == none &&
                (fresh || claims_[at(leaf)].empty() || claims(joined, leaf)))
                unit.leaves[r] = leaf;
        }
        // If the unit has its own leaf for the rail, another leaf comes from a wrong cable, and belongs to a
        // later unit.
        for (std::size_t i = 0; i < group.leaves.size(); ++i) {
            const int leaf = group.leaves[i], known = unit.leaves[at(group.rails[i])];
            const bool own = known != none && known != leaf && claims(joined, known);
            if (fresh || (claims_[at(leaf)].empty() && !own)) claim(joined, leaf);
        }
        for (const auto h : group.hosts)
            put(h, joined);
    }

    static bool few(std::size_t hosts, std::size_t of) { return hosts * 4 <= of || (hosts == 1 && of > 1); }

    std::size_t largest() const {
        std::size_t most = 0;
        for (const Unit& unit : fabric_.units)
            most = std::max(most, unit.hosts.size());
        return most;
    }

    // From now on a leaf is claimed by the unit with most cables on it.
    void claim_by_cables() {
        const auto cables = cables_by_unit(fabric_);
        for (std::size_t s = 0; s < cables.size(); ++s) {
            std::size_t most = 0;
            for (const auto& [unit, count] : cables[s].counts)
                most = std::max(most, count);
            claims_[s].clear();
            for (const auto& [unit, count] : cables[s].counts)
                if (count == most) claims_[s].push_back(unit);
        }
    }

    // Removes hosts from small units created by wrong cables: at least half of a host's cables are on leaves
    // of one much larger unit, or none is on a leaf that only belongs to its own unit.
    std::vector<std::uint32_t> take_torn() {
        claim_by_cables();
        std::vector<std::uint32_t> torn;
        const auto most = largest();
        for (int u = 0; at(u) < fabric_.units.size(); ++u) {
            const auto& hosts = fabric_.units[at(u)].hosts;
            if (!few(hosts.size(), most)) continue;
            std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(torn),
                         [&](std::uint32_t h) { return is_torn(h, u); });
        }
        for (const auto h : torn)
            std::erase(fabric_.units[at(std::exchange(fabric_.hosts[h].unit, none))].hosts, h);
        return torn;
    }
    bool is_torn(std::uint32_t h, int own) const {
        const auto size = fabric_.units[at(own)].hosts.size();
        const auto leaves = leaves_of(fabric_, fabric_.hosts[h]);
        std::size_t greatest = 0;
        for (const auto& [unit, count] : votes_of(leaves).counts) {
            const auto of = fabric_.units[at(unit)].hosts.size();
            if (unit == own) continue;
            if (count * 2 >= leaves.size() && few(size, of)) return true;
            greatest = std::max(greatest, of);
        }
        return few(size, greatest) && std::all_of(leaves.begin(), leaves.end(), [&](int leaf) {
                   return claims_[at(leaf)].size() > (claims(own, leaf) ? 1U : 0U);
               });
    }

    // Which units are one host short of the most common size; of equally common sizes, the largest.
    void note_sizes() {
        std::map<std::size_t, std::size_t> units;
        for (const Unit& unit : fabric_.units)
            if (!unit.hosts.empty()) ++units[unit.hosts.size()];
        std::size_t usual = 0;
        for (const auto& [size, count] : units)
            if (usual == 0 || count >= units[usual]) usual = size;
        for (const Unit& unit : fabric_.units)
            lacks_one_.push_back(unit.hosts.size() + 1 == usual);
    }

    // A host divided between units, or without a cable in a leaf: most cables decide, then those whose ports
    // are in numerical order, then its neighbours by number, then which unit lacks one host. If nothing
    // decides, it is put into the first unit, and recorded as undecided.
    void place_stray(std::uint32_t h) {
        const auto around = numbering_.around(h, 2);
        const auto near = [&](int unit) {
            for (const auto& [other, count] : around.counts)
                if (other == unit) return count;
            return std::size_t{0};
        };
        const auto in_order = ports_.in_order(h);
        int chosen = none, as_good = none;
        std::tuple<std::size_t, std::ptrdiff_t, std::size_t, bool> best{0, 0, 0, false};
        for (const auto& [unit, count] : votes_of(leaves_of(fabric_, fabric_.hosts[h])).counts) {
            const auto ordered = std::count_if(in_order.begin(), in_order.end(),
                                               [&, u = unit](int leaf) { return claims(u, leaf); });
            const std::tuple votes{count, ordered, near(unit), bool{lacks_one_[at(unit)]}};
            if (votes < best) continue;
            as_good = votes > best ? none : std::max(chosen, unit);
            chosen = votes > best ? unit : std::min(chosen, unit);
            best = votes;
        }
        if (chosen == none && computes(fabric_.hosts[h])) chosen = numbering_.between(h);
        if (chosen == none && computes(fabric_.hosts[h])) chosen = short_of_one(numbering_.around(h, 1));
        if (chosen == none) return;
        put(h, chosen);
        if (as_good != none) undecided_.emplace(h, fabric_.units[at(as_good)].hosts.front());
    }

    // Among the units of the next hosts, where units meet or a series ends, the one with the fewest hosts, if
    // it is smaller than the largest unit.
    int short_of_one(const Tally& beside) const {
        int chosen = none;
        std::size_t fewest = largest();
        for (const auto& [unit, count] : beside.counts) {
            const auto size = fabric_.units[at(unit)].hosts.size();
            if (size > fewest) continue;
            chosen = size == fewest ? none : unit;
            fewest = size;
        }
        return chosen;
    }
    static bool computes(const Host& host) {
        return std::any_of(host.hcas.begin(), host.hcas.end(), [](const Hca& hca) {
            return hca.rail != none && std::any_of(hca.ports.begin(), hca.ports.end(),
                                                   [](const HcaPort& port) { return port.leaf != none; });
        });
    }

    // Hosts with a single cable: only the port and the number can show that it is in another unit's leaf;
    // they are used if nearly all such hosts are in order.
    void place_by_number() {
        std::vector<std::pair<std::uint32_t, int>> moves;
        std::size_t judged = 0;
        for (std::uint32_t h = 0; h < fabric_.hosts.size(); ++h) {
            const Host& host = fabric_.hosts[h];
            if (host.unit == none || cables(host) != 1) continue;
            int unit = ports_.unit_of(h);
            if (unit == none) unit = numbering_.between(h);
            if (unit == none) continue;
            ++judged;
            if (unit != host.unit && rail_of_cable_known(host, unit)) moves.emplace_back(h, unit);
        }
        if (moves.size() * 10 > judged) return;
        for (const auto& [h, unit] : moves) {
            auto& from = fabric_.units[at(fabric_.hosts[h].unit)].hosts;
            from.erase(std::find(from.begin(), from.end(), h));
            put(h, unit);
            undecided_.erase(h);
        }
    }
    static std::size_t cables(const Host& host) {
        std::size_t count = 0;
        for (const Hca& hca : host.hcas)
            if (hca.rail != none)
                for (const HcaPort& port : hca.ports)
                    count += port.leaf != none ? 1 : 0;
        return count;
    }
    bool rail_of_cable_known(const Host& host, int unit) const {
        for (std::size_t r = 0; r < host.leaves.size(); ++r)
            if (host.leaves[r] != none) return fabric_.units[at(unit)].leaves[r] != none;
        return false;
    }
    void drop_empty() {
        std::vector<int> moved;
        int kept = 0;
        for (const Unit& unit : fabric_.units)
            moved.push_back(unit.hosts.empty() ? none : kept++);
        std::erase_if(fabric_.units, [](const Unit& unit) { return unit.hosts.empty(); });
        for (Host& host : fabric_.hosts)
            if (host.unit != none) host.unit = moved[at(host.unit)];
    }

    void put(std::uint32_t h, int unit) {
        fabric_.units[at(unit)].hosts.push_back(h);
        fabric_.hosts[h].unit = unit;
    }

    Fabric& fabric_;
    std::vector<std::vector<int>> claims_; // for each switch, the units whose leaf it is, the earliest first
    std::vector<bool> lacks_one_;          // by unit
    std::map<std::uint32_t, std::uint32_t> undecided_;
    Numbering numbering_;
    PortOrder ports_;
};

} // namespace

void derive_units(Fabric& fabric) {
    Grouping grouping(fabric);
    grouping.run();
    for (Unit& unit : fabric.units)
        std::sort(unit.hosts.begin(), unit.hosts.end());
    std::sort(fabric.units.begin(), fabric.units.end(),
              [](const Unit& a, const Unit& b) { return a.hosts.front() < b.hosts.front(); });
    for (std::size_t u = 0; u < fabric.units.size(); ++u) {
        fabric.units[u].name = fmt::format("su{}", u + 1);
        for (const auto h : fabric.units[u].hosts)
            fabric.hosts[h].unit = static_cast<int>(u);
    }
    for (const auto& [h, of_other] : grouping.undecided())
        fabric.hosts[h].other_unit = fabric.hosts[of_other].unit;
}

} // namespace topo
