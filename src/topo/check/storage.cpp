// Storage networks: each storage HCA is compared with the same HCA of hosts with neighbouring numbers.
#include "topo/check/storage.hpp"

#include "topo/check/parts.hpp"
#include "topo/check/plan.hpp"
#include "topo/numbered_name.hpp"
#include "topo/read/host_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo::checks {
namespace {

// One storage device of hosts with similar names, in their order.
struct Row {
    struct Cable {
        int host, hca, leaf;
    };
    std::vector<Cable> cables;
};

int leaf_of(const Hca& hca) {
    for (const HcaPort& port : hca.ports)
        if (port.leaf != none) return port.leaf;
    return none;
}

// The leaf on which the nearest cables of the row agree, two on either side of position i: all but one of
// them, including both adjacent ones. At the end of a row, those on one side.
int between(const Row& row, std::size_t i) {
    Mode<int> near;
    std::vector<int> next;
    for (std::size_t k = i >= 2 ? i - 2 : 0; k <= i + 2 && k < row.cables.size(); ++k) {
        if (k == i) continue;
        near.add(row.cables[k].leaf);
        if (k + 1 == i || k == i + 1) next.push_back(row.cables[k].leaf);
    }
    if (near.empty() || near.count() + 1 < near.total() || near.count() < 2) return none;
    const bool agreed = std::all_of(next.begin(), next.end(), [&](int leaf) { return leaf == near.value(); });
    return agreed ? near.value() : none;
}

// Hosts that should have the same storage HCAs: those with the same name shape whose units have the same
// number of rails.
using Kind = std::pair<std::string, std::ptrdiff_t>;
using Class = std::pair<Kind, std::string>; // and the device

Kind kind_of(const Fabric& fabric, const Host& host) {
    std::ptrdiff_t rails = 0;
    if (host.unit != none) {
        const auto& leaves = fabric.units[at(host.unit)].leaves;
        rails = std::count_if(leaves.begin(), leaves.end(), [](int leaf) { return leaf != none; });
    }
    return {name_shape(host.name), rails};
}

// Finds the misplaced cables of each row; none if they are more than one and more than an eighth of it. A
// cable on the same leaf as two thirds of its unit's is in the right place, whatever the numbers.
void judge_row(const Fabric& fabric, const Row& row, const std::string& device, StoragePlan& plan) {
    std::map<int, Mode<int>> of_unit;
    for (const auto& cable : row.cables)
        of_unit[fabric.hosts[at(cable.host)].unit].add(cable.leaf);
    std::vector<StorageCable> odd;
    for (std::size_t i = 0; i < row.cables.size(); ++i) {
        const int leaf = between(row, i);
        if (leaf == none || leaf == row.cables[i].leaf) continue;
        const int unit = fabric.hosts[at(row.cables[i].host)].unit;
        const auto& usual = of_unit.at(unit);
        if (unit != none && usual.value() == row.cables[i].leaf && usual.count() * 3 >= usual.total() * 2)
            continue;
        odd.push_back({row.cables[i].host, row.cables[i].hca, leaf, device});
    }
    if (odd.size() * 8 > std::max<std::size_t>(row.cables.size(), 8)) return;
    plan.misplaced.insert(plan.misplaced.end(), odd.begin(), odd.end());
}

// The hosts without such a cable, each with the leaf of the next host that has one.
std::vector<StorageCable> lacking_hosts(const Row& row, const std::vector<int>& all,
                                        const std::string& device) {
    std::vector<StorageCable> lacking;
    auto next = row.cables.begin();
    for (const int h : all) {
        while (next != row.cables.end() && next->host < h)
            ++next;
        if (next != row.cables.end() && next->host == h) continue;
        const auto& near = next != row.cables.end() ? *next : row.cables.back();
        lacking.push_back({h, none, near.leaf, device});
    }
    return lacking;
}

bool beside_each_other(const std::vector<StorageCable>& some, const std::vector<int>& all) {
    const auto first = std::find(all.begin(), all.end(), some.front().host);
    return std::equal(some.begin(), some.end(), first, first + static_cast<std::ptrdiff_t>(some.size()),
                      [](const StorageCable& cable, int host) { return cable.host == host; });
}

std::vector<int> leaves_of(const Row& row) {
    std::vector<int> leaves;
    for (const auto& cable : row.cables)
        leaves.push_back(cable.leaf);
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    return leaves;
}

} // namespace

