// Links upward, of leaves to spines and of spines to cores, against those of switches of the same kind.
#include "topo/check/parts.hpp"

#include <fmt/format.h>

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

// Switches that should look upward alike, and how most of them do.
struct Group {
    std::vector<int> members;
    Spread usual;
    std::size_t typical = 0; // members that are just so
};

int links_shared(const Spread& a, const Spread& b) {
    int shared = 0;
    for (const auto& [upper, count] : a.to)
        if (const auto found = b.to.find(upper); found != b.to.end())
            shared += std::min(count, found->second);
    return shared;
}

// More uplinks, to fewer switches: of two equally common spreads the one that looks planned.
bool more_regular(const Spread& a, const Spread& b) {
    if (a.links != b.links) return a.links > b.links;
    return a.to.size() < b.to.size();
}

// Groups of switches of one tier. Equal spreads are taken most common first; a rare one that shares at least
// half its links with a common one is a faulty copy of it. Only as many groups are compared with as a
// fabric has planes and rails, so that a fabric wired at random costs no more than linear time.
std::vector<Group> groups_of(const std::vector<int>& members, const std::vector<Spread>& spreads) {
    constexpr std::size_t most_compared = 64;
    std::map<Spread, std::vector<int>> equal;
    for (const int s : members)
        if (spreads[at(s)].links > 0) equal[spreads[at(s)]].push_back(s);
    std::vector<const std::pair<const Spread, std::vector<int>>*> order;
    for (const auto& entry : equal)
        order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        if (a->second.size() != b->second.size()) return a->second.size() > b->second.size();
        return more_regular(a->first, b->first);
    });
    std::vector<Group> groups;
    std::map<int, std::vector<std::size_t>> groups_at; // upper switch → groups that lead there
    for (const auto* entry : order) {
        const auto& [spread, switches] = *entry;
        Group* copy_of = nullptr;
        std::set<std::size_t> candidates;
        for (const auto& [upper, count] : spread.to)
            for (const auto g : groups_at[upper])
                if (candidates.size() < most_compared) candidates.insert(g);
        int best = 0;
        for (const auto g : candidates) {
            const bool rare = switches.size() == 1 || switches.size() * 4 <= groups[g].typical;
            const int shared = links_shared(spread, groups[g].usual);
            if (!rare || shared * 2 < spread.links || shared <= best) continue;
            best = shared;
            copy_of = &groups[g];
        }
        if (copy_of != nullptr) {
            copy_of->members.insert(copy_of->members.end(), switches.begin(), switches.end());
            continue;
        }
        for (const auto& [upper, count] : spread.to)
            groups_at[upper].push_back(groups.size());
        groups.push_back({switches, spread, switches.size()});
    }
    return groups;
}

// The leaves of pods, and the switches of any higher tier but the last, each list judged by itself.
std::vector<std::vector<int>> peers(const Fabric& fabric) {
    std::vector<std::vector<int>> lists(at(std::max(fabric.tiers - 1, 0)));
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        const Switch& one = fabric.switches[at(s)];
        if (one.tier == none || one.tier + 1 >= fabric.tiers) continue;
        if (one.tier == 0 && one.pod == none) continue; // storage
        lists[at(one.tier)].push_back(s);
    }
    return lists;
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

// A link between two switches by name, and what the switches of a tier are called.
class Cables {
public:
    explicit Cables(const Fabric& fabric) : fabric_(fabric) {
        for (std::size_t l = 0; l < fabric.links.size(); ++l) {
            const Link& link = fabric.links[l];
            if (link.a.switch_ == none || link.b.switch_ == none) continue;
            first_.emplace(std::pair(link.a.switch_, link.b.switch_), l);
            first_.emplace(std::pair(link.b.switch_, link.a.switch_), l);
        }
    }
    std::vector<std::string> ends(int lower, int upper) const {
        const auto found = first_.find({lower, upper});
        if (found == first_.end()) return {switch_name(fabric_, lower), switch_name(fabric_, upper)};
        const Link& link = fabric_.links[found->second];
        const bool ahead = link.a.switch_ == lower;
        return {end_name(fabric_, ahead ? link.a : link.b), end_name(fabric_, ahead ? link.b : link.a)};
    }
    std::string_view kind(int s) const {
        const int tier = fabric_.switches[at(s)].tier;
        return tier == 0 ? "leaves" : tier == 1 ? "spines" : "switches";
    }
    std::string name(int s) const { return switch_name(fabric_, s); }

private:
    const Fabric& fabric_;
    std::map<std::pair<int, int>, std::size_t> first_;
};

