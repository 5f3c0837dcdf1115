// Slurm's topology.conf(5): switches for topology/tree, blocks for topology/block (23.11 and later).
#include "topo/export/formats.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace topo::exports {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::string_view heading = "# Made by railtopo export; changes made here are lost.\n";

// How many blocks a pod has where that is a level Slurm can plan with, else 1. Slurm pairs blocks by their
// place in the file, two by two, so all pods but the last must hold the same power of two of them.
std::size_t blocks_of_a_pod(const std::vector<std::size_t>& in_pod) {
    constexpr std::size_t highest = std::size_t{1} << 15;
    const auto count = in_pod.front();
    if (!std::has_single_bit(count) || count > highest || in_pod.back() > count) return 1;
    return std::all_of(in_pod.begin(), in_pod.end() - 1, [&](std::size_t n) { return n == count; }) ? count
                                                                                                    : 1;
}

} // namespace

Expected<std::string> slurm_tree(Chosen& chosen) {
    if (auto sound = check_names(chosen, "Slurm"); !sound) return std::move(sound).error();
    const auto tree = logical_tree(chosen.fabric, chosen.selection);
    std::string out(heading);
    for (const Branch& branch : tree.branches) {
        std::vector<std::string> below;
        for (const auto b : branch.below)
            below.push_back(tree.branches[b].name);
        fmt::format_to(std::back_inserter(out), "SwitchName={} {}\n", branch.name,
                       below.empty() ? fmt::format("Nodes={}", host_names(chosen.fabric, branch.hosts))
                                     : fmt::format("Switches={}", base::fold_hostlist(below)));
    }
    return out;
}

Expected<Blocks> blocks(Chosen& chosen) {
    if (auto sound = check_names(chosen, "Slurm"); !sound) return std::move(sound).error();
    const auto& parts = chosen.selection.parts;
    auto base_size = static_cast<std::size_t>(chosen.options.block_size);
    if (base_size == 0)
        base_size = std::min_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
                        return a.hosts.size() < b.hosts.size();
                    })->hosts.size();
    Blocks made;
    std::vector<std::size_t> in_pod;
    std::vector<std::uint32_t> small;
    std::size_t largest = 0;
    int pod = none;
    const auto tree = logical_tree(chosen.fabric, chosen.selection);
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto& hosts = parts[p].hosts;
        largest = std::max(largest, hosts.size());
        if (hosts.size() < base_size) { // Slurm refuses a block smaller than the base block
            small.insert(small.end(), hosts.begin(), hosts.end());
            continue;
        }
        const int its_pod = chosen.fabric.units[parts[p].unit].pod;
        if (in_pod.empty() || its_pod != pod) in_pod.push_back(0);
        pod = its_pod;
        ++in_pod.back();
        made.list.push_back({tree.branches[p].name, host_names(chosen.fabric, hosts)});
    }
    if (made.list.empty())
        return Error{Code::unfit,
                     fmt::format("--block-size {}: no unit has that many hosts; the largest has {}",
                                 base_size, largest)};
    if (!small.empty())
        chosen.notes.push_back(fmt::format("{} in units of fewer than {} hosts {} left out: a block holds at "
                                           "least the base block",
                                           host_names(chosen.fabric, small), base_size,
                                           small.size() == 1 ? "is" : "are"));
    if (chosen.options.block_size == 0 && base_size * 2 <= largest)
        chosen.notes.push_back(
            fmt::format("the base block is {}, less than half of the largest unit ({} hosts); "
                        "--block-size N leaves smaller units out instead",
                        counted(base_size, "host", "hosts"), largest));
    made.sizes.push_back(base_size);
    if (const auto of_a_pod = blocks_of_a_pod(in_pod); of_a_pod > 1)
        made.sizes.push_back(base_size * of_a_pod);
    return made;
}

Expected<std::string> slurm_block(Chosen& chosen) {
    const auto made = blocks(chosen);
    if (!made) return made.error();
    std::string out(heading);
    for (const auto& block : made->list)
        fmt::format_to(std::back_inserter(out), "BlockName={} Nodes={}\n", block.name, block.hosts);
    fmt::format_to(std::back_inserter(out), "BlockSizes={}\n", fmt::join(made->sizes, ","));
    return out;
}

} // namespace topo::exports
