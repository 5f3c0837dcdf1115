// Cables between switches that the tree has no place for: from leaf to leaf, loops, between planes.
#include "topo/check/strays.hpp"

#include "topo/check/parts.hpp"
#include "topo/sets.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

bool sideways(const Fabric& fabric, const Link& link) {
    if (link.a.switch_ == none || link.b.switch_ == none || link.a.switch_ == link.b.switch_) return false;
    return fabric.switches[at(link.a.switch_)].tier == fabric.switches[at(link.b.switch_)].tier;
}

std::string_view kind_of(int tier) {
    return tier == 0 ? "leaves" : tier == 1 ? "spines" : "switches of one tier";
}

} // namespace

std::vector<std::size_t> stray_links(const Fabric& fabric) {
    std::vector<char> has(fabric.switches.size(), 0);
    for (const Link& link : fabric.links)
        if (sideways(fabric, link)) has[at(link.a.switch_)] = has[at(link.b.switch_)] = 1;
    std::map<int, std::pair<std::size_t, std::size_t>> tiers; // with such links, of all
    for (std::size_t s = 0; s < has.size(); ++s) {
        auto& [with, all] = tiers[fabric.switches[s].tier];
        with += has[s] != 0 ? 1 : 0;
        ++all;
    }
    std::vector<std::size_t> found;
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        const bool loop = link.a.switch_ != none && link.a.switch_ == link.b.switch_;
        if (!loop && !sideways(fabric, link)) continue;
        const auto& [with, all] = tiers[fabric.switches[at(link.a.switch_)].tier];
        if (loop || with * 2 <= all) found.push_back(l);
    }
    return found;
}

void strays(const Fabric& fabric, Findings& findings) {
    const auto found = stray_links(fabric);
    if (found.empty()) return;
    Sets joined(fabric.switches.size()); // without what is found
    auto next = found.begin();
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        if (next != found.end() && *next == l) {
            ++next;
            continue;
        }
        if (link.a.switch_ != none && link.b.switch_ != none) joined.join(link.a.switch_, link.b.switch_);
    }
    for (const auto l : found) {
        const Link& link = fabric.links[l];
        const auto a = end_name(fabric, link.a), b = end_name(fabric, link.b);
        Finding finding{
            "link.sideways", Severity::warning, {a, b}, {}, "unplug it, or move it to where it belongs"};
        if (link.a.switch_ == link.b.switch_) {
            finding.code = "link.loop";
            finding.evidence = fmt::format("a cable joins {} to {}, a port of the same switch", a, b);
        } else {
            finding.evidence = fmt::format("a cable joins {} to {}: two {}, where others have no such cable",
                                           a, b, kind_of(fabric.switches[at(link.a.switch_)].tier));
            if (joined.find(link.a.switch_) != joined.find(link.b.switch_)) {
                finding.code = "link.between_networks";
                finding.evidence += ", and networks that nothing else joins";
            }
        }
        findings.push_back(std::move(finding));
    }
}

} // namespace topo::checks
