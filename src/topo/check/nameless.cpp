#include "topo/check/nameless.hpp"

#include "topo/check/parts.hpp"
#include "topo/numbered_name.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace topo::checks {
namespace {

// On each of its leaves, where rails share them.
int ports_of_a_host(const Fabric& fabric, const Unit& unit) {
    Mode<int> each;
    for (const auto h : unit.hosts) {
        std::set<int> ports;
        for (const Hca& hca : fabric.hosts[h].hcas)
            for (const HcaPort& port : hca.ports)
                if (hca.rail != none && port.leaf == unit.leaves[at(hca.rail)] && port.leaf != none)
                    ports.insert(switch_port(fabric, port));
        if (!ports.empty()) each.add(static_cast<int>(ports.size()));
    }
    return each.empty() ? 1 : each.value();
}

// Number of the unit's rails on which the host has no link.
std::size_t lacking(const Fabric& fabric, int host) {
    const auto& own = fabric.hosts[at(host)].leaves;
    const auto& leaves = fabric.units[at(fabric.hosts[at(host)].unit)].leaves;
    std::size_t count = 0;
    for (std::size_t r = 0; r < leaves.size(); ++r)
        count += leaves[r] != none && own[r] == none ? 1 : 0;
    return count;
}

} // namespace

std::size_t rails_of(const Unit& unit) {
    return unit.leaves.size() -
           at(static_cast<int>(std::count(unit.leaves.begin(), unit.leaves.end(), none)));
}

bool shares_leaves(const Unit& unit) {
    std::vector<int> leaves;
    std::copy_if(unit.leaves.begin(), unit.leaves.end(), std::back_inserter(leaves),
                 [](int leaf) { return leaf != none; });
    std::sort(leaves.begin(), leaves.end());
    return std::adjacent_find(leaves.begin(), leaves.end()) != leaves.end();
}

