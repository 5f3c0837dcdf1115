// Hosts as real machines are built, for tests of binding.
#pragma once

#include "topo/derive.hpp"
#include "topo/fabric.hpp"
#include "topo/host/numa.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

struct Machine {
    std::string name = "n001";
    std::vector<int> gpu_numa;                     // by GPU
    std::vector<std::pair<int, int>> hcas;         // by rail: nearest GPU, NUMA node
    int storage = 0;                               // storage HCAs
    std::vector<std::pair<int, int>> cpus_of_numa; // first and last
};

// DGX H100: 8 GPUs, 8 compute and 2 storage HCAs, 2 sockets of 56 cores.
inline Machine dgx_h100() {
    return {"n001",
            {0, 0, 0, 0, 1, 1, 1, 1},
            {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}, {6, 1}, {7, 1}},
            2,
            {{0, 55}, {56, 111}}};
}

// DGX A100's processors in NPS4: the GPUs' NUMA nodes are 3, 3, 1, 1, 7, 7, 5, 5.
inline Machine dgx_a100() {
    Machine machine{"n001", {3, 3, 1, 1, 7, 7, 5, 5}, {}, 2, {}};
    for (int r = 0; r < 8; ++r)
        machine.hcas.emplace_back(r, machine.gpu_numa[static_cast<std::size_t>(r)]);
    for (int n = 0; n < 8; ++n)
        machine.cpus_of_numa.emplace_back(16 * n, 16 * n + 15);
    return machine;
}

// 4 GPUs and 2 HCAs: pairs of GPUs share one.
inline Machine four_by_two() {
    return {"n001", {0, 0, 1, 1}, {{0, 0}, {2, 1}}, 1, {{0, 15}, {16, 31}}};
}

// GH200: a GPU, a processor and an HCA in each of 4 modules.
inline Machine gh200_x4() {
    return {"n001",
            {0, 1, 2, 3},
            {{0, 0}, {1, 1}, {2, 2}, {3, 3}},
            0,
            {{0, 71}, {72, 143}, {144, 215}, {216, 287}}};
}

// A host without GPUs: one HCA in each socket.
inline Machine without_gpus() {
    return {"n001", {}, {{topo::none, 0}, {topo::none, 1}}, 0, {{0, 31}, {32, 63}}};
}

// The machine alone in a fabric; each HCA on a leaf of its own, storage on another.
inline topo::Fabric fabric_of(const Machine& machine) {
    topo::Fabric fabric;
    topo::Host host;
    host.name = machine.name;
    for (std::size_t g = 0; g < machine.gpu_numa.size(); ++g)
        host.gpus.push_back({fmt::format("0000:{:02x}:00.0", 0x80 + g), machine.gpu_numa[g], {}});
    const auto rails = machine.hcas.size();
    for (std::size_t i = 0; i < rails + static_cast<std::size_t>(machine.storage); ++i) {
        topo::Hca hca;
        hca.guid = 0x1000 + i;
        hca.device = fmt::format("mlx5_{}", i);
        hca.pci = fmt::format("0000:{:02x}:00.0", 0x10 + i);
        hca.ports.push_back({0x1100 + i, 1});
        if (i < rails) {
            hca.rail = static_cast<int>(i);
            hca.gpu = machine.hcas[i].first;
            hca.numa = machine.hcas[i].second;
        } else {
            hca.role = topo::Role::storage;
            hca.numa = 0;
        }
        host.hcas.push_back(hca);
        topo::Switch leaf;
        leaf.guid = 0x2000 + i;
        leaf.name = fmt::format("leaf{}", i);
        leaf.ports = 8;
        fabric.switches.push_back(leaf);
        topo::Link link;
        link.a = {0, static_cast<int>(i), topo::none, 1};
        link.b = {topo::none, topo::none, static_cast<int>(i), 1};
        link.mbps = 400000;
        link.state = topo::LinkState::active;
        fabric.links.push_back(link);
    }
    fabric.hosts.push_back(host);
    topo::derive(fabric);
    return fabric;
}

inline std::vector<topo::NumaNode> numa_of(const Machine& machine) {
    std::vector<topo::NumaNode> nodes;
    for (const auto& [first, last] : machine.cpus_of_numa) {
        nodes.push_back({static_cast<int>(nodes.size()), {}});
        for (int cpu = first; cpu <= last; ++cpu)
            nodes.back().cpus.push_back(cpu);
    }
    return nodes;
}
