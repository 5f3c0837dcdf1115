#include "sched/ask/index.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace sched {
namespace {

using topo::none;

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

// Disjoint sets; the representative is the smallest member.
class Sets {
public:
    explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
    std::size_t find(std::size_t x) {
        while (parent_[x] != x)
            x = parent_[x] = parent_[parent_[x]];
        return x;
    }
    void join(std::size_t a, std::size_t b) {
        a = find(a);
        b = find(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<std::size_t> parent_;
};

struct Builder {
    const topo::Fabric& fabric;
    PlacementIndex& index;
    std::vector<std::uint64_t> pod_key;    // by host
    std::vector<std::uint64_t> unit_key;   // by host
    std::vector<std::size_t> island_key;   // by host
    std::vector<std::uint32_t> domain_key; // by host; hosts without a domain last

    // The pod of all the host's leaves, or none.
    int pod_of_leaves(const topo::Host& host) const {
        int pod = none;
        for (const int leaf : host.leaves) {
            if (leaf == none) continue;
            const int here = fabric.switches[at(leaf)].pod;
            if (here == none || (pod != none && here != pod)) return none;
            pod = here;
        }
        return pod;
    }

    // Keys put the fabric's own units and pods first, then the generated ones by host (or unit).
    void find_keys() {
        constexpr std::uint64_t made_up = std::uint64_t{1} << 40;
        const auto hosts = fabric.hosts.size();
        unit_key.resize(hosts);
        pod_key.resize(hosts);
        for (std::size_t h = 0; h < hosts; ++h) {
            const auto& host = fabric.hosts[h];
            const bool has_unit = host.unit != none;
            unit_key[h] = has_unit ? static_cast<std::uint64_t>(host.unit) : made_up + h;
            const int pod = has_unit ? fabric.units[at(host.unit)].pod : pod_of_leaves(host);
            if (pod != none)
                pod_key[h] = static_cast<std::uint64_t>(pod);
            else
                pod_key[h] = (has_unit ? made_up : 2 * made_up) + unit_key[h];
        }
    }

    // Hosts connected by links, over any number of switches. Without links (a hand-written fabric) all are
    // one island. A pod is never split: its hosts are in its island.
    void find_islands() {
        const auto hosts = fabric.hosts.size();
        island_key.assign(hosts, 0);
        if (fabric.links.empty()) return;
        Sets sets(hosts + fabric.switches.size());
        const auto node = [&](const topo::End& end) {
            return end.host != none ? at(end.host) : hosts + at(end.switch_);
        };
        for (const auto& link : fabric.links)
            sets.join(node(link.a), node(link.b));
        std::map<std::uint64_t, std::size_t> first_of_pod;
        for (std::size_t h = 0; h < hosts; ++h)
            sets.join(h, first_of_pod.try_emplace(pod_key[h], h).first->second);
        for (std::size_t h = 0; h < hosts; ++h)
            island_key[h] = sets.find(h);
    }

    void find_domains() {
        domain_key.assign(fabric.hosts.size(), 0);
        if (fabric.domains.empty()) return;
        for (std::size_t h = 0; h < fabric.hosts.size(); ++h)
            domain_key[h] = static_cast<std::uint32_t>(fabric.hosts[h].domain_index);
    }

    void group_domains() {
        if (fabric.domains.empty()) return;
        index.domain_of.resize(index.order.size());
        for (std::uint32_t u = 0; u < index.units.size(); ++u) {
            const auto& unit = index.units[u];
            index.first_domain.push_back(static_cast<std::uint32_t>(index.domains.size()));
            for (auto i = unit.first; i < unit.first + unit.size; ++i) {
                const auto h = index.order[i];
                if (i == unit.first || domain_key[h] != domain_key[index.order[i - 1]]) {
                    const int domain = fabric.hosts[h].domain_index;
                    const bool joined = domain != none;
                    index.domains.push_back(
                        {joined ? fabric.domains[at(domain)].name : unit.name, i, 0, u, joined});
                }
                auto& here = index.domains.back();
                ++here.size;
                if (here.joined) index.largest_domain = std::max(index.largest_domain, here.size);
                index.domain_of[h] = static_cast<std::uint32_t>(index.domains.size() - 1);
            }
        }
        index.first_domain.push_back(static_cast<std::uint32_t>(index.domains.size()));
    }

    void find_largest() {
        for (const auto& unit : index.units)
            index.largest_unit = std::max(index.largest_unit, unit.size);
        for (const auto& pod : index.pods)
            index.largest_pod = std::max(index.largest_pod, pod.hosts);
    }

    void group() {
        const auto hosts = static_cast<std::uint32_t>(fabric.hosts.size());
        auto& order = index.order;
        order.resize(hosts);
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(island_key[a], pod_key[a], unit_key[a], domain_key[a], a) <
                   std::tuple(island_key[b], pod_key[b], unit_key[b], domain_key[b], b);
        });
        index.position.resize(hosts);
        index.unit_of.resize(hosts);
        for (std::uint32_t i = 0; i < hosts; ++i) {
            const auto h = order[i];
            const auto before = i > 0 ? order[i - 1] : h;
            index.in_order = index.in_order && h == i;
            index.position[h] = i;
            const bool new_island = i == 0 || island_key[h] != island_key[before];
            const bool new_pod = new_island || pod_key[h] != pod_key[before];
            const bool new_unit = new_pod || unit_key[h] != unit_key[before];
            const auto& host = fabric.hosts[h];
            if (new_island) index.islands.push_back({static_cast<std::uint32_t>(index.pods.size()), 0, 0});
            if (new_pod) {
                const auto first = static_cast<std::uint32_t>(index.units.size());
                const auto island = static_cast<std::uint32_t>(index.islands.size() - 1);
                const bool known = pod_key[h] < fabric.pods.size();
                index.pods.push_back({known ? fabric.pods[pod_key[h]].name : host.name, first, 0, 0, island});
                ++index.islands.back().size;
            }
            if (new_unit) {
                const auto pod = static_cast<std::uint32_t>(index.pods.size() - 1);
                index.units.push_back(
                    {host.unit != none ? fabric.units[at(host.unit)].name : host.name, i, 0, pod});
                ++index.pods.back().size;
            }
            index.unit_of[h] = static_cast<std::uint32_t>(index.units.size() - 1);
            ++index.units.back().size;
            ++index.pods.back().hosts;
            ++index.islands.back().hosts;
        }
    }

