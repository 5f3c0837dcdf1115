// Hosts against their unit: HCAs on the wrong leaf, rails without a link.
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// An HCA whose cable is not where its unit's plan has it.
struct Misplaced {
    const Host* host;
    const Hca* hca;
    End switch_end; // where it hangs
    int expected;   // leaf; none when the unit has no such rail
    bool told = false;

    int rail() const { return hca->rail; }
    int actual() const { return switch_end.switch_; }
    std::string name() const { return fmt::format("{} (rail {})", hca_name(*host, *hca), rail()); }
};

// Which unit and rail a leaf serves: those of most HCAs on it.
std::vector<std::pair<int, int>> leaf_owners(const Fabric& fabric) {
    std::vector<Mode<std::pair<int, int>>> votes(fabric.switches.size());
    for (const Host& host : fabric.hosts)
        for (std::size_t r = 0; r < host.leaves.size(); ++r)
            if (host.leaves[r] != none && host.unit != none)
                votes[at(host.leaves[r])].add({host.unit, static_cast<int>(r)});
    std::vector<std::pair<int, int>> owners;
    for (const auto& vote : votes)
        owners.push_back(vote.empty() ? std::pair(none, none) : vote.value());
    return owners;
}

std::vector<Misplaced> find_misplaced(const Fabric& fabric) {
    std::vector<Misplaced> found;
    for (const Host& host : fabric.hosts) {
        if (host.unit == none) continue;
        const auto& plan = fabric.units[at(host.unit)].leaves;
        for (const Hca& hca : host.hcas) {
            if (hca.rail == none) continue;
            const int actual = host.leaves[at(hca.rail)], expected = plan[at(hca.rail)];
            if (actual == none || actual == expected) continue;
            for (const HcaPort& port : hca.ports) {
                if (port.leaf != actual) continue;
                const Link& link = fabric.links[at(port.link)];
                found.push_back({&host, &hca, link.a.switch_ == actual ? link.a : link.b, expected});
                break;
            }
        }
    }
    return found;
}

std::string hca_end(const Misplaced& m) {
    for (const HcaPort& port : m.hca->ports)
        if (port.leaf == m.actual()) return fmt::format("{}/{}", hca_name(*m.host, *m.hca), port.number);
    return hca_name(*m.host, *m.hca);
}

void tell_swap(const Fabric& fabric, Misplaced& a, Misplaced& b, Findings& findings) {
    a.told = b.told = true;
    findings.push_back(
        {"hca.swapped",
         Severity::error,
         {hca_end(a), end_name(fabric, a.switch_end), hca_end(b), end_name(fabric, b.switch_end)},
         fmt::format("{} and {} are swapped: they hang on {} and {}; swap the two cables", a.name(), b.name(),
                     end_name(fabric, a.switch_end), end_name(fabric, b.switch_end))});
}

// Pairs that hang on each other's leaves, in one host or in any two.
void tell_swaps(const Fabric& fabric, bool same_host, std::vector<Misplaced>& misplaced, Findings& findings) {
    std::map<std::tuple<const Host*, int, int>, std::vector<Misplaced*>> waiting; // by host, expected, actual
    for (Misplaced& m : misplaced) {
        if (m.told || m.expected == none) continue;
        const Host* host = same_host ? m.host : nullptr;
        const auto partner = waiting.find({host, m.actual(), m.expected});
        if (partner == waiting.end() || partner->second.empty()) {
            waiting[{host, m.expected, m.actual()}].push_back(&m);
        } else {
            tell_swap(fabric, *partner->second.front(), m, findings);
            partner->second.erase(partner->second.begin());
        }
    }
}

// Three or more HCAs of one host that hang on each other's leaves in a ring.
void tell_rings(const Fabric& fabric, std::vector<Misplaced>& misplaced, Findings& findings) {
    std::map<std::pair<const Host*, int>, Misplaced*> by_expected;
    for (Misplaced& m : misplaced)
        if (!m.told && m.expected != none) by_expected.emplace(std::pair(m.host, m.expected), &m);
    for (Misplaced& first : misplaced) {
        if (first.told || first.expected == none) continue;
        std::vector<Misplaced*> ring;
        Misplaced* next = &first;
        do {
            ring.push_back(next);
            const auto found = by_expected.find({next->host, next->actual()});
            next = found == by_expected.end() || found->second->told ? nullptr : found->second;
        } while (next != nullptr && next != &first && ring.size() <= at(fabric.rails));
        if (next != &first) continue;
        Finding finding{"hca.rotated", Severity::error, {}, {}};
        std::string moves;
        for (Misplaced* m : ring) {
            m->told = true;
            finding.ends.push_back(hca_end(*m));
            finding.ends.push_back(end_name(fabric, m->switch_end));
            moves += fmt::format("{}{} to {}", moves.empty() ? "" : ", ", m->hca->device,
                                 switch_name(fabric, m->expected));
        }
        finding.text = fmt::format("{} cables of {} are rotated among its rails; move {}", ring.size(),
                                   first.host->name, moves);
        findings.push_back(std::move(finding));
    }
}

