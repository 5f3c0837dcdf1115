// Host cables that do not match their unit's plan: HCAs on wrong leaves.
#include "topo/check/parts.hpp"
#include "topo/check/plan.hpp"
#include "topo/check/storage.hpp"

#include <fmt/format.h>

#include <set>

namespace topo::checks {
namespace {

// An HCA port whose cable is not where its unit's plan has it.
struct Misplaced {
    const Host* host;
    const Hca* hca;
    const HcaPort* port;
    End switch_end; // where it is plugged in
    int expected;   // leaf; none if the unit has no such rail
    bool several;   // the HCA uses several ports
    bool reported = false;

    int actual() const { return switch_end.switch_; }
    std::string end() const { return fmt::format("{}/{}", hca_name(*host, *hca), port->number); }
    std::string name() const {
        if (hca->rail == none) return fmt::format("{} (storage)", hca_name(*host, *hca));
        return fmt::format("{} (rail {})", several ? end() : hca_name(*host, *hca), hca->rail);
    }
};

std::vector<Misplaced> find_misplaced(const Fabric& fabric, const Plan& plan) {
    std::vector<Misplaced> found;
    const auto put = [&](const Host& host, const Hca& hca, const HcaPort& port, int leaf, bool several) {
        const Link& link = fabric.links[at(port.link)];
        found.push_back({&host, &hca, &port, link.a.switch_ == port.leaf ? link.a : link.b, leaf, several});
    };
    const auto add = [&](const Host& host, const Hca& hca, const Lane& lane) {
        const HcaPort* port = Plan::port(host, hca, lane);
        if (port != nullptr && port->leaf != lane.leaf) put(host, hca, *port, lane.leaf, lane.port != none);
    };
    // Cables of a host that are all in spines: its unit is unknown.
    const auto add_homeless = [&](const Host& host, const Hca& hca) {
        for (const HcaPort& port : hca.ports)
            if (port.leaf != none) put(host, hca, port, none, hca.ports.size() > 1);
    };
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas) {
            if (hca.rail == none) continue;
            if (host.unit == none) {
                add_homeless(host, hca);
                continue;
            }
            const auto& lanes = plan.lanes(host.unit, hca.rail);
            if (lanes.empty()) add(host, hca, Lane{});
            for (const Lane& lane : lanes)
                add(host, hca, lane);
        }
    for (const StorageCable& cable : judge_storage(fabric).misplaced) {
        const Host& host = fabric.hosts[at(cable.host)];
        const Hca& hca = host.hcas[at(cable.hca)];
        const auto port =
            std::find_if(hca.ports.begin(), hca.ports.end(), [](const HcaPort& p) { return p.leaf != none; });
        put(host, hca, *port, cable.leaf, false);
    }
    return found;
}

void report_swap(const Fabric& fabric, Misplaced& a, Misplaced& b, Findings& findings) {
    a.reported = b.reported = true;
    const auto one = end_name(fabric, a.switch_end), other = end_name(fabric, b.switch_end);
    findings.push_back(
        {"hca.swapped",
         Severity::error,
         {a.end(), one, b.end(), other},
         fmt::format("{} and {} are swapped: they hang on {} and {}", a.name(), b.name(), one, other),
         "swap the two cables"});
}

// Pairs that are connected to each other's leaves, within one host or between any two.
void report_swaps(const Fabric& fabric, bool same_host, std::vector<Misplaced>& misplaced,
                  Findings& findings) {
    std::map<std::tuple<const Host*, int, int>, std::vector<Misplaced*>> waiting; // by host, expected, actual
    for (Misplaced& m : misplaced) {
        if (m.reported || m.expected == none) continue;
        const Host* host = same_host ? m.host : nullptr;
        const auto partner = waiting.find({host, m.actual(), m.expected});
        if (partner == waiting.end() || partner->second.empty()) {
            waiting[{host, m.expected, m.actual()}].push_back(&m);
        } else {
            report_swap(fabric, *partner->second.front(), m, findings);
            partner->second.erase(partner->second.begin());
        }
    }
}

// Three or more cables of one host that are connected to each other's leaves in a ring.
void report_rings(const Fabric& fabric, std::vector<Misplaced>& misplaced, Findings& findings) {
    std::map<std::pair<const Host*, int>, Misplaced*> by_expected;
    for (Misplaced& m : misplaced)
        if (!m.reported && m.expected != none) by_expected.emplace(std::pair(m.host, m.expected), &m);
    for (Misplaced& first : misplaced) {
        if (first.reported || first.expected == none) continue;
        std::vector<Misplaced*> ring;
        Misplaced* next = &first;
        do {
            ring.push_back(next);
            const auto found = by_expected.find({next->host, next->actual()});
            next = found == by_expected.end() || found->second->reported ? nullptr : found->second;
        } while (next != nullptr && next != &first && ring.size() <= 2 * at(fabric.rails));
        if (next != &first) continue;
        Finding finding{"hca.rotated", Severity::error, {}, {}, "move "};
        for (Misplaced* m : ring) {
            finding.ends.push_back(m->end());
            finding.ends.push_back(end_name(fabric, m->switch_end));
            finding.fix += fmt::format("{}{} to {}", m == &first ? "" : ", ", m->hca->device,
                                       switch_name(fabric, m->expected));
            m->reported = true;
        }
        finding.evidence =
            fmt::format("{} cables of {} are rotated among its rails", ring.size(), first.host->name);
        findings.push_back(std::move(finding));
    }
}

// HCAs of a switch.
struct Carried {
    std::size_t compute = 0, storage = 0, unnamed = 0;
};

Carried carried_by(const Fabric& fabric, int s) {
    Carried carried;
    for (const Link& link : fabric.links)
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (there->switch_ != s || here->host == none) continue;
            const Host& host = fabric.hosts[at(here->host)];
            ++(nameless(host)                                   ? carried.unnamed
               : host.hcas[at(here->hca)].role == Role::compute ? carried.compute
                                                                : carried.storage);
        }
    return carried;
}

