// Uplinks, of leaves to spines and of spines to cores, compared with those of similar switches.
#include "topo/check/parts.hpp"
#include "topo/check/strays.hpp"
#include "topo/check/vanished.hpp"

#include <fmt/format.h>

#include <set>

namespace topo::checks {
namespace {

// Where a switch's uplinks lead. The one with more links compares greater.
struct Spread {
    int links = 0;
    std::map<int, int> to; // upper switch → links
    auto operator<=>(const Spread&) const = default;
};

// An uplink that should not exist, or should but does not.
struct Cable {
    int port;  // of the lower switch; none: unknown
    int upper; // switch
};

// A switch whose uplinks differ from those of its siblings.
struct Odd {
    int lower;
    std::vector<Cable> lacks, gains; // one entry per link
};

// For each port of a switch, the upper switch to which it leads.
using Ports = std::map<int, int>;

// Visits each link between tiers with its lower and upper end; stray links are skipped.
template <class Visit> void each_uplink(const Fabric& fabric, Visit visit) {
    const auto strays = stray_links(fabric);
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        if (link.a.switch_ == none || link.b.switch_ == none) continue;
        const int a = fabric.switches[at(link.a.switch_)].tier, b = fabric.switches[at(link.b.switch_)].tier;
        if (a == none || b == none || a == b || std::binary_search(strays.begin(), strays.end(), l)) continue;
        visit(a < b ? link.a : link.b, a < b ? link.b : link.a);
    }
}

std::vector<Spread> upward(const Fabric& fabric) {
    std::vector<Spread> spreads(fabric.switches.size());
    each_uplink(fabric, [&](const End& lower, const End& upper) {
        ++spreads[at(lower.switch_)].links;
        ++spreads[at(lower.switch_)].to[upper.switch_];
    });
    return spreads;
}

// The same by port.
std::vector<Ports> upward_ports(const Fabric& fabric) {
    std::vector<Ports> ports(fabric.switches.size());
    each_uplink(fabric, [&](const End& lower, const End& upper) {
        ports[at(lower.switch_)][lower.port] = upper.switch_;
    });
    return ports;
}

// Switches whose uplinks should be alike, and those of most of them.
struct Group {
    std::vector<int> members;
    Spread usual;
    std::size_t typical = 0; // members that are exactly like this
    Ports ports = {};        // where most members' ports lead; empty if they have no order
};

// The order of ports shared by most members; it must match the usual spread.
Ports port_order(const Group& group, const std::vector<Ports>& ports) {
    std::map<int, Mode<int>> votes;
    for (const int s : group.members)
        for (const auto& [port, upper] : ports[at(s)])
            votes[port].add(upper);
    Ports order;
    std::map<int, int> to;
    for (const auto& [port, vote] : votes)
        if (vote.count() * 2 > group.members.size()) {
            order[port] = vote.value();
            ++to[vote.value()];
        }
    return to == group.usual.to ? order : Ports{};
}

int links_shared(const Spread& a, const Spread& b) {
    int shared = 0;
    for (const auto& [upper, count] : a.to)
        if (const auto found = b.to.find(upper); found != b.to.end())
            shared += std::min(count, found->second);
    return shared;
}

// Of two equally common spreads the one that looks planned: with as many links as most of the tier (`usual`;
// none: there is no such number), else with more, to fewer switches.
bool more_regular(const Spread& a, const Spread& b, int usual) {
    if (a.links != b.links && (a.links == usual || b.links == usual)) return a.links == usual;
    if (a.links != b.links) return a.links > b.links;
    return a.to.size() < b.to.size();
}

// Whether this many switches with this spread are faulty copies of the group: few, with half of their links
// the group's; or up to half as many as the exact members, with seven of eight.
bool is_copy(std::size_t switches, const Spread& spread, int shared, const Group& group) {
    if (switches == 1 || switches * 4 <= group.typical) return shared * 2 >= spread.links;
    return switches * 2 <= group.typical && shared * 8 >= spread.links * 7;
}

// Groups of switches of one tier. Equal spreads are processed in order of frequency; a rare one that shares
// most of its links with a common one is a faulty copy of it. Only as many groups are compared as a fabric
// has planes and rails, so a randomly wired fabric takes linear time.
std::vector<Group> groups_of(const std::vector<int>& members, const std::vector<Spread>& spreads) {
    constexpr std::size_t most_compared = 64;
    std::map<Spread, std::vector<int>> equal;
    Mode<int> numbers;
    for (const int s : members)
        if (spreads[at(s)].links > 0) {
            equal[spreads[at(s)]].push_back(s);
            numbers.add(spreads[at(s)].links);
        }
    const int usual = !numbers.empty() && numbers.count() * 2 > numbers.total() ? numbers.value() : none;
    std::vector<const std::pair<const Spread, std::vector<int>>*> order;
    for (const auto& entry : equal)
        order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
        if (a->second.size() != b->second.size()) return a->second.size() > b->second.size();
        return more_regular(a->first, b->first, usual);
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
            const int shared = links_shared(spread, groups[g].usual);
            if (shared <= best || !is_copy(switches.size(), spread, shared, groups[g])) continue;
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

// The leaves of pods, the storage leaves, and the switches of each higher tier except the last, by network.
std::vector<std::vector<int>> peers(const Fabric& fabric) {
    const auto roles = roles_of(fabric);
    std::map<std::pair<int, bool>, std::vector<int>> lists; // by tier, storage
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        const Switch& one = fabric.switches[at(s)];
        if (one.tier == none || one.tier + 1 >= fabric.tiers) continue;
        const bool storage = one.tier == 0 ? one.pod == none : roles[at(s)] == Role::storage;
        lists[{one.tier, storage}].push_back(s);
    }
    std::vector<std::vector<int>> all;
    for (auto& [where, list] : lists)
        all.push_back(std::move(list));
    return all;
}

bool has(const std::vector<Cable>& in, int upper) {
    return std::any_of(in.begin(), in.end(), [&](const Cable& c) { return c.upper == upper; });
}

// The missing and additional links of a switch, compared with its siblings. If the siblings' ports have an
// order, they show which of several cables to a switch it is.
Odd compare(int lower, const Spread& own, const Ports& own_ports, const Group& group) {
    Odd odd{lower, {}, {}};
    const auto surplus = [](const Spread& of, const Spread& over, int upper) {
        const auto a = of.to.find(upper), b = over.to.find(upper);
        return (a == of.to.end() ? 0 : a->second) - (b == over.to.end() ? 0 : b->second);
    };
    const auto leads = [](const Ports& ports, int port) {
        const auto found = ports.find(port);
        return found == ports.end() ? none : found->second;
    };
    for (const auto& [upper, count] : group.usual.to) {
        int more = surplus(group.usual, own, upper);
        for (const auto& [port, to] : group.ports)
            if (more > 0 && to == upper && leads(own_ports, port) != upper) {
                odd.lacks.push_back({port, upper});
                --more;
            }
        for (; more > 0; --more)
            odd.lacks.push_back({none, upper});
    }
    const auto lacked = [&](int upper) { return has(odd.lacks, upper); };
    for (const auto& [upper, count] : own.to) {
        int more = surplus(own, group.usual, upper);
        // First a cable in the place of a missing one, then one on a port that others leave free, then any.
        for (int round = 0; round < 3; ++round)
            for (const auto& [port, to] : own_ports) {
                if (more <= 0 || to != upper) continue;
                const int planned = leads(group.ports, port);
                if (planned == upper && round < 2) continue;
                if (round == 0 ? !lacked(planned) : round == 1 && planned != none) continue;
                if (std::any_of(odd.gains.begin(), odd.gains.end(),
                                [&port = port](const Cable& c) { return c.port == port; }))
                    continue;
                odd.gains.push_back({port, upper});
                --more;
            }
    }
    // A cable in the place of a missing one, to a switch to which another is missing: the counts hide both.
    const auto lacks_at = [&](int port) {
        return std::any_of(odd.lacks.begin(), odd.lacks.end(),
                           [&](const Cable& c) { return c.port == port; });
    };
    for (const auto& [port, to] : own_ports) {
        const int planned = leads(group.ports, port);
        if (planned == none || planned == to || !lacks_at(port) || has(odd.gains, to)) continue;
        const auto place = std::find_if(group.ports.begin(), group.ports.end(), [&, &to = to](const auto& p) {
            return p.second == to && !own_ports.contains(p.first) && !lacks_at(p.first);
        });
        if (place == group.ports.end()) continue;
        odd.gains.push_back({port, to});
        odd.lacks.push_back({place->first, to});
    }
    return odd;
}

// Links between two switches by name, and the term for the switches of a tier.
class Cables {
public:
    explicit Cables(const Fabric& fabric) : fabric_(fabric) {
        for (std::size_t l = 0; l < fabric.links.size(); ++l) {
            const Link& link = fabric.links[l];
            if (link.a.switch_ == none || link.b.switch_ == none) continue;
            by_port_.emplace(std::pair(link.a.switch_, link.a.port), l);
            by_port_.emplace(std::pair(link.b.switch_, link.b.port), l);
        }
    }
    std::vector<std::string> ends(int lower, const Cable& cable) const {
        const auto found = by_port_.find({lower, cable.port});
        if (found == by_port_.end()) return {switch_name(fabric_, lower), switch_name(fabric_, cable.upper)};
        const Link& link = fabric_.links[found->second];
        const bool ahead = link.a.switch_ == lower;
        return {end_name(fabric_, ahead ? link.a : link.b), end_name(fabric_, ahead ? link.b : link.a)};
    }
    std::string port(int s, int port) const {
        return port == none ? name(s) : end_name(fabric_, {none, none, s, static_cast<std::uint8_t>(port)});
    }
    std::string_view kind(int s) const {
        const int tier = fabric_.switches[at(s)].tier;
        return tier == 0 ? "leaves" : tier == 1 ? "spines" : "switches";
    }
    std::string name(int s) const { return switch_name(fabric_, s); }

private:
    const Fabric& fabric_;
    std::map<std::pair<int, int>, std::size_t> by_port_;
};

// Removes one cable to `upper`, preferably the one that should be at `port`.
Cable take(std::vector<Cable>& from, int upper, int port) {
    auto best = from.end();
    for (auto c = from.begin(); c != from.end(); ++c)
        if (c->upper == upper && (best == from.end() || c->port == port)) best = c;
    const Cable cable = *best;
    from.erase(best);
    return cable;
}

// Two switches that each have the link that the other lacks: a pair of crossed cables.
void report_crossed(const Cables& cables, std::vector<Odd>& odds, Findings& findings) {
    std::map<std::pair<int, int>, std::vector<Odd*>> waiting; // by the missing link and the additional one
    for (Odd& odd : odds) {
        for (auto l = odd.lacks.size(); l-- > 0;)
            for (auto g = odd.gains.size(); g-- > 0 && l < odd.lacks.size();) {
                const int lack = odd.lacks[l].upper, gain = odd.gains[g].upper;
                auto& partners = waiting[{gain, lack}];
                const auto partner = std::find_if(partners.begin(), partners.end(), [&](const Odd* other) {
                    return other->lower != odd.lower && has(other->lacks, gain) && has(other->gains, lack);
                });
                if (partner == partners.end()) continue;
                Odd& other = **partner;
                const auto one = take(other.gains, lack, none), two = take(odd.gains, gain, none);
                take(other.lacks, gain, one.port);
                take(odd.lacks, lack, two.port);
                auto ends = cables.ends(other.lower, one);
                const auto more = cables.ends(odd.lower, two);
                ends.insert(ends.end(), more.begin(), more.end());
                findings.push_back(
                    {"uplink.crossed", Severity::error, ends,
                     fmt::format("uplinks are crossed: {} leads to {} and {} to {}, each where the other's "
                                 "siblings lead",
                                 ends[0], ends[1], ends[2], ends[3]),
                     "swap the two cables"});
                partners.erase(partner);
            }
        for (const Cable& lack : odd.lacks)
            for (const Cable& gain : odd.gains)
                waiting[{lack.upper, gain.upper}].push_back(&odd);
    }
}

void report_wrong(const Cables& cables, Odd& odd, Findings& findings) {
    while (!odd.gains.empty() && !odd.lacks.empty()) {
        // The cable in the place of a missing one, if there is one.
        auto gain = odd.gains.begin();
        auto lack = odd.lacks.begin();
        for (auto g = odd.gains.begin(); g != odd.gains.end(); ++g)
            for (auto l = odd.lacks.begin(); l != odd.lacks.end(); ++l)
                if (g->port != none && g->port == l->port) {
                    gain = g;
                    lack = l;
                }
        const auto ends = cables.ends(odd.lower, *gain);
        findings.push_back({"uplink.wrong_spine", Severity::warning, ends,
                            fmt::format("{} leads to {} where the other {} of its kind lead to {}", ends[0],
                                        ends[1], cables.kind(odd.lower), cables.name(lack->upper)),
                            fmt::format("move the cable to {}", cables.name(lack->upper))});
        odd.gains.erase(gain);
        odd.lacks.erase(lack);
    }
}

void report_more(const Cables& cables, const Odd& odd, Findings& findings) {
    for (const Cable& gain : odd.gains) {
        const auto ends = cables.ends(odd.lower, gain);
        findings.push_back({"uplink.more", Severity::warning, ends,
                            fmt::format("{} leads to {}, where the other {} of its kind have no such cable",
                                        ends[0], ends[1], cables.kind(odd.lower)),
                            "unplug it, or move it to where it belongs"});
    }
}

void report_missing(const Cables& cables, const Odd& odd, int own, int usual, Findings& findings) {
    if (own >= usual) return;
    std::vector<std::string> ends{cables.name(odd.lower)}, ports;
    std::set<std::string> uppers;
    for (const Cable& lack : odd.lacks) {
        uppers.insert(cables.name(lack.upper));
        if (lack.port != none) ports.push_back(cables.port(odd.lower, lack.port));
    }
    ends.insert(ends.end(), uppers.begin(), uppers.end());
    ends.insert(ends.end(), ports.begin(), ports.end());
    findings.push_back(
        {"uplink.missing", own == 0 ? Severity::error : Severity::warning, ends,
         fmt::format("{} has {} where the other {} of its kind have {}{}{}", ends.front(),
                     counted(at(own), "uplink", "uplinks"), cables.kind(odd.lower), usual,
                     uppers.empty() ? std::string()
                                    : fmt::format(": none or too few lead to {}", fmt::join(uppers, ", ")),
                     ports.empty() || ports.size() > 8
                         ? std::string()
                         : fmt::format(" (by its siblings' order of ports {})", fmt::join(ports, ", "))),
         "look for a dead or unplugged cable"});
}

} // namespace

