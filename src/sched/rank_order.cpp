#include "sched/rank_order.hpp"

#include <algorithm>
#include <numeric>

namespace sched {
namespace {

// The hosts of one unit, in the fabric's order: those with ranks first, then its spares.
struct Block {
    std::uint32_t unit = 0;
    std::size_t first = 0, ranks = 0, spares = 0;
};

std::vector<Block> blocks_of(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto unit = index.unit_of[hosts[i]];
        if (blocks.empty() || blocks.back().unit != unit) blocks.push_back({unit, i, 0, 0});
        ++blocks.back().ranks;
    }
    return blocks;
}

void stand_by(Block& block, std::size_t hosts) {
    block.ranks -= hosts;
    block.spares += hosts;
}

// Takes `spares` hosts out of the blocks, whole segments staying behind.
void take_spares(std::vector<Block>& blocks, std::size_t segment, std::size_t spares) {
    std::size_t torn = 0;
    for (const auto& block : blocks)
        torn += block.ranks % segment;
    if (torn > spares || (spares - torn) % segment != 0) {
        segment = 1;
        torn = 0;
    }
    for (auto& block : blocks)
        stand_by(block, block.ranks % segment);
    for (auto rest = spares - torn; rest > 0; rest -= segment) {
        auto fullest = blocks.begin();
        for (auto block = blocks.begin(); block != blocks.end(); ++block)
            if (block->ranks >= fullest->ranks) fullest = block;
        stand_by(*fullest, segment);
    }
}

void largest_first(const PlacementIndex& index, std::vector<Block>& blocks) {
    std::vector<std::size_t> by_pod(index.pods.size(), 0);
    for (const auto& block : blocks)
        by_pod[index.units[block.unit].pod] += block.ranks;
    std::stable_sort(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) {
        const auto pod_a = index.units[a.unit].pod, pod_b = index.units[b.unit].pod;
        if (pod_a == pod_b) return a.ranks > b.ranks;
        if (by_pod[pod_a] != by_pod[pod_b]) return by_pod[pod_a] > by_pod[pod_b];
        return pod_a < pod_b;
    });
}

} // namespace

RankedHosts order_ranks(const PlacementIndex& index, std::vector<std::uint32_t> hosts, std::uint32_t segment,
                        std::uint32_t spares, RankOrder order) {
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return index.position[a] < index.position[b];
    };
    if (!std::is_sorted(hosts.begin(), hosts.end(), before)) std::sort(hosts.begin(), hosts.end(), before);
    spares = std::min(spares, hosts.empty() ? 0 : static_cast<std::uint32_t>(hosts.size() - 1));
    RankedHosts ranked;
    if (spares == 0 && order != RankOrder::tree) {
        ranked.ranks = std::move(hosts);
    } else {
        auto blocks = blocks_of(index, hosts);
        if (spares > 0) take_spares(blocks, std::max(segment, 1U), spares);
        const auto append = [&](std::vector<std::uint32_t>& to, std::size_t first, std::size_t count) {
            const auto from = hosts.begin() + static_cast<std::ptrdiff_t>(first);
            to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(count));
        };
        for (const auto& block : blocks)
            append(ranked.spares, block.first + block.ranks, block.spares);
        if (order == RankOrder::tree) largest_first(index, blocks);
        for (const auto& block : blocks)
            append(ranked.ranks, block.first, block.ranks);
    }
    if (order == RankOrder::none) std::sort(ranked.ranks.begin(), ranked.ranks.end());
    return ranked;
}

} // namespace sched