void report_single(const Fabric& fabric, const Plan& plan, const Misplaced& m, Findings& findings) {
    const int unit = plan.unit_of(m.actual());
    const auto carried = carried_by(fabric, m.actual());
    const bool of_storage = carried.storage > carried.compute;
    const auto here = end_name(fabric, m.switch_end);
    const std::string own = m.host->unit == none ? "the fabric" : fabric.units[at(m.host->unit)].name;
    Finding finding{"hca.wrong_leaf", Severity::error, {m.end(), here}, {}, {}};
    finding.evidence = fmt::format("{} hangs on {}", m.name(), here);
    if (fabric.switches[at(m.actual())].tier != 0) {
        finding.code = "hca.on_spine";
        finding.evidence += ", which is no leaf";
    } else if (m.hca->rail == none) {
        finding.evidence +=
            of_storage ? ", not where the hosts beside it by number are" : ", a leaf of the compute network";
    } else if (of_storage) {
        finding.evidence += ", a leaf of storage";
    } else if (unit == m.host->unit) {
        finding.code = "hca.wrong_rail";
        const auto& lanes = plan.lanes(unit, m.hca->rail);
        const auto other = std::find_if(lanes.begin(), lanes.end(),
                                        [&](const Lane& lane) { return lane.leaf == m.actual(); });
        finding.evidence += other == lanes.end()
                                ? fmt::format(", the leaf of {}", plan.rails_of(m.actual()))
                                : fmt::format(", where port {} of the HCA belongs", other->port);
    } else if (unit != none) {
        finding.code = "hca.wrong_unit";
        finding.evidence +=
            fmt::format(", a leaf of {}, while its host is in {}", fabric.units[at(unit)].name, own);
    } else if (carried.unnamed > 0) {
        finding.code = "hca.wrong_unit";
        finding.evidence += fmt::format(", a leaf of hosts without a name, while its host is in {}", own);
    } else {
        finding.evidence += " alone";
    }
    if (m.expected != none)
        finding.fix = fmt::format("move its cable to {}", switch_name(fabric, m.expected));
    else if (m.host->unit == none)
        finding.fix = "move its cable to a leaf";
    else
        finding.fix = fmt::format("{} has no leaf for this rail: unplug the cable or give it one", own);
    findings.push_back(std::move(finding));
}

