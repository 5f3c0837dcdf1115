// Spines and cores that are completely missing: nothing leads to them any more, so the switches below agree
// with each other. They are found by free ports, the numbers in names, and other pods.
#include "topo/check/vanished.hpp"

#include "topo/check/absent.hpp"
#include "topo/check/parts.hpp"

#include "base/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace topo::checks {
namespace {

// Switches of one tier that lead to the same upper switches.
struct Block {
    std::vector<int> members, uppers; // ascending
    int each = 0;                     // links from a member to each upper switch; 0: varies
    std::vector<int> gaps;            // ports between uplinks that no member uses
    bool next_free = false;           // the port after the last uplink is free, too
    int below = 0, above = 0;         // links of most members
};

// What is on a switch's ports: the upper switch, below_here for anything else, none if empty.
using Use = std::vector<int>;
constexpr int below_here = -2;

std::vector<Use> uses_of(const Fabric& fabric) {
    std::vector<Use> uses(fabric.switches.size());
    for (const Link& link : fabric.links)
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (here->switch_ == none) continue;
            Use& use = uses[at(here->switch_)];
            if (use.size() <= here->port) use.resize(here->port + std::size_t{1}, none);
            const bool up = there->switch_ != none && fabric.switches[at(there->switch_)].tier >
                                                          fabric.switches[at(here->switch_)].tier;
            use[here->port] = up ? there->switch_ : below_here;
        }
    return uses;
}

Block measure(const Fabric& fabric, const std::vector<Use>& uses, std::vector<int> members,
              std::vector<int> uppers) {
    Block block;
    Mode<int> each, below, above;
    std::vector<char> used(256, 0);
    int first = 255, last = 0;
    int ports = 254;
    for (const int s : members) {
        std::vector<int> up;
        int others = 0;
        for (int port = 0; at(port) < uses[at(s)].size(); ++port) {
            const int use = uses[at(s)][at(port)];
            if (use == none) continue;
            used[at(port)] = 1;
            if (use == below_here) {
                ++others;
                continue;
            }
            up.push_back(use);
            first = std::min(first, port);
            last = std::max(last, port);
        }
        below.add(others);
        above.add(static_cast<int>(up.size()));
        std::sort(up.begin(), up.end());
        for (auto from = up.begin(); from != up.end();) {
            const auto to = std::upper_bound(from, up.end(), *from);
            each.add(static_cast<int>(to - from));
            from = to;
        }
        ports = std::min(ports, fabric.switches[at(s)].ports);
    }
    block.members = std::move(members);
    block.uppers = std::move(uppers);
    if (each.count() * 8 >= each.total() * 7) block.each = each.value();
    block.below = below.value();
    block.above = above.value();
    for (int port = first; port < last; ++port)
        if (used[at(port)] == 0) block.gaps.push_back(port);
    block.next_free = last < ports && used[at(last + 1)] == 0;
    return block;
}

std::vector<Block> blocks_of(const Fabric& fabric, int tier, const std::vector<Use>& uses) {
    std::map<std::vector<int>, std::vector<int>> by_uppers;
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        if (fabric.switches[at(s)].tier != tier) continue;
        std::vector<int> uppers;
        std::copy_if(uses[at(s)].begin(), uses[at(s)].end(), std::back_inserter(uppers),
                     [](int use) { return use >= 0; });
        std::sort(uppers.begin(), uppers.end());
        uppers.erase(std::unique(uppers.begin(), uppers.end()), uppers.end());
        if (!uppers.empty()) by_uppers[std::move(uppers)].push_back(s);
    }
    // Switches that lead elsewhere because of their own fault are fewer than half of those that lead to an
    // upper switch.
    std::map<int, std::size_t> below; // upper switch → switches of the tier
    for (const auto& [uppers, members] : by_uppers)
        for (const int upper : uppers)
            below[upper] += members.size();
    std::vector<Block> blocks;
    for (auto& [uppers, members] : by_uppers)
        if (members.size() > 1 &&
            std::all_of(uppers.begin(), uppers.end(),
                        [&, count = members.size()](int upper) { return count * 2 > below.at(upper); }))
            blocks.push_back(measure(fabric, uses, std::move(members), uppers));
    return blocks;
}

// Switches without uplinks in a tier in which the others lead to one switch each.
struct Bare {
    std::vector<int> members, uppers; // ascending; uppers: of the others
};

// By tier; for leaves, by pod.
std::vector<std::pair<int, Bare>> bare_switches(const Fabric& fabric, const std::vector<Use>& uses) {
    struct Group {
        Bare bare;
        Mode<std::size_t> led;  // to how many switches the others lead
        std::set<int> led_pods; // their pods
    };
    std::map<std::pair<int, int>, Group> groups; // by tier and, for leaves, pod
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        const Switch& one = fabric.switches[at(s)];
        if (one.tier == none || one.tier + 1 >= fabric.tiers || (one.tier < 2 && one.pod == none)) continue;
        Group& group = groups[{one.tier, one.tier == 0 ? one.pod : none}];
        std::set<int> uppers;
        for (const int use : uses[at(s)])
            if (use >= 0) uppers.insert(use);
        if (uppers.empty()) {
            group.bare.members.push_back(s);
        } else {
            group.led.add(uppers.size());
            group.led_pods.insert(one.pod);
        }
        group.bare.uppers.insert(group.bare.uppers.end(), uppers.begin(), uppers.end());
    }
    std::vector<std::pair<int, Bare>> found;
    for (auto& [where, group] : groups) {
        auto& [members, uppers] = group.bare;
        std::erase_if(members, [&, &pods = group.led_pods](int s) { // a separate pod is built like this
            return !pods.contains(fabric.switches[at(s)].pod);
        });
        if (members.size() < 2 || group.led.empty() || group.led.value() != 1 ||
            group.led.total() < members.size())
            continue;
        std::sort(uppers.begin(), uppers.end());
        uppers.erase(std::unique(uppers.begin(), uppers.end()), uppers.end());
        found.emplace_back(where.first, std::move(group.bare));
    }
    return found;
}

