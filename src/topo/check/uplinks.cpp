// Links between leaves and spines, against the other leaves of the pod.
#include "topo/check/parts.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace topo::checks {
namespace {

// Where a switch's links upward go. The one with more links is the greater.
struct Spread {
    int links = 0;
    std::map<int, int> to; // upper switch → links
    auto operator<=>(const Spread&) const = default;
};

// A switch whose links upward are not as those of its siblings.
struct Odd {
    int lower;
    std::vector<int> lacks, gains; // upper switches, one entry a link
};

std::vector<Spread> upward(const Fabric& fabric) {
    std::vector<Spread> spreads(fabric.switches.size());
    for (const Link& link : fabric.links) {
        if (link.a.switch_ == none || link.b.switch_ == none) continue;
        const int a = fabric.switches[at(link.a.switch_)].tier, b = fabric.switches[at(link.b.switch_)].tier;
        if (a == none || b == none || a == b) continue;
        const End& lower = a < b ? link.a : link.b;
        ++spreads[at(lower.switch_)].links;
        ++spreads[at(lower.switch_)].to[(a < b ? link.b : link.a).switch_];
    }
    return spreads;
}

struct Group {
    std::vector<int> members;
    Spread usual;
};

// The members and what most of them have; nothing when there is no such majority.
std::optional<Group> group_of(std::vector<int> members, const std::vector<Spread>& spreads) {
    Mode<Spread> usual;
    for (const int s : members)
        usual.add(spreads[at(s)]);
    if (members.size() < 2 || usual.count() * 2 < members.size()) return {};
    return Group{std::move(members), usual.value()};
}

// Leaves that should look upward alike: all of a pod where most do, else those of one rail in it.
std::vector<Group> leaf_groups(const Fabric& fabric, const std::vector<Spread>& spreads) {
    std::vector<std::map<int, std::vector<int>>> by_rail(fabric.pods.size());
    std::vector<char> seen(fabric.switches.size(), 0);
    for (const Unit& unit : fabric.units)
        for (std::size_t r = 0; r < unit.leaves.size(); ++r) {
            const int leaf = unit.leaves[r];
            if (leaf == none || seen[at(leaf)] != 0) continue;
            seen[at(leaf)] = 1;
            by_rail[at(unit.pod)][static_cast<int>(r)].push_back(leaf);
        }
    std::vector<Group> groups;
    for (const auto& rails : by_rail) {
        std::vector<int> all;
        for (const auto& [rail, leaves] : rails)
            all.insert(all.end(), leaves.begin(), leaves.end());
        if (auto whole = group_of(std::move(all), spreads)) {
            groups.push_back(std::move(*whole));
            continue;
        }
        for (const auto& [rail, leaves] : rails)
            if (auto group = group_of(leaves, spreads)) groups.push_back(std::move(*group));
    }
    return groups;
}

Odd compare(int lower, const Spread& own, const Spread& usual) {
    Odd odd{lower, {}, {}};
    for (const auto& [upper, count] : usual.to) {
        const auto found = own.to.find(upper);
        for (int i = found == own.to.end() ? 0 : found->second; i < count; ++i)
            odd.lacks.push_back(upper);
    }
    for (const auto& [upper, count] : own.to) {
        const auto found = usual.to.find(upper);
        for (int i = found == usual.to.end() ? 0 : found->second; i < count; ++i)
            odd.gains.push_back(upper);
    }
    return odd;
}

std::vector<std::string> link_ends(const Fabric& fabric, int lower, int upper) {
    for (const Link& link : fabric.links)
        if ((link.a.switch_ == lower && link.b.switch_ == upper) ||
            (link.b.switch_ == lower && link.a.switch_ == upper))
            return {end_name(fabric, link.a.switch_ == lower ? link.a : link.b),
                    end_name(fabric, link.a.switch_ == lower ? link.b : link.a)};
    return {switch_name(fabric, lower), switch_name(fabric, upper)};
}

// Two switches each of which has the link that the other lacks: a pair of crossed cables.
void tell_crossed(const Fabric& fabric, std::vector<Odd>& odds, Findings& findings) {
    std::map<std::pair<int, int>, std::vector<Odd*>> waiting; // by the link lacked and the one gained
    const auto drop = [](std::vector<int>& from, int what) {
        from.erase(std::find(from.begin(), from.end(), what));
    };
    const auto has = [](const std::vector<int>& in, int what) {
        return std::find(in.begin(), in.end(), what) != in.end();
    };
    for (Odd& odd : odds) {
        for (auto l = odd.lacks.size(); l-- > 0;)
            for (auto g = odd.gains.size(); g-- > 0 && l < odd.lacks.size();) {
                const int lack = odd.lacks[l], gain = odd.gains[g];
                auto& partners = waiting[{gain, lack}];
                const auto partner = std::find_if(partners.begin(), partners.end(), [&](const Odd* other) {
                    return other->lower != odd.lower && has(other->lacks, gain) && has(other->gains, lack);
                });
                if (partner == partners.end()) continue;
                auto ends = link_ends(fabric, (*partner)->lower, lack);
                const auto more = link_ends(fabric, odd.lower, gain);
                ends.insert(ends.end(), more.begin(), more.end());
                findings.push_back(
                    {"uplink.crossed", Severity::error, ends,
                     fmt::format(
                         "uplinks are crossed: {} leads to {} and {} to {}, each where the other's siblings "
                         "lead; swap the two cables",
                         ends[0], ends[1], ends[2], ends[3])});
                drop((*partner)->lacks, gain);
                drop((*partner)->gains, lack);
                drop(odd.lacks, lack);
                drop(odd.gains, gain);
                partners.erase(partner);
            }
        for (const int lack : odd.lacks)
            for (const int gain : odd.gains)
                waiting[{lack, gain}].push_back(&odd);
    }
}

void tell_odd(const Fabric& fabric, const Odd& odd, int own, int usual, Findings& findings) {
    const auto name = switch_name(fabric, odd.lower);
    if (!odd.gains.empty() && !odd.lacks.empty()) {
        const auto ends = link_ends(fabric, odd.lower, odd.gains.front());
        findings.push_back(
            {"uplink.wrong_spine", Severity::warning, ends,
             fmt::format("{} leads to {} where the other leaves of its kind lead to {}; move the cable",
                         ends[0], ends[1], switch_name(fabric, odd.lacks.front()))});
    } else if (!odd.lacks.empty()) {
        std::set<std::string> uppers;
        for (const int upper : odd.lacks)
            uppers.insert(switch_name(fabric, upper));
        std::vector<std::string> ends{name};
        ends.insert(ends.end(), uppers.begin(), uppers.end());
        findings.push_back(
            {"uplink.missing", own == 0 ? Severity::error : Severity::warning, ends,
             fmt::format(
                 "{} has {} where the other leaves of its kind have {}: none or too few lead to {}; look for "
                 "a dead or unplugged cable",
                 name, counted(static_cast<std::size_t>(own), "uplink", "uplinks"), usual,
                 fmt::join(uppers, ", "))});
    }
}

} // namespace

void uplinks(const Fabric& fabric, Findings& findings) {
    const auto spreads = upward(fabric);
    std::vector<Odd> odds;
    std::map<int, std::pair<int, int>> counts; // switch → uplinks of its own and of its siblings
    for (const Group& group : leaf_groups(fabric, spreads))
        for (const int leaf : group.members) {
            if (spreads[at(leaf)] == group.usual) continue;
            counts[leaf] = {spreads[at(leaf)].links, group.usual.links};
            odds.push_back(compare(leaf, spreads[at(leaf)], group.usual));
        }
    tell_crossed(fabric, odds, findings);
    for (const Odd& odd : odds)
        tell_odd(fabric, odd, counts[odd.lower].first, counts[odd.lower].second, findings);
}

} // namespace topo::checks
