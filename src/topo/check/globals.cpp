// Dragonfly+: pods are connected by links between spines. Each spine is compared with the others of its pod.
#include "topo/check/parts.hpp"
#include "topo/check/strays.hpp"

#include <fmt/format.h>

namespace topo::checks {
namespace {

// A spine that has fewer links to a pod than its siblings.
struct Lack {
    int spine;
    int pod;          // the other one
    std::size_t rank; // of the spine in its pod
    int links, usual;
    bool told = false;
};

// Links of each spine to the spines of other pods.
using Spread = std::map<int, int>; // by pod

std::vector<Spread> spreads_of(const Fabric& fabric) {
    const auto strays = stray_links(fabric);
    std::vector<Spread> spreads(fabric.switches.size());
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const End &a = fabric.links[l].a, &b = fabric.links[l].b;
        if (a.switch_ == none || b.switch_ == none || std::binary_search(strays.begin(), strays.end(), l))
            continue;
        const Switch &one = fabric.switches[at(a.switch_)], &other = fabric.switches[at(b.switch_)];
        if (one.tier != 1 || other.tier != 1 || one.pod == none || other.pod == none || one.pod == other.pod)
            continue;
        ++spreads[at(a.switch_)][other.pod];
        ++spreads[at(b.switch_)][one.pod];
    }
    return spreads;
}

std::vector<Lack> lacks_of(const Fabric& fabric) {
    const auto spreads = spreads_of(fabric);
    std::map<int, std::vector<int>> spines; // of each pod
    for (int s = 0; at(s) < spreads.size(); ++s)
        if (fabric.switches[at(s)].tier == 1 && fabric.switches[at(s)].pod != none)
            spines[fabric.switches[at(s)].pod].push_back(s);
    std::vector<Lack> lacks;
    for (const auto& [pod, members] : spines)
        for (const auto& [other, unused] : spines) {
            Mode<int> usual;
            const auto links = [&, to = other](int s) {
                const auto found = spreads[at(s)].find(to);
                return found == spreads[at(s)].end() ? 0 : found->second;
            };
            for (const int s : members)
                usual.add(links(s));
            if (members.size() < 3 || usual.count() * 2 <= usual.total()) continue;
            for (std::size_t i = 0; i < members.size(); ++i)
                if (links(members[i]) < usual.value())
                    lacks.push_back({members[i], other, i, links(members[i]), usual.value()});
        }
    return lacks;
}

} // namespace

void globals(const Fabric& fabric, Findings& findings) {
    auto lacks = lacks_of(fabric);
    const auto pod_of = [&](const Lack& lack) { return fabric.switches[at(lack.spine)].pod; };
    for (Lack& lack : lacks) {
        if (lack.told) continue;
        // The other end of the same cable: the spine with the same number in its pod, else any that lacks
        // one.
        Lack* end = nullptr;
        for (Lack& other : lacks)
            if (!other.told && &other != &lack && pod_of(other) == lack.pod && other.pod == pod_of(lack) &&
                (end == nullptr || other.rank == lack.rank))
                end = &other;
        if (end == nullptr) continue; // of a missing spine, which is reported separately
        lack.told = end->told = true;
        const auto name = switch_name(fabric, lack.spine), other = switch_name(fabric, end->spine);
        const auto &own = fabric.pods[at(pod_of(lack))].name, &to = fabric.pods[at(lack.pod)].name;
        Finding finding{
            "link.global", Severity::warning, {name, other, to}, {}, "look for a dead or unplugged cable"};
        finding.evidence =
            fmt::format("{} has {} to {} and {} as many to {}, where the other spines of {} have {}", name,
                        counted(at(lack.links), "link", "links"), to, other, own, own, lack.usual);
        findings.push_back(std::move(finding));
    }
}

} // namespace topo::checks
