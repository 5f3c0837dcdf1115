#include "topo/check/unnamed.hpp"

#include "topo/check/parts.hpp"
#include "topo/numbered_name.hpp"
#include "topo/read/assemble.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

#include <set>
#include <tuple>

namespace topo::checks {
namespace {

constexpr int most_numbers = 4; // of a name that are looked at
constexpr std::size_t most_rails = 16;

// HCAs of a leaf.
struct UnnamedLoad {
    std::set<int> ports;            // of the leaf
    Mode<std::string_view> devices; // in descriptions such as "localhost mlx5_3"
};

// Leaves by what their names have in common.
using Groups = std::map<std::string, std::vector<int>>;

// By leaf, of those of no known unit on which few HCAs name their host, or none.
std::map<int, UnnamedLoad> unnamed_leaves(const Fabric& fabric, const Plan& plan) {
    std::map<int, std::size_t> named;
    std::map<int, UnnamedLoad> loads;
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports) {
                if (port.leaf == none || fabric.switches[at(port.leaf)].tier != 0) continue;
                if (!nameless(host) || plan.unit_of(port.leaf) != none) {
                    ++named[port.leaf];
                    continue;
                }
                UnnamedLoad& load = loads[port.leaf];
                load.ports.insert(switch_port(fabric, port));
                load.devices.add(parse_hca_description(hca.device).device);
            }
    std::erase_if(loads, [&](const auto& load) {
        const auto found = named.find(load.first);
        return found != named.end() && found->second * 4 > load.second.ports.size();
    });
    return loads;
}

// "leaf-su1-r#", "leaf-su#-r1": the name without a number, counted from the last.
std::string without_number(std::string_view name, int before_last) {
    const auto parts = numbered(name, before_last);
    return parts ? fmt::format("{}#{}", parts->stem, parts->tail) : std::string();
}

Groups grouped(const Fabric& fabric, const std::vector<int>& leaves, int before_last) {
    Groups groups;
    for (const int leaf : leaves)
        if (auto name = without_number(fabric.switches[at(leaf)].name, before_last); !name.empty())
            groups[std::move(name)].push_back(leaf);
    return groups;
}

// Which number of a leaf's name, counted from the last, is all in which the leaves of a unit differ; none
// where the names of most units do not say.
int number_of_rail(const Fabric& fabric) {
    for (int n = 0; n < most_numbers; ++n) {
        std::set<std::string> alike; // what is common to a unit's leaves, and of that unit alone
        for (const Unit& unit : fabric.units) {
            std::vector<int> leaves;
            std::copy_if(unit.leaves.begin(), unit.leaves.end(), std::back_inserter(leaves),
                         [](int leaf) { return leaf != none; });
            const auto groups = grouped(fabric, leaves, n);
            if (rails_of(unit) > 1 && groups.size() == 1 && groups.begin()->second.size() == leaves.size())
                alike.insert(groups.begin()->first);
        }
        if (alike.size() * 2 > fabric.units.size()) return n;
    }
    return none;
}

// Whether no two leaves of a group have HCAs of one device.
bool devices_differ(const Groups& groups, const std::map<int, UnnamedLoad>& loads) {
    return std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
        std::set<std::string_view> seen;
        return std::all_of(group.second.begin(), group.second.end(),
                           [&](int leaf) { return seen.insert(loads.at(leaf).devices.value()).second; });
    });
}

// How many ports are in use on some leaves of a group and not on all, of how many.
std::pair<std::size_t, std::size_t> uneven_ports(const Groups& groups,
                                                 const std::map<int, UnnamedLoad>& loads) {
    std::size_t uneven = 0, all = 0;
    for (const auto& group : groups) {
        const auto& leaves = group.second;
        std::map<int, std::size_t> used;
        for (const int leaf : leaves)
            for (const int port : loads.at(leaf).ports)
                ++used[port];
        all += used.size();
        uneven += static_cast<std::size_t>(std::count_if(
            used.begin(), used.end(), [&](const auto& port) { return port.second < leaves.size(); }));
    }
    return {uneven, all};
}

// The word before a number of a leaf's name: "rail" of "su1-rail3".
std::string_view word_before(std::string_view stem) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    stem = stem.substr(0, stem.find_last_of(letters) + 1);
    return stem.substr(stem.find_last_not_of(letters) + 1);
}

bool is_power_of_two(std::size_t n) {
    return (n & (n - 1)) == 0;
}

// The same where no unit is known, of leaves of one shape of names. A number alone in which all names differ
// may as well be the unit's.
int number_of_rail(const Fabric& fabric, const std::vector<int>& leaves,
                   const std::map<int, UnnamedLoad>& loads) {
    const bool devices_known = std::none_of(leaves.begin(), leaves.end(),
                                            [&](int leaf) { return loads.at(leaf).devices.value().empty(); });
    struct Choice {
        int number;
        bool spelt; // the name calls it a rail
        bool likely;
        std::size_t uneven;
    };
    std::vector<Choice> choices;
    int varying = 0;
    for (int n = 0; n < most_numbers; ++n) {
        const auto groups = grouped(fabric, leaves, n);
        if (groups.empty()) break;
        if (groups.size() == leaves.size()) continue; // it never differs alone
        ++varying;
        const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
                              return a.second.size() < b.second.size();
                          })->second.size();
        const auto [uneven, all] = uneven_ports(groups, loads);
        if (most > most_rails || uneven * 4 > all) continue;
        if (devices_known && !devices_differ(groups, loads)) continue;
        const auto word = word_before(numbered(fabric.switches[at(leaves.front())].name, n)->stem);
        choices.push_back({n, word == "rail" || word == "Rail" || word == "RAIL",
                           word == "r" && is_power_of_two(most), uneven});
    }
    if (choices.empty()) return none;
    const auto best = std::min_element(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
        return std::tuple(!a.spelt, a.uneven, a.number) < std::tuple(!b.spelt, b.uneven, b.number);
    });
    return varying > 1 || devices_known || best->spelt || best->likely ? best->number : none;
}

