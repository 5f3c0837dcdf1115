#include "sched/ask/rank_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sched {
namespace {

// The hosts of one unit, or of one domain of it, in the fabric's order: those with ranks first, then its
// spares.
struct Block {
    std::uint32_t unit = 0;
    std::uint32_t part = 0; // the unit's domain, or the unit itself if there are no domains
    std::size_t first = 0, ranks = 0, spares = 0;
};

std::vector<Block> blocks_of(const PlacementIndex& index, const std::vector<std::uint32_t>& hosts) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto unit = index.unit_of[hosts[i]];
        const auto part = index.domains.empty() ? unit : index.domain_of[hosts[i]];
        if (blocks.empty() || blocks.back().part != part) blocks.push_back({unit, part, i, 0, 0});
        ++blocks.back().ranks;
    }
    return blocks;
}

void stand_by(Block& block, std::size_t hosts) {
    block.ranks -= hosts;
    block.spares += hosts;
}

// Removes `spares` hosts from the blocks, leaving whole segments.
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
    if (torn == spares) return;
    std::vector<std::pair<std::size_t, std::size_t>> fullest; // ranks, block: a heap
    for (std::size_t i = 0; i < blocks.size(); ++i)
        fullest.emplace_back(blocks[i].ranks, i);
    std::make_heap(fullest.begin(), fullest.end());
    for (auto rest = spares - torn; rest > 0; rest -= segment) {
        std::pop_heap(fullest.begin(), fullest.end());
        stand_by(blocks[fullest.back().second], segment);
        fullest.back().first -= segment;
        std::push_heap(fullest.begin(), fullest.end());
    }
}

// The same if domains and pods also keep segments whole.
class NestedSpares {
public:
    NestedSpares(const PlacementIndex& index, std::vector<Block>& blocks, const Steps& steps)
        : index_(index), blocks_(blocks), steps_(steps) {}

    // False: the hosts cannot keep the segments whole besides the spares.
    bool take(std::size_t spares) {
        std::size_t torn = 0;
        for (auto& block : blocks_) {
            torn += block.ranks % steps_.domain;
            stand_by(block, block.ranks % steps_.domain);
        }
        const auto even_out = [&](std::size_t step, const auto& key, const auto& take_one, std::size_t less) {
            for (std::size_t i = 0; i < blocks_.size();) {
                const auto end = end_of(i, key);
                const auto odd = ranks(i, end) % step;
                torn += odd;
                for (auto rest = odd; rest > 0; rest -= less)
                    take_one(i, end);
                i = end;
            }
        };
        const auto domain_step = [&](std::size_t i, std::size_t end) { from_unit(i, end); };
        const auto unit_step = [&](std::size_t i, std::size_t end) { from_pod(i, end); };
        even_out(steps_.unit, unit_of, domain_step, steps_.domain);
        even_out(steps_.pod, pod_of, unit_step, steps_.unit);
        if (torn > spares || (spares - torn) % steps_.whole != 0) return false;
        for (auto rest = spares - torn; rest > 0; rest -= steps_.whole)
            from_all();
        return true;
    }

private:
    // The keys by which blocks are grouped into runs.
    static std::uint32_t unit_of(const PlacementIndex&, const Block& block) { return block.unit; }
    static std::uint32_t pod_of(const PlacementIndex& index, const Block& block) {
        return index.units[block.unit].pod;
    }
    static std::uint32_t part_of(const PlacementIndex&, const Block& block) { return block.part; }

    template <class Key> std::size_t end_of(std::size_t i, const Key& key) const {
        auto end = i;
        while (end < blocks_.size() && key(index_, blocks_[end]) == key(index_, blocks_[i]))
            ++end;
        return end;
    }
    std::size_t ranks(std::size_t i, std::size_t end) const {
        std::size_t sum = 0;
        for (; i < end; ++i)
            sum += blocks_[i].ranks;
        return sum;
    }
    // The run in [i, end), by this key, that has most ranks; of equals the last.
    template <class Key>
    std::pair<std::size_t, std::size_t> fullest(std::size_t i, std::size_t end, const Key& key) const {
        std::pair<std::size_t, std::size_t> best{i, i};
        std::size_t most = 0;
        while (i < end) {
            const auto next = end_of(i, key);
            if (const auto here = ranks(i, next); here >= most) {
                most = here;
                best = {i, next};
            }
            i = next;
        }
        return best;
    }

    // Takes one segment of the size that each level keeps whole from the domain, unit or pod with most ranks.
    void from_unit(std::size_t i, std::size_t end) {
        const auto [block, next] = fullest(i, end, part_of);
        stand_by(blocks_[block], steps_.domain);
    }
    void from_pod(std::size_t i, std::size_t end) {
        const auto [first, last] = fullest(i, end, unit_of);
        for (std::size_t taken = 0; taken < steps_.unit; taken += steps_.domain)
            from_unit(first, last);
    }
    void from_all() {
        const auto [first, last] = fullest(0, blocks_.size(), pod_of);
        for (std::size_t taken = 0; taken < steps_.pod; taken += steps_.unit)
            from_pod(first, last);
    }

    const PlacementIndex& index_;
    std::vector<Block>& blocks_;
    const Steps steps_;
};

// Takes the spares from hosts that cannot keep the requested segments whole.
void take_spares(const PlacementIndex& index, std::vector<Block>& blocks,
                 const std::vector<std::uint32_t>& sizes, std::size_t spares) {
    const auto steps = steps_of(index, sizes);
    if (index.domains.empty() && steps.pod == steps.unit) {
        take_spares(blocks, steps.unit, spares);
        return;
    }
    auto tried = blocks;
    if (NestedSpares(index, tried, steps).take(spares))
        blocks = std::move(tried);
    else
        NestedSpares(index, blocks, {}).take(spares);
}

void largest_first(const PlacementIndex& index, std::vector<Block>& blocks) {
    std::vector<std::size_t> by_pod(index.pods.size(), 0);
    std::vector<std::size_t> by_unit(index.units.size(), 0);
    for (const auto& block : blocks) {
        by_pod[index.units[block.unit].pod] += block.ranks;
        by_unit[block.unit] += block.ranks;
    }
    std::stable_sort(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) {
        const auto pod_a = index.units[a.unit].pod, pod_b = index.units[b.unit].pod;
        if (pod_a == pod_b && a.unit != b.unit && by_unit[a.unit] != by_unit[b.unit])
            return by_unit[a.unit] > by_unit[b.unit];
        if (a.unit == b.unit) return a.ranks > b.ranks;
        if (pod_a == pod_b) return a.unit < b.unit;
        if (by_pod[pod_a] != by_pod[pod_b]) return by_pod[pod_a] > by_pod[pod_b];
        return pod_a < pod_b;
    });
}

} // namespace

RankedHosts order_ranks(const PlacementIndex& index, std::vector<std::uint32_t> hosts,
                        const std::vector<std::uint32_t>& sizes, std::uint32_t spares, RankOrder order) {
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
        if (spares > 0) take_spares(index, blocks, sizes, spares);
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