std::string_view kind_above(int tier) {
    return tier == 0 ? "spine" : tier == 1 ? "core" : "switch";
}

// The name of the switch above these, derived from those above others of their plane. If it was the only one
// of its plane, only the plane's number differs.
Names name_above(const Fabric& fabric, const Bare& bare) {
    std::set<int> islands;
    for (const int s : bare.members)
        islands.insert(fabric.switches[at(s)].island);
    std::vector<int> near;
    std::copy_if(bare.uppers.begin(), bare.uppers.end(), std::back_inserter(near),
                 [&](int s) { return islands.contains(fabric.switches[at(s)].island); });
    if (!near.empty()) return Absent(fabric, near).likely();
    return Absent(fabric, bare.uppers, bare.uppers.size() > 1 ? 0 : 1).likely();
}

// "a spine, probably spine-7, is not seen: leaf-su1-r0 …", with the missing parts as ends.
Finding not_seen(const Fabric& fabric, int tier, Names names, const std::vector<int>& members) {
    Finding finding{"switch.missing", Severity::error, {}, {}, "look whether it is powered and cabled"};
    const auto below = switch_names(fabric, members);
    finding.evidence =
        fmt::format("a {}{} is not seen: {}", kind_above(tier),
                    names.empty() ? "" : fmt::format(", probably {},", fmt::join(names, " or ")), below);
    finding.ends = std::move(names);
    finding.ends.push_back(below);
    return finding;
}

void report(const Fabric& fabric, const Block& block, std::size_t usual, int tier, Findings& findings) {
    if (block.each == 0 || block.uppers.empty()) return;
    const auto each = at(block.each);
    const bool stripes =
        each > 1 && block.next_free && (block.gaps.size() + 1) % each == 0 && block.gaps.size() + 1 == each;
    const bool gap = block.gaps.size() == each || stripes;
    const bool fewer = block.uppers.size() + 1 == usual;
    const bool uneven = block.below - block.above == block.each;
    const int by_links = (gap ? 1 : 0) + (fewer ? 1 : 0) + (uneven ? 1 : 0);
    if (by_links == 0) return;
    const Absent absent(fabric, block.uppers);
    const auto skipped = absent.beside();
    if (by_links + (skipped.empty() ? 0 : 1) < 2 && !(uneven && each >= 4 && block.uppers.size() > 2)) return;
    auto finding = not_seen(fabric, tier, absent.likely(), block.members);
    const auto kind = kind_above(tier);
    std::vector<std::string> reasons;
    if (gap) {
        auto ports = block.gaps;
        if (stripes) ports.push_back(none);
        std::erase(ports, none);
        reasons.push_back(ports.empty()
                              ? std::string("have free ports behind their uplinks")
                              : fmt::format("have no cable on {} {} between their uplinks",
                                            ports.size() == 1 ? "port" : "ports", fmt::join(ports, ", ")));
    }
    if (fewer)
        reasons.push_back(fmt::format("lead to {} {}s where others of their kind lead to {}",
                                      block.uppers.size(), kind, usual));
    if (uneven) reasons.push_back(fmt::format("have {} links below and {} above", block.below, block.above));
    if (!skipped.empty()) reasons.push_back("lead to its neighbours by number");
    finding.evidence += fmt::format(" {}", fmt::join(reasons, ", and "));
    findings.push_back(std::move(finding));
}

} // namespace

std::vector<int> cut_off(const Fabric& fabric) {
    std::vector<int> found;
    for (const auto& [tier, bare] : bare_switches(fabric, uses_of(fabric)))
        found.insert(found.end(), bare.members.begin(), bare.members.end());
    std::sort(found.begin(), found.end());
    return found;
}

void vanished(const Fabric& fabric, Findings& findings) {
    const auto uses = uses_of(fabric);
    for (const auto& [tier, bare] : bare_switches(fabric, uses)) {
        auto finding = not_seen(fabric, tier, name_above(fabric, bare), bare.members);
        finding.evidence +=
            fmt::format(" have no uplinks where others of their kind lead to 1 {}", kind_above(tier));
        findings.push_back(std::move(finding));
    }
    for (int tier = 0; tier + 1 < fabric.tiers; ++tier) {
        const auto blocks = blocks_of(fabric, tier, uses);
        Mode<std::size_t> sizes;
        for (const Block& block : blocks)
            sizes.add(block.uppers.size());
        for (const Block& block : blocks)
            report(fabric, block, blocks.size() > 2 && sizes.count() * 2 > blocks.size() ? sizes.value() : 0,
                   tier, findings);
    }
}

} // namespace topo::checks