// Hosts whose cables indicate two units equally: no cable is reported as the wrong one.
void report_undecided(const Fabric& fabric, const Plan& plan, std::vector<Misplaced>& misplaced,
                      Findings& findings) {
    std::map<const Host*, std::vector<Misplaced*>> of_host;
    for (Misplaced& m : misplaced) {
        const int other = m.host->other_unit;
        if (other != none && m.hca->rail != none && plan.unit_of(m.actual()) == other)
            of_host[m.host].push_back(&m);
    }
    for (const auto& [host, list] : of_host) {
        Finding finding{"hca.wrong_unit", Severity::error, {}, {}, {}};
        std::map<int, std::set<int>> rails; // by unit
        for (const Hca& hca : host->hcas)
            for (const HcaPort& port : hca.ports) {
                if (hca.rail == none || port.leaf == none) continue;
                rails[plan.unit_of(port.leaf)].insert(hca.rail);
                const Link& link = fabric.links[at(port.link)];
                finding.ends.push_back(fmt::format("{}/{}", hca_name(*host, hca), port.number));
                finding.ends.push_back(end_name(fabric, link.a.switch_ == port.leaf ? link.a : link.b));
            }
        if (!rails.contains(host->unit)) continue;
        for (Misplaced* m : list)
            m->reported = true;
        const auto on = [&](int unit) {
            return fmt::format("{} {} on leaves of {}", rails[unit].size() == 1 ? "rail" : "rails",
                               fmt::join(rails[unit], ", "), fabric.units[at(unit)].name);
        };
        finding.evidence = fmt::format("{} has {} and {}: cables cannot tell in which of the two it is",
                                       host->name, on(host->unit), on(host->other_unit));
        finding.fix = "let a plan (railtopo check --plan) or the host's place in its rack decide, then move "
                      "what is on the other unit's leaves";
        findings.push_back(std::move(finding));
    }
}

// Hosts of one unit, or of none, with the same cables in the same wrong places.
struct Alike {
    std::vector<std::uint32_t> hosts;
    std::vector<Misplaced*> cables; // of all these hosts, host by host
};

std::vector<Alike> alike_hosts(const Fabric& fabric, std::vector<Misplaced>& misplaced) {
    std::map<const Host*, std::vector<Misplaced*>> of_host;
    for (Misplaced& m : misplaced)
        if (!m.reported && m.hca->rail != none && (m.host->unit == none) == (m.expected == none))
            of_host[m.host].push_back(&m);
    using Pattern = std::pair<int, std::vector<std::tuple<int, int, int>>>; // unit; rail, port, leaf
    std::map<Pattern, Alike> alike;
    for (const auto& [host, list] : of_host) { // ordered by host: they are in one vector
        Pattern pattern{host->unit, {}};
        for (const Misplaced* m : list)
            pattern.second.emplace_back(m->hca->rail, m->port->number, m->actual());
        std::sort(pattern.second.begin(), pattern.second.end());
        Alike& group = alike[pattern];
        group.hosts.push_back(static_cast<std::uint32_t>(host - fabric.hosts.data()));
        group.cables.insert(group.cables.end(), list.begin(), list.end());
    }
    std::vector<Alike> groups;
    constexpr std::size_t fewest = 3;
    for (auto& [pattern, group] : alike)
        if (group.hosts.size() >= fewest) groups.push_back(std::move(group));
    return groups;
}