void uplinks(const Fabric& fabric, Findings& findings) {
    const auto spreads = upward(fabric);
    std::vector<Ports> ports; // determined for odd switches
    std::vector<Odd> odds;
    std::map<int, int> usual_links; // odd switch → number of its siblings' uplinks
    for (const auto& members : peers(fabric)) {
        std::vector<char> judged(fabric.switches.size(), 0);
        for (Group& group : groups_of(members, spreads)) {
            if (group.members.size() < 2) continue;
            const bool odd = std::any_of(group.members.begin(), group.members.end(),
                                         [&](int s) { return !(spreads[at(s)] == group.usual); });
            if (odd && ports.empty()) ports = upward_ports(fabric);
            if (odd) group.ports = port_order(group, ports);
            if (group.typical * 2 < group.members.size() && group.ports.empty()) continue;
            for (const int s : group.members) {
                judged[at(s)] = 1;
                if (spreads[at(s)] == group.usual) continue;
                usual_links[s] = group.usual.links;
                odds.push_back(compare(s, spreads[at(s)], ports[at(s)], group));
            }
        }
        // Switches without siblings are compared with the number of links of their pod's other switches of
        // the tier.
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
    const auto explained = cut_off(fabric);
    std::erase_if(odds, [&](const Odd& odd) {
        return std::binary_search(explained.begin(), explained.end(), odd.lower);
    });
    report_crossed(cables, odds, findings);
    for (Odd& odd : odds) {
        report_wrong(cables, odd, findings);
        report_more(cables, odd, findings);
        report_missing(cables, odd, spreads[at(odd.lower)].links, usual_links[odd.lower], findings);
    }
}

} // namespace topo::checks
