// Units none of whose hosts is seen. The numbers of hosts and those of leaves leave them out between others,
// or before the first, where the spines keep its ports free. Behind the last a fabric may simply end.
#include "topo/check/parts.hpp"
#include "topo/check/series.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <tuple>

namespace topo::checks {
namespace {

// A unit whose hosts are numbered through.
struct Numbered {
    Series series;
    const Unit* unit;

    std::uint32_t first() const { return series.numbers.front(); }
    std::uint32_t last() const { return series.numbers.back(); }
    bool kin(const Numbered& other) const { return series.name.kin(other.series.name); }
    bool before(const Numbered& other) const { return kin(other) && last() + 1 == other.first(); }
};

// Those of so many numbers, in their order.
std::vector<Numbered> numbered_units(const Fabric& fabric, std::size_t usual) {
    std::vector<Numbered> units;
    for (const Unit& unit : fabric.units)
        if (auto series = series_of(fabric, unit);
            series && series->numbers.back() - series->numbers.front() + 1 == usual)
            units.push_back({*std::move(series), &unit});
    std::sort(units.begin(), units.end(), [](const Numbered& a, const Numbered& b) {
        const auto key = [](const Numbered& of) {
            return std::tuple(of.series.name.stem, of.series.name.tail, of.first());
        };
        return key(a) < key(b);
    });
    return units;
}

std::vector<int> all_leaves(const Unit& unit) {
    auto leaves = unit.leaves;
    leaves.insert(leaves.end(), unit.more_leaves.begin(), unit.more_leaves.end());
    return leaves;
}

// What the leaves of a unit are called, by how the names go on from unit to unit.
class LeafNames {
public:
    LeafNames(const Fabric& fabric, const std::vector<Numbered>& units)
        : fabric_(fabric), with_hosts_(fabric.switches.size(), 0) {
        for (const Host& host : fabric.hosts)
            for (const Hca& hca : host.hcas)
                for (const HcaPort& port : hca.ports)
                    if (port.leaf != none) with_hosts_[at(port.leaf)] = 1;
        for (int s = 0; at(s) < fabric.switches.size(); ++s)
            seen_.emplace(fabric.switches[at(s)].name, s);
        constexpr int most = 4; // numbers of a name
        for (int n = 0; n < most && step_ == 0; ++n) {
            Mode<std::int64_t> steps;
            for (auto next = units.begin(), last = next; next != units.end(); last = next++)
                if (last != next && last->before(*next)) add_steps(*last->unit, *next->unit, n, steps);
            if (steps.empty() || steps.count() * 2 <= steps.total()) continue;
            number_ = n;
            step_ = steps.value();
        }
    }

    // Of the unit so many before this one, with numbers from `least`; empty where they cannot be told.
    std::vector<std::string> before(const Unit& unit, std::size_t units, std::int64_t least) const {
        std::vector<std::string> names;
        for (const int leaf : all_leaves(unit)) {
            if (leaf == none) continue;
            const auto name = name_of(leaf, number_);
            const auto number = name ? name->number - static_cast<std::int64_t>(units) * step_ : -1;
            if (step_ == 0 || number < least) return {};
            auto text = name->at(static_cast<std::uint32_t>(number));
            if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(std::move(text));
        }
        return names;
    }
    bool are_of(const Unit& unit, const std::vector<std::string>& names) const {
        const auto leaves = all_leaves(unit);
        return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
            const auto found = seen_.find(name);
            return found != seen_.end() &&
                   std::find(leaves.begin(), leaves.end(), found->second) != leaves.end();
        });
    }
    bool seen(const std::string& name) const { return seen_.contains(name); }
    // Whether it is not seen, or a leaf without hosts.
    bool without_hosts(const std::string& name) const {
        const auto found = seen_.find(name);
        return found == seen_.end() ||
               (fabric_.switches[at(found->second)].tier == 0 && with_hosts_[at(found->second)] == 0);
    }

private:
    std::optional<NumberedName> name_of(int leaf, int before_last) const {
        return leaf == none ? std::nullopt : numbered(fabric_.switches[at(leaf)].name, before_last);
    }
    void add_steps(const Unit& one, const Unit& next, int n, Mode<std::int64_t>& steps) const {
        const auto a = all_leaves(one), b = all_leaves(next);
        for (std::size_t i = 0; i < a.size() && a.size() == b.size(); ++i) {
            const auto x = name_of(a[i], n), y = name_of(b[i], n);
            if (x && y) steps.add(x->kin(*y) ? std::int64_t{y->number} - x->number : 0);
        }
    }

    const Fabric& fabric_;
    std::vector<char> with_hosts_;                 // by switch
    std::map<std::string, int, std::less<>> seen_; // by name
    int number_ = 0;                               // of the names, which goes on; counted from the last
    std::int64_t step_ = 0;
};