template <class Of> std::vector<int> distinct(const std::vector<Misplaced*>& cables, Of of) {
    std::vector<int> values;
    for (const Misplaced* m : cables)
        values.push_back(of(*m));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Three or more hosts whose cables are wrong in the same way: one fault of a plan or of the installer. If
// they are exactly half of the unit, and on leaves, it is unknown which half is right.
void report_alike(const Fabric& fabric, std::vector<Misplaced>& misplaced, Findings& findings) {
    for (const Alike& group : alike_hosts(fabric, misplaced)) {
        const int u = fabric.hosts[group.hosts.front()].unit;
        Finding finding{"unit.cabling", Severity::error, {host_names(fabric, group.hosts)}, {}, {}};
        for (Misplaced* m : group.cables) {
            m->reported = true;
            finding.ends.push_back(m->end());
            finding.ends.push_back(end_name(fabric, m->switch_end));
        }
        const auto rails = distinct(group.cables, [](const Misplaced& m) { return m.hca->rail; });
        const auto actual = distinct(group.cables, [](const Misplaced& m) { return m.actual(); });
        const auto on = fmt::format("{} {} on {}", rails.size() == 1 ? "rail" : "rails",
                                    fmt::join(rails, ", "), switch_names(fabric, actual));
        const auto who = u == none ? finding.ends.front()
                                   : fmt::format("{} of {} hosts of {} ({})", group.hosts.size(),
                                                 fabric.units[at(u)].hosts.size(), fabric.units[at(u)].name,
                                                 finding.ends.front());
        if (std::none_of(actual.begin(), actual.end(),
                         [&](int s) { return fabric.switches[at(s)].tier == 0; })) {
            finding.code = "hca.on_spine";
            finding.evidence = fmt::format("{} have {}, {}", who, on,
                                           actual.size() == 1 ? "which is no leaf" : "which are no leaves");
            const auto expected = distinct(group.cables, [](const Misplaced& m) { return m.expected; });
            finding.fix = fmt::format("move the cables to {}",
                                      u == none ? std::string("leaves") : switch_names(fabric, expected));
        } else if (u != none && group.hosts.size() * 2 == fabric.units[at(u)].hosts.size()) {
            finding.evidence = fmt::format(
                "{} have {}, otherwise than the rest; cables cannot tell which half is right", who, on);
            finding.fix =
                "let the hosts' facts (railtopo gather) or the order of serial numbers decide, then move "
                "the cables of one half";
        } else {
            finding.evidence = fmt::format("{} have {}, otherwise than the rest", who, on);
            finding.fix = "cable them as the rest of the unit";
        }
        findings.push_back(std::move(finding));
    }
}

// A unit of which no leaf is mostly its own: hosts cabled to several units.
bool between_units(const Plan& plan, const Unit& unit, int index) {
    std::size_t leaves = 0;
    for (const int leaf : unit.leaves) {
        if (leaf == none) continue;
        ++leaves;
        if (plan.unit_of(leaf) == index) return false;
    }
    return leaves > 1;
}

void report_between_units(const Fabric& fabric, const Plan& plan, Findings& findings) {
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        const Unit& unit = fabric.units[at(u)];
        if (!between_units(plan, unit, u)) continue;
        std::map<std::string, std::vector<int>> rails; // by the unit whose leaves they are on
        for (std::size_t r = 0; r < unit.leaves.size(); ++r)
            if (unit.leaves[r] != none)
                rails[fabric.units[at(plan.unit_of(unit.leaves[r]))].name].push_back(static_cast<int>(r));
        std::string where;
        for (const auto& [name, list] : rails)
            where += fmt::format("{}rail {} on leaves of {}", where.empty() ? "" : ", ",
                                 fmt::join(list, ", "), name);
        const auto names = host_names(fabric, unit.hosts);
        findings.push_back({"host.between_units",
                            Severity::error,
                            {names},
                            fmt::format("{} is cabled to several units ({})", names, where),
                            "move the cables to the leaves of one"});
    }
}

} // namespace

void cabling(const Fabric& fabric, const Plan& plan, Findings& findings) {
    auto misplaced = find_misplaced(fabric, plan);
    report_undecided(fabric, plan, misplaced, findings);
    report_alike(fabric, misplaced, findings);
    // An explanation within one host takes precedence over crossed cables between two hosts.
    report_swaps(fabric, true, misplaced, findings);
    report_rings(fabric, misplaced, findings);
    report_swaps(fabric, false, misplaced, findings);
    for (const Misplaced& m : misplaced)
        if (!m.reported) report_single(fabric, plan, m, findings);
    report_between_units(fabric, plan, findings);
}

} // namespace topo::checks
