// The order of rails on the leaves of whole units. If all hosts of a unit, or of the fabric, are cabled alike
// but in an order that differs from that of the leaf numbers or of other units, no host differs from its
// neighbours.
#include "topo/check/parts.hpp"
#include "topo/numbered_name.hpp"

#include <fmt/format.h>

#include <iterator>

namespace topo::checks {
namespace {

// For each rail of the unit: the position of its leaf among the unit's leaves.
using Order = std::vector<int>;

// Whether more than half of the unit's hosts have each rail on its leaf. Contradicting halves are reported
// with the cables, as undecided.
bool decided(const Fabric& fabric, const Unit& unit) {
    for (std::size_t r = 0; r < unit.leaves.size(); ++r) {
        std::size_t here = 0, cabled = 0;
        for (const auto h : unit.hosts) {
            const int leaf = fabric.hosts[h].leaves[r];
            cabled += leaf != none ? 1 : 0;
            here += leaf != none && leaf == unit.leaves[r] ? 1 : 0;
        }
        if (here * 2 <= cabled && cabled > 1) return false;
    }
    return true;
}

// From the numbers in the leaves' names; empty if those have other differences or a leaf carries several
// rails.
Order order_of(const Fabric& fabric, const Unit& unit) {
    std::vector<int> leaves;
    std::copy_if(unit.leaves.begin(), unit.leaves.end(), std::back_inserter(leaves),
                 [](int leaf) { return leaf != none; });
    auto sorted = leaves; // switches are in the natural order of their names
    std::sort(sorted.begin(), sorted.end());
    if (leaves.size() < 2 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return {};
    Order order;
    const auto shape = name_shape(fabric.switches[at(leaves.front())].name);
    for (const int leaf : leaves) {
        const Switch& here = fabric.switches[at(leaf)];
        if (here.namesake || name_shape(here.name) != shape) return {};
        order.push_back(
            static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), leaf) - sorted.begin()));
    }
    return order;
}

// The number of leaves by which every rail is shifted; 0 for the plain order and if it is not a rotation.
int rotation(const Order& order) {
    const auto n = static_cast<int>(order.size());
    for (int i = 0; i < n; ++i)
        if (order[at(i)] != (order.front() + i) % n) return 0;
    return order.front();
}

std::string described(const Order& order) {
    if (const int by = rotation(order); by != 0)
        return fmt::format("rotated by {}: each rail is on the leaf of the rail {} further", by, by);
    std::vector<std::size_t> odd;
    for (std::size_t r = 0; r < order.size(); ++r)
        if (order[r] != static_cast<int>(r)) odd.push_back(r);
    return odd.empty() ? std::string("in the order of leaves")
                       : fmt::format("exchanged: {}", fmt::join(odd, ", "));
}

std::vector<std::string> ends_of(const Fabric& fabric, const std::vector<int>& units) {
    std::vector<std::string> ends;
    std::vector<int> leaves;
    for (const int u : units) {
        ends.push_back(fabric.units[at(u)].name);
        std::copy_if(fabric.units[at(u)].leaves.begin(), fabric.units[at(u)].leaves.end(),
                     std::back_inserter(leaves), [](int leaf) { return leaf != none; });
    }
    std::sort(leaves.begin(), leaves.end());
    ends.push_back(switch_names(fabric, leaves));
    return ends;
}

std::string hosts_of(const Fabric& fabric, const std::vector<int>& units) {
    std::vector<std::uint32_t> hosts;
    for (const int u : units)
        hosts.insert(hosts.end(), fabric.units[at(u)].hosts.begin(), fabric.units[at(u)].hosts.end());
    return host_names(fabric, hosts);
}

void report(const Fabric& fabric, const std::map<Order, std::vector<int>>& units, std::size_t all,
            Findings& findings) {
    const auto most = std::max_element(units.begin(), units.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    if (most->second.size() * 4 < all * 3) return; // names do not follow the rails
    if (rotation(most->first) != 0)
        findings.push_back(
            {"rails.order", Severity::warning, ends_of(fabric, most->second),
             fmt::format("by the numbers of leaves the rails of {} are {}",
                         most->second.size() == all ? "all units"
                                                    : counted(most->second.size(), "unit", "units"),
                         described(most->first)),
             "nothing, if it was planned so; else move all cables, or number the rails so "
             "(fabric-rules(5))"});
    for (const auto& [order, odd] : units) {
        if (order == most->first || most->second.size() < 2) continue;
        findings.push_back(
            {"rails.order", Severity::warning, ends_of(fabric, odd),
             fmt::format("by the numbers of leaves the rails of all hosts of {} ({}) are {}, those of other "
                         "units {}",
                         counted(odd.size(), "unit", "units"), hosts_of(fabric, odd), described(order),
                         described(most->first)),
             "move the cables of all their hosts, or the leaves' names"});
    }
}

// Rails with their own networks: units whose rails are in each other's network.
std::vector<char> in_others_networks(const Fabric& fabric, Findings& findings) {
    std::vector<char> found(fabric.units.size(), 0);
    std::vector<Mode<int>> usual(at(fabric.rails)); // island of each rail
    for (const Unit& unit : fabric.units)
        for (std::size_t r = 0; r < unit.leaves.size(); ++r)
            if (unit.leaves[r] != none) usual[r].add(fabric.switches[at(unit.leaves[r])].island);
    for (int u = 0; at(u) < fabric.units.size() && fabric.tiers > 1; ++u) {
        const Unit& unit = fabric.units[at(u)];
        std::vector<std::size_t> odd;
        bool permuted = true; // to networks of other rails
        for (std::size_t r = 0; r < unit.leaves.size(); ++r) {
            if (unit.leaves[r] == none || usual[r].count() * 2 <= usual[r].total()) continue;
            const int island = fabric.switches[at(unit.leaves[r])].island;
            if (island == usual[r].value()) continue;
            odd.push_back(r);
            permuted = permuted && std::any_of(usual.begin(), usual.end(), [&](const Mode<int>& other) {
                           return !other.empty() && other.value() == island;
                       });
        }
        if (odd.size() < 2 || !permuted) continue;
        found[at(u)] = 1;
        findings.push_back(
            {"rails.order", Severity::error, ends_of(fabric, {u}),
             fmt::format(
                 "rails {} of all hosts of {} ({}) are in the networks of other rails, and meet those "
                 "of no other unit",
                 fmt::join(odd, ", "), unit.name, hosts_of(fabric, {u})),
             "move the cables of all its hosts, or the uplinks of its leaves"});
    }
    return found;
}

} // namespace

void order(const Fabric& fabric, Findings& findings) {
    const auto told = in_others_networks(fabric, findings);
    std::map<std::size_t, std::map<Order, std::vector<int>>> units; // by number of rails, then order
    std::map<std::size_t, std::size_t> all;
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        const Unit& unit = fabric.units[at(u)];
        if (told[at(u)] != 0) continue;
        const auto rails = unit.leaves.size() -
                           at(static_cast<int>(std::count(unit.leaves.begin(), unit.leaves.end(), none)));
        ++all[rails];
        if (!decided(fabric, unit)) continue;
        if (auto own = order_of(fabric, unit); !own.empty()) units[rails][std::move(own)].push_back(u);
    }
    for (const auto& [rails, orders] : units)
        report(fabric, orders, all.at(rails), findings);
}

} // namespace topo::checks
