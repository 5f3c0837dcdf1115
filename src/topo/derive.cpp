#include "topo/derive.hpp"

#include "topo/derive_parts.hpp"
#include "topo/names.hpp"
#include "topo/order.hpp"
#include "topo/sets.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace topo {
namespace {

void derive_hosts(Fabric& fabric) {
    fabric.host_index.clear();
    fabric.rails = 0;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        Host& host = fabric.hosts[h];
        fabric.host_index.emplace(host.name, static_cast<std::uint32_t>(h));
        host.unit = host.other_unit = none;
        for (Hca& hca : host.hcas) {
            fabric.rails = std::max(fabric.rails, hca.rail + 1);
            for (HcaPort& port : hca.ports)
                port.link = port.leaf = none;
        }
    }
    for (std::size_t l = 0; l < fabric.links.size(); ++l) {
        const Link& link = fabric.links[l];
        for (const auto& [here, there] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
            if (here->host == none) continue;
            for (HcaPort& port : fabric.hosts[at(here->host)].hcas[at(here->hca)].ports) {
                if (port.number != here->port) continue;
                port.link = static_cast<int>(l);
                port.leaf = there->switch_;
            }
        }
    }
    for (Host& host : fabric.hosts) {
        host.leaves.assign(at(fabric.rails), none);
        for (const Hca& hca : host.hcas) {
            if (hca.rail == none) continue;
            int& leaf = host.leaves[at(hca.rail)];
            for (const HcaPort& port : hca.ports)
                if (leaf == none) leaf = port.leaf;
        }
    }
}

void derive_domains(Fabric& fabric) {
    fabric.domains.clear();
    std::unordered_map<std::string_view, int> index;
    for (std::uint32_t h = 0; h < fabric.hosts.size(); ++h) {
        Host& host = fabric.hosts[h];
        host.domain_index = none;
        if (host.domain.empty()) continue;
        const auto next = static_cast<int>(fabric.domains.size());
        const auto [found, fresh] = index.try_emplace(host.domain, next);
        if (fresh) fabric.domains.push_back({host.domain, {}});
        host.domain_index = found->second;
        fabric.domains[at(found->second)].hosts.push_back(h);
    }
    for (Domain& domain : fabric.domains) {
        std::map<int, std::size_t> votes;
        for (const auto h : domain.hosts)
            if (const int unit = fabric.hosts[h].unit; unit != none) ++votes[unit];
        std::size_t most = 0;
        for (const auto& [unit, hosts] : votes)
            if (hosts > most) {
                most = hosts;
                domain.unit = unit;
            }
    }
}

void derive_islands(Fabric& fabric) {
    Sets joined(fabric.switches.size());
    for (const Link& link : fabric.links)
        if (link.a.switch_ != none && link.b.switch_ != none && link.state != LinkState::down)
            joined.join(link.a.switch_, link.b.switch_);
    fabric.islands.clear();
    std::vector<int> island_of(fabric.switches.size(), none); // by representative
    for (int s = 0; at(s) < fabric.switches.size(); ++s) {
        int& island = island_of[at(joined.find(s))];
        if (island == none) {
            island = static_cast<int>(fabric.islands.size());
            fabric.islands.emplace_back();
        }
        fabric.switches[at(s)].island = island;
        fabric.islands[at(island)].switches.push_back(s);
    }
    std::vector<std::vector<char>> has(fabric.islands.size(), std::vector<char>(at(fabric.rails), 0));
    for (const Host& host : fabric.hosts)
        for (const Hca& hca : host.hcas)
            for (const HcaPort& port : hca.ports)
                if (hca.rail != none && port.leaf != none)
                    has[at(fabric.switches[at(port.leaf)].island)][at(hca.rail)] = 1;
    for (std::size_t i = 0; i < has.size(); ++i)
        for (int r = 0; r < fabric.rails; ++r)
            if (has[i][at(r)] != 0) fabric.islands[i].rails.push_back(r);
}

} // namespace

Neighbours::Neighbours(const Fabric& fabric) : first(fabric.switches.size() + 1, 0) {
    const auto between_switches = [](const Link& link) {
        return link.a.switch_ != none && link.b.switch_ != none;
    };
    for (const Link& link : fabric.links) {
        if (!between_switches(link)) continue;
        ++first[at(link.a.switch_) + 1];
        ++first[at(link.b.switch_) + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    to.resize(first.back());
    auto next = first;
    for (const Link& link : fabric.links) {
        if (!between_switches(link)) continue;
        to[next[at(link.a.switch_)]++] = link.b.switch_;
        to[next[at(link.b.switch_)]++] = link.a.switch_;
    }
}

std::size_t Neighbours::count(int s) const {
    return first[at(s) + 1] - first[at(s)];
}

void derive(Fabric& fabric) {
    put_in_order(fabric);
    for (std::size_t s = 0; s < fabric.switches.size(); ++s) // in the order of names
        fabric.switches[s].namesake =
            (s > 0 && fabric.switches[s - 1].name == fabric.switches[s].name) ||
            (s + 1 < fabric.switches.size() && fabric.switches[s + 1].name == fabric.switches[s].name);
    derive_hosts(fabric);
    const Neighbours neighbours(fabric);
    derive_tiers(fabric, neighbours);
    derive_units(fabric);
    derive_unit_leaves(fabric, neighbours);
    derive_domains(fabric);
    derive_pods(fabric, neighbours);
    derive_islands(fabric);
}

} // namespace topo