// Two switches each of which has the link that the other lacks: a pair of crossed cables.
void report_crossed(const Cables& cables, std::vector<Odd>& odds, Findings& findings) {
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
                auto ends = cables.ends((*partner)->lower, lack);
                const auto more = cables.ends(odd.lower, gain);
                ends.insert(ends.end(), more.begin(), more.end());
                findings.push_back(
                    {"uplink.crossed", Severity::error, ends,
                     fmt::format("uplinks are crossed: {} leads to {} and {} to {}, each where the other's "
                                 "siblings lead",
                                 ends[0], ends[1], ends[2], ends[3]),
                     "swap the two cables"});
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

void report_odd(const Cables& cables, const Odd& odd, int own, int usual, Findings& findings) {
    if (!odd.gains.empty() && !odd.lacks.empty()) {
        const auto ends = cables.ends(odd.lower, odd.gains.front());
        findings.push_back({"uplink.wrong_spine", Severity::warning, ends,
                            fmt::format("{} leads to {} where the other {} of its kind lead to {}", ends[0],
                                        ends[1], cables.kind(odd.lower), cables.name(odd.lacks.front())),
                            "move the cable"});
    } else if (own < usual) {
        std::set<std::string> uppers;
        for (const int upper : odd.lacks)
            uppers.insert(cables.name(upper));
        std::vector<std::string> ends{cables.name(odd.lower)};
        ends.insert(ends.end(), uppers.begin(), uppers.end());
        findings.push_back({"uplink.missing", own == 0 ? Severity::error : Severity::warning, ends,
                            fmt::format("{} has {} where the other {} of its kind have {}{}", ends.front(),
                                        counted(at(own), "uplink", "uplinks"), cables.kind(odd.lower), usual,
                                        uppers.empty() ? std::string()
                                                       : fmt::format(": none or too few lead to {}",
                                                                     fmt::join(uppers, ", "))),
                            "look for a dead or unplugged cable"});
    }
}

} // namespace

void uplinks(const Fabric& fabric, Findings& findings) {
    const auto spreads = upward(fabric);
    std::vector<Odd> odds;
    std::map<int, int> usual_links; // odd switch → uplinks of its siblings
    for (const auto& members : peers(fabric)) {
        std::vector<char> judged(fabric.switches.size(), 0);
        for (const Group& group : groups_of(members, spreads)) {
            if (group.members.size() < 2 || group.typical * 2 < group.members.size()) continue;
            for (const int s : group.members) {
                judged[at(s)] = 1;
                if (spreads[at(s)] == group.usual) continue;
                usual_links[s] = group.usual.links;
                odds.push_back(compare(s, spreads[at(s)], group.usual));
            }
        }
        // Those without a like are held to the number of links of their pod's other switches of the tier.
        std::map<int, Mode<int>> numbers; // by pod
        for (const int s : members)
            numbers[fabric.switches[at(s)].pod].add(spreads[at(s)].links);
        for (const int s : members) {
            const auto& number = numbers[fabric.switches[at(s)].pod];
            if (judged[at(s)] != 0 || number.count() * 2 <= number.total()) continue;
            if (spreads[at(s)].links >= number.value()) continue;
            usual_links[s] = number.value();
            odds.push_back({s, {}, {}});
        }
    }
    if (odds.empty()) return;
    std::stable_sort(odds.begin(), odds.end(), [](const Odd& a, const Odd& b) { return a.lower < b.lower; });
    const Cables cables(fabric);
    report_crossed(cables, odds, findings);
    for (const Odd& odd : odds)
        report_odd(cables, odd, spreads[at(odd.lower)].links, usual_links[odd.lower], findings);
}

} // namespace topo::checks