void tell_single(const Fabric& fabric, const std::vector<std::pair<int, int>>& owners, const Misplaced& m,
                 Findings& findings) {
    const auto [unit, rail] = owners[at(m.actual())];
    const auto here = end_name(fabric, m.switch_end);
    const auto fix = m.expected == none
                         ? fmt::format("{} has no leaf for this rail", fabric.units[at(m.host->unit)].name)
                         : fmt::format("move its cable to {}", switch_name(fabric, m.expected));
    Finding finding{"hca.wrong_leaf", Severity::error, {hca_end(m), here}, {}};
    if (fabric.switches[at(m.actual())].tier != 0) {
        finding.code = "hca.on_spine";
        finding.text = fmt::format("{} hangs on {}, which is no leaf; {}", m.name(), here, fix);
    } else if (unit == m.host->unit) {
        finding.code = "hca.wrong_rail";
        finding.text = fmt::format("{} hangs on {}, the leaf of rail {}; {}", m.name(), here, rail, fix);
    } else if (unit != none) {
        finding.code = "hca.wrong_unit";
        finding.text =
            fmt::format("{} hangs on {}, a leaf of {}, while its host is in {}; {}", m.name(), here,
                        fabric.units[at(unit)].name, fabric.units[at(m.host->unit)].name, fix);
    } else {
        finding.text = fmt::format("{} hangs on {} alone; {}", m.name(), here, fix);
    }
    findings.push_back(std::move(finding));
}

// A unit none of whose leaves is mostly its own: hosts cabled to several units.
bool between_units(const std::vector<std::pair<int, int>>& owners, const Unit& unit, int index) {
    std::size_t leaves = 0;
    for (const int leaf : unit.leaves) {
        if (leaf == none) continue;
        ++leaves;
        if (owners[at(leaf)].first == index) return false;
    }
    return leaves > 1;
}

void tell_between_units(const Fabric& fabric, const std::vector<std::pair<int, int>>& owners,
                        Findings& findings) {
    for (int u = 0; at(u) < fabric.units.size(); ++u) {
        const Unit& unit = fabric.units[at(u)];
        if (!between_units(owners, unit, u)) continue;
        std::map<std::string, std::vector<int>> rails; // by the unit whose leaves they are on
        for (std::size_t r = 0; r < unit.leaves.size(); ++r)
            if (unit.leaves[r] != none)
                rails[fabric.units[at(owners[at(unit.leaves[r])].first)].name].push_back(static_cast<int>(r));
        std::string where;
        for (const auto& [name, list] : rails)
            where += fmt::format("{}rail {} on leaves of {}", where.empty() ? "" : ", ",
                                 fmt::join(list, ", "), name);
        findings.push_back(
            {"host.between_units",
             Severity::error,
             {host_names(fabric, unit.hosts)},
             fmt::format("{} is cabled to several units ({}); move the cables to the leaves of one",
                         host_names(fabric, unit.hosts), where)});
    }
}

// Rails without a link that an HCA of unknown name may be: those are told with the names. The HCA is one of
// the host's own by its name, or hangs nameless on the leaf where no more hosts lack a link.
class Excuses {
public:
    explicit Excuses(const Fabric& fabric) : balance_(fabric.switches.size(), 0) {
        for (const Host& host : fabric.hosts) {
            for (const Hca& hca : host.hcas)
                for (const HcaPort& port : hca.ports)
                    if (port.leaf != none && unidentified(host, hca)) ++balance_[at(port.leaf)];
            if (host.unit == none) continue;
            const auto& plan = fabric.units[at(host.unit)].leaves;
            for (std::size_t r = 0; r < plan.size(); ++r)
                if (plan[r] != none && host.leaves[r] == none) --balance_[at(plan[r])];
        }
    }
    bool excused(const Host& host, int leaf) const {
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (port.leaf == leaf && unidentified(host, hca)) return true;
        return balance_[at(leaf)] >= 0;
    }

private:
    std::vector<int> balance_; // unidentified HCAs on a leaf less hosts that lack a link to it
};