    // The most frequent value among a run of hosts in `order`; the smaller one of two. Negative values do not
    // count.
    int majority(std::uint32_t first, std::uint32_t size, std::uint32_t rail, std::uint32_t tier) const {
        std::map<int, std::uint32_t> votes;
        for (auto i = first; i < first + size; ++i)
            if (const int value = index.meeting(index.order[i], rail, tier); value >= 0) ++votes[value];
        int best = none;
        std::uint32_t most = 0;
        for (const auto& [value, count] : votes)
            if (count > most) {
                best = value;
                most = count;
            }
        return best;
    }

    void mark(std::uint32_t first, std::uint32_t size, std::uint32_t tier) {
        for (std::uint32_t rail = 0; rail < index.rails; ++rail) {
            const int usual = majority(first, size, rail, tier);
            for (auto i = first; i < first + size; ++i) {
                const auto h = index.order[i];
                const int value = index.meeting(h, rail, tier);
                if (value >= 0 && value == usual) continue;
                index.irregular_at[h] = static_cast<std::uint8_t>(index.irregular_at[h] | 1U << tier);
                index.regular = false;
                if (value >= 0 || rail >= 64)
                    index.elsewhere_at[h] = static_cast<std::uint8_t>(index.elsewhere_at[h] | 1U << tier);
                if (rail < 64) index.differing[tier][h] |= std::uint64_t{1} << rail;
            }
        }
    }

    void find_rails() {
        const auto switches = fabric.switches.size();
        Sets planes(switches); // switches connected by links between switches
        for (const auto& link : fabric.links) {
            if (link.a.switch_ == none || link.b.switch_ == none) continue;
            planes.join(at(link.a.switch_), at(link.b.switch_));
        }
        index.rails = static_cast<std::uint32_t>(std::max(fabric.rails, 0));
        const auto rails = index.rails;
        index.meetings.assign(fabric.hosts.size() * 3 * rails, none);
        index.irregular_at.assign(fabric.hosts.size(), 0);
        index.elsewhere_at.assign(fabric.hosts.size(), 0);
        for (auto& rails_of : index.differing)
            rails_of.assign(fabric.hosts.size(), 0);
        for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
            const auto& leaves = fabric.hosts[h].leaves;
            for (std::size_t r = 0; r < std::min<std::size_t>(rails, leaves.size()); ++r) {
                const int leaf = leaves[r];
                if (leaf == none) continue;
                auto* here = &index.meetings[h * 3 * rails + r];
                const int pod = fabric.switches[at(leaf)].pod;
                const auto pods = static_cast<int>(fabric.pods.size());
                here[0] = leaf;
                here[rails] = pod != none ? pod : pods + leaf;
                here[2 * rails] = fabric.links.empty() ? 0 : static_cast<int>(planes.find(at(leaf)));
            }
        }
        for (const auto& unit : index.units)
            mark(unit.first, unit.size, 0);
        for (const auto& pod : index.pods)
            mark(index.units[pod.first].first, pod.hosts, 1);
        for (const auto& island : index.islands)
            mark(index.units[index.pods[island.first].first].first, island.hosts, 2);
        for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h)
            for (std::uint32_t tier = 0; tier < 3; ++tier)
                if (index.irregular(h, tier)) index.irregular_hosts[tier].push_back(h);
    }
};

} // namespace

PlacementIndex::PlacementIndex(const topo::Fabric& fabric) {
    Builder builder{fabric, *this, {}, {}, {}, {}};
    builder.find_keys();
    builder.find_islands();
    builder.find_domains();
    builder.group();
    builder.group_domains();
    builder.find_largest();
    builder.find_rails();
}

} // namespace sched
