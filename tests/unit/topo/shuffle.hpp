// Fabrics in another order, for tests that order must not matter.
#pragma once

#include "topo/derive.hpp"

#include <algorithm>
#include <numeric>
#include <random>

// The same fabric with hosts, HCAs, switches and links in another order.
inline topo::Fabric shuffled(const topo::Fabric& from, unsigned seed) {
    std::mt19937 random(seed);
    topo::Fabric to = from;
    std::vector<std::size_t> host_at(from.hosts.size()), switch_at(from.switches.size());
    std::iota(host_at.begin(), host_at.end(), 0U);
    std::iota(switch_at.begin(), switch_at.end(), 0U);
    std::shuffle(host_at.begin(), host_at.end(), random);
    std::shuffle(switch_at.begin(), switch_at.end(), random);
    std::vector<std::vector<std::size_t>> hca_at;
    for (std::size_t i = 0; i < from.hosts.size(); ++i) {
        auto& order = hca_at.emplace_back(from.hosts[i].hcas.size());
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), random);
        auto& host = to.hosts[host_at[i]] = from.hosts[i];
        for (std::size_t j = 0; j < order.size(); ++j)
            host.hcas[order[j]] = from.hosts[i].hcas[j];
    }
    for (std::size_t i = 0; i < from.switches.size(); ++i)
        to.switches[switch_at[i]] = from.switches[i];
    for (auto& link : to.links) {
        for (auto* end : {&link.a, &link.b}) {
            if (end->host != topo::none) {
                end->hca = static_cast<int>(
                    hca_at[static_cast<std::size_t>(end->host)][static_cast<std::size_t>(end->hca)]);
                end->host = static_cast<int>(host_at[static_cast<std::size_t>(end->host)]);
            } else {
                end->switch_ = static_cast<int>(switch_at[static_cast<std::size_t>(end->switch_)]);
            }
        }
        if (random() % 2 == 0) std::swap(link.a, link.b);
    }
    std::shuffle(to.links.begin(), to.links.end(), random);
    topo::derive(to);
    return to;
}