Nameless::Nameless(const Fabric& fabric, const Plan& plan)
    : whole_(fabric.units.size(), 0), ports_(fabric.hosts.size(), none), in_order_(fabric.units.size(), 0),
      balance_(fabric.switches.size(), 0) {
    const bool any = std::any_of(fabric.hosts.begin(), fabric.hosts.end(), [](const Host& host) {
        return std::any_of(host.hcas.begin(), host.hcas.end(),
                           [&](const Hca& hca) { return unidentified(host, hca); });
    });
    if (!any) return;
    std::map<std::pair<int, int>, int> owners; // unit, port → host
    orders_.resize(fabric.units.size());
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        const Unit& unit = fabric.units[at(u)];
        std::size_t equal = 0, cabled = 0;
        const int each = shares_leaves(unit) ? ports_of_a_host(fabric, unit) : 1;
        Mode<std::int64_t> offsets;
        for (const auto h : unit.hosts) {
            Mode<int> ports;
            for (const Hca& hca : fabric.hosts[h].hcas)
                for (const HcaPort& port : hca.ports)
                    if (hca.rail != none && port.leaf != none && plan.unit_of(port.leaf) == u)
                        ports.add(switch_port(fabric, port));
            if (ports.empty()) continue;
            equal += ports.count();
            cabled += ports.total();
            if (ports.count() * 2 >= ports.total()) {
                ports_[h] = ports.value();
                owners.emplace(std::pair(u, ports.value()), static_cast<int>(h));
                if (shares_leaves(unit))
                    for (const auto& [port, count] : ports.counts())
                        owners.emplace(std::pair(u, port), static_cast<int>(h));
                if (const auto name = numbered(fabric.hosts[h].name))
                    offsets.add(static_cast<std::int64_t>(name->number) * each -
                                (each > 1 ? ports.counts().begin()->first : ports.value()));
            }
        }
        if (!offsets.empty() && offsets.count() * 4 >= offsets.total() * 3)
            orders_[at(u)] = {each, offsets.value()};
        in_order_[at(u)] = equal * 4 >= cabled * 3 && fabric.rails > 1 ? 1 : 0;
        for (const auto h : unit.hosts)
            for (std::size_t r = 0; r < unit.leaves.size(); ++r)
                if (unit.leaves[r] != none && fabric.hosts[h].leaves[r] == none)
                    --balance_[at(unit.leaves[r])];
    }
    std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> groups; // unit, port → host, rail
    for (int h = 0; at(h) < fabric.hosts.size(); ++h) {
        if (!nameless(fabric.hosts[at(h)])) {
            for (const Hca& hca : fabric.hosts[at(h)].hcas)
                for (const HcaPort& port : hca.ports)
                    if (port.leaf != none && unidentified(fabric.hosts[at(h)], hca)) {
                        ++balance_[at(port.leaf)];
                        on_port_.emplace(std::pair(port.leaf, switch_port(fabric, port)), h);
                    }
            continue;
        }
        const HcaPort* cabled = nullptr;
        for (const Hca& hca : fabric.hosts[at(h)].hcas)
            for (const HcaPort& port : hca.ports)
                if (cabled == nullptr && port.leaf != none) cabled = &port;
        const int unit = cabled == nullptr ? none : plan.unit_of(cabled->leaf);
        if (unit == none) continue; // a unit without any names is identified by its leaves
        const auto& leaves = fabric.units[at(unit)].leaves;
        const auto rail = std::find(leaves.begin(), leaves.end(), cabled->leaf);
        const int port = switch_port(fabric, *cabled);
        ++balance_[at(cabled->leaf)];
        on_port_.emplace(std::pair(cabled->leaf, port), h);
        groups[{unit, port}].emplace_back(h, rail == leaves.end() ? none
                                                                  : static_cast<int>(rail - leaves.begin()));
    }
    int last = none; // port of the previous group
    for (auto& [where, hcas] : groups) {
        const auto& [unit, port] = where;
        const bool shared = shares_leaves(fabric.units[at(unit)]);
        const auto rails = rails_of(fabric.units[at(unit)]);
        const auto owner_at = [&, &unit = unit](int p) {
            const auto found = owners.find({unit, p});
            return found == owners.end() ? none : found->second;
        };
        ProbableHost host{unit, port, owner_at(port), std::move(hcas)};
        // If rails share a leaf, a host has adjacent ports there.
        if (shared && host.owner == none)
            for (const int beside : {owner_at(port - 1), owner_at(port + 1)})
                if (host.owner == none && beside != none && lacking(fabric, beside) >= host.hcas.size())
                    host.owner = beside;
        const bool goes_on = shared && host.owner == none && !hosts_.empty() && hosts_.back().unit == unit &&
                             hosts_.back().owner == none && last + 1 == port &&
                             hosts_.back().hcas.size() + host.hcas.size() <= rails;
        last = port;
        if (goes_on) {
            hosts_.back().hcas.insert(hosts_.back().hcas.end(), host.hcas.begin(), host.hcas.end());
            continue;
        }
        hosts_.push_back(std::move(host));
    }
    for (ProbableHost& host : hosts_) {
        std::sort(host.hcas.begin(), host.hcas.end(),
                  [](const auto& a, const auto& b) { return a.second < b.second; });
        const auto rails = rails_of(fabric.units[at(host.unit)]);
        if (host.owner != none || host.hcas.size() * 2 < rails) continue;
        ++whole_[at(host.unit)];
        if (host.hcas.size() < rails) continue;
        for (const auto& [h, rail] : host.hcas) // they do not replace another host's
            if (rail != none) --balance_[at(fabric.units[at(host.unit)].leaves[at(rail)])];
    }
    units_ = unnamed_units(fabric, plan);
}

std::size_t Nameless::whole(int unit) const {
    return whole_[at(unit)];
}

std::vector<std::uint32_t> Nameless::numbers(int unit) const {
    std::vector<std::uint32_t> found;
    for (const ProbableHost& host : hosts_)
        if (host.unit == unit && host.owner == none && orders_[at(unit)].ports > 0) {
            const auto place = host.port + orders_[at(unit)].offset;
            if (place >= 0 && place % orders_[at(unit)].ports == 0)
                found.push_back(static_cast<std::uint32_t>(place / orders_[at(unit)].ports));
        }
    return found;
}

bool Nameless::stands_for(const Fabric& fabric, int host, int rail) const {
    if (on_port_.empty()) return false;
    const int unit = fabric.hosts[at(host)].unit;
    const int leaf = fabric.units[at(unit)].leaves[at(rail)];
    if (leaf == none) return false;
    if (in_order_[at(unit)] == 0) return balance_[at(leaf)] >= 0;
    return ports_[at(host)] != none && on_port_.contains({leaf, ports_[at(host)]});
}

} // namespace topo::checks