StoragePlan judge_storage(const Fabric& fabric) {
    const bool any = std::any_of(fabric.hosts.begin(), fabric.hosts.end(), [](const Host& host) {
        return std::any_of(host.hcas.begin(), host.hcas.end(),
                           [](const Hca& hca) { return hca.role == Role::storage; });
    });
    if (!any) return {};
    std::map<Class, Row> rows;
    std::map<Kind, std::vector<int>> hosts;
    for (int h = 0; at(h) < fabric.hosts.size(); ++h) {
        const Host& host = fabric.hosts[at(h)];
        if (nameless(host)) continue;
        const auto kind = kind_of(fabric, host);
        hosts[kind].push_back(h);
        for (int i = 0; at(i) < host.hcas.size(); ++i) {
            const Hca& hca = host.hcas[at(i)];
            if (hca.role != Role::storage || unidentified(host, hca)) continue;
            if (const int leaf = leaf_of(hca); leaf != none)
                rows[{kind, canonical_device(hca.device)}].cables.push_back({h, i, leaf});
        }
    }
    StoragePlan plan;
    constexpr std::size_t fewest = 4;
    for (const auto& [what, row] : rows) {
        if (row.cables.size() < fewest) continue;
        judge_row(fabric, row, what.second, plan);
        const auto& all = hosts.at(what.first);
        if (row.cables.size() == all.size()) continue;
        const auto lacking = lacking_hosts(row, all, what.second);
        Names leaf;
        if (lacking.size() >= fewest && beside_each_other(lacking, all))
            leaf = absent_beside(fabric, leaves_of(row));
        if (leaf.empty() && row.cables.size() * 4 < all.size() * 3) continue;
        if (!leaf.empty()) plan.leaves.emplace(what.second, leaf);
        std::copy_if(lacking.begin(), lacking.end(), std::back_inserter(plan.missing),
                     [&](const StorageCable& cable) {
                         const Host& host = fabric.hosts[at(cable.host)];
                         return std::none_of(host.hcas.begin(), host.hcas.end(),
                                             [&](const Hca& hca) { return unidentified(host, hca); });
                     });
    }
    return plan;
}

void storage(const Fabric& fabric, const Plan&, Findings& findings) {
    struct Lack {
        std::vector<std::string> devices;
        int leaf = none; // of the first one
    };
    std::map<int, Lack> lacks; // by host
    const auto plan = judge_storage(fabric);
    for (const StorageCable& cable : plan.missing) {
        Lack& lack = lacks[cable.host];
        if (lack.devices.empty()) lack.leaf = cable.leaf;
        lack.devices.push_back(cable.device);
    }
    const auto report = [&](std::vector<std::string> ends, std::string evidence, std::string fix) {
        findings.push_back(
            {"host.storage", Severity::error, std::move(ends), std::move(evidence), std::move(fix)});
    };
    constexpr std::size_t of_a_leaf = 4; // adjacent hosts that lack the same
    for (auto from = lacks.begin(); from != lacks.end();) {
        std::vector<std::uint32_t> hosts;
        auto to = from;
        for (; to != lacks.end() && to->second.devices == from->second.devices &&
               to->first == from->first + static_cast<int>(hosts.size());
             ++to)
            hosts.push_back(static_cast<std::uint32_t>(to->first));
        if (hosts.size() >= of_a_leaf) {
            const auto names = host_names(fabric, hosts);
            const auto leaf = plan.leaves.find(from->second.devices.front());
            const auto known = leaf == plan.leaves.end() ? Names() : leaf->second;
            std::vector<std::string> ends{names};
            ends.insert(ends.end(), known.begin(), known.end());
            report(ends,
                   fmt::format("{} have no link on their storage HCAs {}, which hosts named like them have{}",
                               names, fmt::join(from->second.devices, ", "),
                               known.empty() ? std::string()
                                             : fmt::format("; {} is not seen", fmt::join(known, " or "))),
                   "look for a leaf of storage that is down");
            from = to;
            continue;
        }
        const auto& name = fabric.hosts[at(from->first)].name;
        const auto leaf = switch_name(fabric, from->second.leaf);
        for (const auto& device : from->second.devices)
            report({name, leaf},
                   fmt::format("{} has no link on its storage HCA {} ({}), which hosts named like it have",
                               name, device, leaf),
                   "look for a dead, disabled or uncabled HCA");
        ++from;
    }
}

} // namespace topo::checks