// Whether on most spines above a unit the ports before all that are in use are as many as lead to so many
// such units.
bool ports_are_kept(const Fabric& fabric, const Unit& unit, std::size_t units) {
    const auto leaves = all_leaves(unit);
    struct Spine {
        int first = 255; // port in use
        std::size_t links = 0;
    };
    std::map<int, Spine> spines;
    for (const Link& link : fabric.links)
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (here->switch_ == none || fabric.switches[at(here->switch_)].tier != 1) continue;
            Spine& spine = spines[here->switch_];
            spine.first = std::min<int>(spine.first, here->port);
            if (there->switch_ != none &&
                std::find(leaves.begin(), leaves.end(), there->switch_) != leaves.end())
                ++spine.links;
        }
    std::erase_if(spines, [](const auto& spine) { return spine.second.links == 0; });
    const auto kept = std::count_if(spines.begin(), spines.end(), [&](const auto& spine) {
        return at(spine.second.first - 1) == spine.second.links * units;
    });
    return static_cast<std::size_t>(kept) * 2 > spines.size();
}

// Names of hosts with numbers from `from` to before `to`; empty when one of them is seen.
std::vector<std::string> unseen_hosts(const Fabric& fabric, const NumberedName& name, std::uint32_t from,
                                      std::uint32_t to) {
    std::vector<std::string> names;
    for (auto n = from; n < to; ++n) {
        if (fabric.find_host(name.at(n))) return {};
        names.push_back(name.at(n));
    }
    return names;
}

// Hosts and leaves of units, of which the latter are not seen or have no host.
struct Gone {
    std::vector<std::string> hosts, unseen, idle;
};

void report_gone(const Gone& gone, std::size_t units, std::string_view grounds, Findings& findings) {
    Finding finding{"host.missing", Severity::warning, {base::fold_hostlist(gone.hosts)}, {}, {}};
    finding.ends.insert(finding.ends.end(), gone.unseen.begin(), gone.unseen.end());
    finding.ends.insert(finding.ends.end(), gone.idle.begin(), gone.idle.end());
    finding.evidence = fmt::format("{} are not seen", finding.ends.front());
    if (!gone.unseen.empty()) finding.evidence += fmt::format(", nor {}", base::fold_hostlist(gone.unseen));
    if (!gone.idle.empty())
        finding.evidence += fmt::format(", and {} {} no host", base::fold_hostlist(gone.idle),
                                        gone.idle.size() == 1 ? "has" : "have");
    finding.evidence +=
        fmt::format(": {}, by the numbers of the others{}",
                    units == 1 ? std::string("a whole unit") : fmt::format("{} whole units", units), grounds);
    finding.fix = gone.unseen.empty() ? "look whether its hosts are powered"
                                      : "look whether its leaves are powered and cabled";
    findings.push_back(std::move(finding));
}

} // namespace

void missing_units(const Fabric& fabric, Findings& findings) {
    constexpr std::size_t fewest = 3; // units that show the order
    Mode<std::size_t> sizes;
    for (const Unit& unit : fabric.units)
        sizes.add(unit.hosts.size());
    if (sizes.empty()) return;
    const auto usual = static_cast<std::uint32_t>(sizes.value());
    const auto units = numbered_units(fabric, usual);
    if (units.size() < fewest) return;
    const LeafNames names(fabric, units);
    for (auto next = units.begin(), last = next; next != units.end(); last = next++) {
        const bool first = next == units.begin() || !last->kin(*next);
        const auto least = next->first() % usual == 0 ? 0U : 1U; // number of a first host, and unit
        const auto from = first ? least : last->last() + 1;
        const std::size_t count = (next->first() - from) / usual;
        if (count == 0 || count > units.size() || (next->first() - from) % usual != 0) continue;
        Gone gone{unseen_hosts(fabric, next->series.name, from, next->first()), {}, {}};
        bool known = !gone.hosts.empty();
        for (std::size_t i = count; i > 0 && known; --i) {
            const auto leaves = names.before(*next->unit, i, least);
            known = !leaves.empty();
            for (const auto& leaf : leaves) {
                known = known && names.without_hosts(leaf);
                (names.seen(leaf) ? gone.idle : gone.unseen).push_back(leaf);
            }
        }
        if (!known) continue;
        if (!first) {
            if (names.are_of(*last->unit, names.before(*next->unit, count + 1, 0)))
                report_gone(gone, count, "", findings);
        } else if (gone.unseen.empty()) {
            report_gone(gone, count, "", findings);
        } else if (ports_are_kept(fabric, *next->unit, count)) {
            report_gone(gone, count, ", and their ports on the spines are free", findings);
        }
    }
}

} // namespace topo::checks
