#include "topo/distance.hpp"

#include "topo/names.hpp"

#include <algorithm>
#include <map>

namespace topo {
namespace {

constexpr std::uint8_t never = 255;

// The switches next to each, ascending, each once.
std::vector<std::vector<int>> neighbours_of(const Fabric& fabric) {
    std::vector<std::vector<int>> next(fabric.switches.size());
    for (const Link& link : fabric.links) {
        if (link.a.switch_ == none || link.b.switch_ == none || link.state == LinkState::down) continue;
        next[at(link.a.switch_)].push_back(link.b.switch_);
        next[at(link.b.switch_)].push_back(link.a.switch_);
    }
    for (auto& list : next) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return next;
}

// Links to every switch from one whose neighbours are these.
std::vector<std::uint8_t> walk(const std::vector<std::vector<int>>& next, std::vector<int> level) {
    std::vector<std::uint8_t> links(next.size(), never);
    for (const int s : level)
        links[at(s)] = 1;
    for (std::uint8_t far = 2; !level.empty() && far < never; ++far) {
        std::vector<int> beyond;
        for (const int s : level)
            for (const int n : next[at(s)])
                if (links[at(n)] == never) {
                    links[at(n)] = far;
                    beyond.push_back(n);
                }
        level = std::move(beyond);
    }
    return links;
}

const Hca* on_rail(const Host& host, int rail) {
    for (const Hca& hca : host.hcas)
        if (hca.rail == rail) return &hca;
    return nullptr;
}

} // namespace

Distances::Distances(const Fabric& fabric) : fabric_(fabric), group_(fabric.switches.size(), none) {
    const auto next = neighbours_of(fabric);
    std::map<std::vector<int>, int> groups;
    for (std::size_t s = 0; s < next.size(); ++s) {
        if (fabric.switches[s].tier != 0) continue;
        const auto [found, fresh] = groups.try_emplace(next[s], static_cast<int>(groups.size()));
        if (fresh) links_.push_back(walk(next, next[s]));
        group_[s] = found->second;
    }
}

int Distances::leaves(int a, int b) const {
    if (a == none || b == none || group_[at(a)] == none || group_[at(b)] == none) return none;
    if (a == b) return 0;
    const auto links = links_[at(group_[at(a)])][at(b)];
    return links == never ? none : (links + 1) / 2;
}

int Distances::hosts(std::uint32_t a, std::uint32_t b, int rail) const {
    const Hca *one = on_rail(fabric_.hosts[a], rail), *other = on_rail(fabric_.hosts[b], rail);
    if (rail == none || one == nullptr || other == nullptr) return none;
    int nearest = none;
    for (const HcaPort& p : one->ports)
        for (const HcaPort& q : other->ports)
            if (const int far = leaves(p.leaf, q.leaf); far != none && (nearest == none || far < nearest))
                nearest = far;
    return nearest;
}

} // namespace topo