void tell_missing_rails(const Fabric& fabric, Findings& findings) {
    const Excuses excuses(fabric);
    for (const Unit& unit : fabric.units) {
        std::map<std::vector<int>, std::vector<std::uint32_t>> hosts; // by the rails they lack
        for (const auto h : unit.hosts) {
            std::vector<int> lacking;
            for (std::size_t r = 0; r < unit.leaves.size(); ++r)
                if (const int leaf = unit.leaves[r]; leaf != none && fabric.hosts[h].leaves[r] == none &&
                                                     !excuses.excused(fabric.hosts[h], leaf))
                    lacking.push_back(static_cast<int>(r));
            if (!lacking.empty()) hosts[lacking].push_back(h);
        }
        for (const auto& [rails, members] : hosts) {
            Finding finding{"host.rails", Severity::error, {host_names(fabric, members)}, {}};
            std::vector<std::string> leaves;
            for (const int r : rails)
                leaves.push_back(switch_name(fabric, unit.leaves[at(r)]));
            finding.ends.insert(finding.ends.end(), leaves.begin(), leaves.end());
            finding.text = fmt::format(
                "{} {} no link on {} {} ({}), which other hosts of {} have; look for a dead, disabled or "
                "uncabled HCA",
                finding.ends.front(), members.size() == 1 ? "has" : "have",
                rails.size() == 1 ? "rail" : "rails", fmt::join(rails, ", "), base::fold_hostlist(leaves),
                unit.name);
            findings.push_back(std::move(finding));
        }
    }
}

// A rail that a whole unit lacks while most units have it.
void tell_missing_leaves(const Fabric& fabric, Findings& findings) {
    for (std::size_t r = 0; r < at(fabric.rails); ++r) {
        std::vector<const Unit*> without;
        for (const Unit& unit : fabric.units)
            if (unit.leaves[r] == none) without.push_back(&unit);
        if (without.size() * 2 >= fabric.units.size()) continue;
        for (const Unit* unit : without)
            findings.push_back(
                {"unit.rails",
                 Severity::error,
                 {unit->name},
                 fmt::format("{} ({}) has no rail {}, which most units have; look for a leaf that is down",
                             unit->name, host_names(fabric, unit->hosts), r)});
    }
}

// A leaf that serves several rails where most serve one.
void tell_shared_leaves(const Fabric& fabric, Findings& findings) {
    std::map<int, std::vector<std::pair<int, int>>> served; // leaf → unit and rail
    for (int u = 0; at(u) < fabric.units.size(); ++u)
        for (std::size_t r = 0; r < fabric.units[at(u)].leaves.size(); ++r)
            if (const int leaf = fabric.units[at(u)].leaves[r]; leaf != none)
                served[leaf].emplace_back(u, static_cast<int>(r));
    const auto rails_on = [](const std::vector<std::pair<int, int>>& uses) {
        std::vector<int> rails;
        for (const auto& [unit, rail] : uses)
            rails.push_back(rail);
        std::sort(rails.begin(), rails.end());
        rails.erase(std::unique(rails.begin(), rails.end()), rails.end());
        return rails;
    };
    Mode<std::size_t> usual;
    for (const auto& [leaf, uses] : served)
        usual.add(rails_on(uses).size());
    for (const auto& [leaf, uses] : served) {
        const auto rails = rails_on(uses);
        if (rails.size() <= usual.value()) continue;
        findings.push_back(
            {"leaf.rails",
             Severity::warning,
             {switch_name(fabric, leaf)},
             fmt::format("{} carries rails {} of {}; most leaves carry {}: give each rail a leaf of its own",
                         switch_name(fabric, leaf), fmt::join(rails, ", "),
                         fabric.units[at(uses.front().first)].name, usual.value())});
    }
}

std::string_view stem(std::string_view name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

// Compute hosts by name that show so few HCAs that they count as service hosts.
void tell_thin_hosts(const Fabric& fabric, Findings& findings) {
    std::map<std::string_view, Mode<std::size_t>> compute; // HCAs of compute hosts by stem of name
    for (const Host& host : fabric.hosts)
        if (host.unit != none) compute[stem(host.name)].add(host.hcas.size());
    for (const Host& host : fabric.hosts) {
        const auto kin = compute.find(stem(host.name));
        if (host.unit != none || kin == compute.end() || stem(host.name).empty() ||
            host.name.starts_with("0x"))
            continue;
        findings.push_back(
            {"host.thin",
             Severity::error,
             {host.name},
             fmt::format("{} shows {} where hosts named like it have {}, and counts as a storage or service "
                         "host; look "
                         "for dead or uncabled HCAs",
                         host.name, counted(host.hcas.size(), "HCA", "HCAs"), kin->second.value())});
    }
}

} // namespace

void hosts(const Fabric& fabric, Findings& findings) {
    const auto owners = leaf_owners(fabric);
    auto misplaced = find_misplaced(fabric);
    // What explains itself within one host is taken so, before two hosts are said to be crossed.
    tell_swaps(fabric, true, misplaced, findings);
    tell_rings(fabric, misplaced, findings);
    tell_swaps(fabric, false, misplaced, findings);
    for (const Misplaced& m : misplaced)
        if (!m.told) tell_single(fabric, owners, m, findings);
    tell_between_units(fabric, owners, findings);
    tell_missing_rails(fabric, findings);
    tell_missing_leaves(fabric, findings);
    tell_shared_leaves(fabric, findings);
    tell_thin_hosts(fabric, findings);
}

} // namespace topo::checks