// Of a fabric in which some units are known, which have leaves named alike.
Groups groups_by_units(const Fabric& fabric, const std::map<int, UnnamedLoad>& loads) {
    const bool single = std::all_of(fabric.units.begin(), fabric.units.end(),
                                    [](const Unit& unit) { return rails_of(unit) == 1; });
    const int rail = number_of_rail(fabric);
    if (rail == none && !single) return {};
    std::set<std::string> shapes; // of the names of units' leaves
    for (const Unit& unit : fabric.units)
        for (const int leaf : unit.leaves)
            if (leaf != none) shapes.insert(name_shape(fabric.switches[at(leaf)].name));
    std::vector<int> leaves;
    for (const auto& [leaf, load] : loads)
        if (shapes.contains(name_shape(fabric.switches[at(leaf)].name))) leaves.push_back(leaf);
    if (!single) return grouped(fabric, leaves, rail);
    Groups groups;
    for (const int leaf : leaves)
        groups[fabric.switches[at(leaf)].name].push_back(leaf);
    return groups;
}

Groups groups_by_names(const Fabric& fabric, const std::map<int, UnnamedLoad>& loads) {
    std::map<std::string, std::vector<int>> shapes;
    for (const auto& [leaf, load] : loads)
        shapes[name_shape(fabric.switches[at(leaf)].name)].push_back(leaf);
    Groups groups;
    for (const auto& [shape, leaves] : shapes)
        if (const int rail = number_of_rail(fabric, leaves, loads); rail != none)
            groups.merge(grouped(fabric, leaves, rail));
    return groups;
}

std::size_t usual_rails(const Fabric& fabric) {
    Mode<std::size_t> rails;
    for (const Unit& unit : fabric.units)
        rails.add(rails_of(unit));
    return rails.value();
}

} // namespace

std::vector<UnnamedUnit> unnamed_units(const Fabric& fabric, const Plan& plan) {
    const auto loads = unnamed_leaves(fabric, plan);
    const auto groups =
        fabric.units.empty() ? groups_by_names(fabric, loads) : groups_by_units(fabric, loads);
    std::vector<const std::vector<int>*> planes;
    std::map<int, int> plane_of; // by leaf
    for (const auto& [name, leaves] : groups) {
        for (const int leaf : leaves)
            plane_of.emplace(leaf, static_cast<int>(planes.size()));
        planes.push_back(&leaves);
    }
    Sets joined(planes.size());
    std::vector<int> hcas; // a plane of each
    for (const Host& host : fabric.hosts) {
        if (!nameless(host)) continue;
        for (const Hca& hca : host.hcas) {
            int first = none;
            for (const HcaPort& port : hca.ports) {
                const auto plane = plane_of.find(port.leaf);
                if (plane == plane_of.end()) continue;
                if (first == none) hcas.push_back(first = plane->second);
                joined.join(first, plane->second);
            }
        }
    }
    std::map<int, UnnamedUnit> units; // by first plane
    for (int p = 0; at(p) < planes.size(); ++p) {
        UnnamedUnit& unit = units[joined.find(p)];
        std::set<int> ports;
        for (const int leaf : *planes[at(p)]) {
            unit.leaves.push_back(leaf);
            ports.insert(loads.at(leaf).ports.begin(), loads.at(leaf).ports.end());
        }
        unit.planes.push_back(*planes[at(p)]);
        unit.hosts = std::max(unit.hosts, ports.size());
    }
    for (const int plane : hcas)
        ++units[joined.find(plane)].hcas;
    std::vector<UnnamedUnit> found;
    const bool shared = std::any_of(fabric.units.begin(), fabric.units.end(), shares_leaves);
    const auto rails = shared ? usual_rails(fabric) : 1;
    for (auto& [plane, unit] : units) {
        std::sort(unit.leaves.begin(), unit.leaves.end());
        if (shared) {
            unit.hosts = (unit.hcas + rails - 1) / rails;
            unit.planes.clear();
        }
        found.push_back(std::move(unit));
    }
    return found;
}

std::size_t count_pods(const Fabric& fabric, const std::vector<UnnamedUnit>& units) {
    std::map<int, int> unit_of; // by leaf
    for (int u = 0; at(u) < units.size(); ++u)
        for (const int leaf : units[at(u)].leaves)
            unit_of.emplace(leaf, u);
    std::map<std::pair<int, int>, std::size_t> links; // by spine and unit
    std::vector<std::size_t> uplinks(units.size(), 0);
    for (const Link& link : fabric.links)
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            const auto unit = unit_of.find(here->switch_);
            if (unit == unit_of.end() || there->switch_ == none || unit_of.contains(there->switch_)) continue;
            ++links[{there->switch_, unit->second}];
            ++uplinks[at(unit->second)];
        }
    std::map<std::pair<int, int>, std::size_t> shared; // links of a unit by the first of the same spines
    auto first = links.begin();
    for (auto next = links.begin(); next != links.end(); ++next) {
        if (next->first.first != first->first.first) first = next;
        shared[{first->first.second, next->first.second}] += next->second;
    }
    Sets pods(units.size());
    for (const auto& [pair, count] : shared)
        if (count * 4 >= uplinks[at(pair.second)]) pods.join(pair.first, pair.second);
    std::set<int> found;
    for (int u = 0; at(u) < units.size(); ++u)
        found.insert(pods.find(u));
    return found.size();
}

} // namespace topo::checks
