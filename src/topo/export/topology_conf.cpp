// Slurm's topology.conf(5): switches for topology/tree, blocks for topology/block (23.11 and later).
#include "topo/export/formats.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace topo::exports {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::string_view heading = "# Made by railtopo export; changes made here are lost.\n";

// The number of blocks in a pod if Slurm can plan with that as a level, else 1. Slurm pairs blocks by their
// position in the file, two by two, so all pods except the last must contain the same power of two of blocks.
std::size_t blocks_of_a_pod(const std::vector<std::size_t>& in_pod) {
    constexpr std::size_t highest = std::size_t{1} << 15;
    const auto count = in_pod.front();
    if (!std::has_single_bit(count) || count > highest || in_pod.back() > count) return 1;
    return std::all_of(in_pod.begin(), in_pod.end() - 1, [&](std::size_t n) { return n == count; }) ? count
                                                                                                    : 1;
}

// A possible block, and the group for an aggregated block.
struct Candidate {
    std::string name;
    std::vector<std::uint32_t> hosts;
    std::size_t above = 0; // the pod of a unit, the unit of a domain
};

std::vector<Candidate> candidates_by_unit(const Chosen& chosen) {
    const auto tree = logical_tree(chosen.fabric, chosen.selection);
    std::vector<Candidate> units;
    for (std::size_t p = 0; p < chosen.selection.parts.size(); ++p) {
        const auto& part = chosen.selection.parts[p];
        units.push_back({tree.branches[p].name, part.hosts, at(chosen.fabric.units[part.unit].pod)});
    }
    return units;
}

// The part of each domain in each unit; hosts without a domain are left out.
std::vector<Candidate> candidates_by_domain(Chosen& chosen) {
    std::vector<Candidate> domains;
    std::vector<std::uint32_t> without;
    SafeNames names;
    for (const auto& part : chosen.selection.parts) {
        std::map<int, std::vector<std::uint32_t>> hosts; // by domain
        for (const auto h : part.hosts)
            hosts[chosen.fabric.hosts[h].domain_index].push_back(h);
        for (auto& [domain, members] : hosts) {
            if (domain == none)
                without.insert(without.end(), members.begin(), members.end());
            else
                domains.push_back(
                    {names.add(chosen.fabric.domains[at(domain)].name), std::move(members), part.unit});
        }
    }
    if (!without.empty())
        chosen.notes.push_back(fmt::format("{} {} in no NVLink domain and left out: a block is a domain",
                                           host_names(chosen.fabric, without),
                                           without.size() == 1 ? "is" : "are"));
    return domains;
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
    const bool domains = !chosen.fabric.domains.empty();
    const auto parts = domains ? candidates_by_domain(chosen) : candidates_by_unit(chosen);
    if (parts.empty())
        return Error{Code::unfit, "none of the hosts is in an NVLink domain, of which blocks are made: leave "
                                  "the domains out of the fabric file, or add these hosts to one"};
    const std::string_view noun = domains ? "domain" : "unit";
    auto base_size = static_cast<std::size_t>(chosen.options.block_size);
    if (base_size == 0)
        base_size = std::min_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
                        return a.hosts.size() < b.hosts.size();
                    })->hosts.size();
    Blocks made;
    std::vector<std::size_t> in_pod;
    std::vector<std::uint32_t> small;
    std::size_t largest = 0;
    std::size_t above = 0;
    for (const auto& part : parts) {
        const auto& hosts = part.hosts;
        largest = std::max(largest, hosts.size());
        if (hosts.size() < base_size) { // Slurm rejects a block smaller than the base block
            small.insert(small.end(), hosts.begin(), hosts.end());
            continue;
        }
        if (in_pod.empty() || part.above != above) in_pod.push_back(0);
        above = part.above;
        ++in_pod.back();
        made.list.push_back({part.name, host_names(chosen.fabric, hosts)});
    }
    if (made.list.empty())
        return Error{Code::unfit,
                     fmt::format("--block-size {}: no {} has that many hosts; the largest has {}", base_size,
                                 noun, largest)};
    if (!small.empty())
        chosen.notes.push_back(fmt::format("{} in {}s of fewer than {} hosts {} left out: a block holds at "
                                           "least the base block",
                                           host_names(chosen.fabric, small), noun, base_size,
                                           small.size() == 1 ? "is" : "are"));
    if (chosen.options.block_size == 0 && base_size * 2 <= largest)
        chosen.notes.push_back(
            fmt::format("the base block is {0}, less than half of the largest {2} ({1} hosts); "
                        "--block-size N leaves smaller {2}s out instead",
                        counted(base_size, "host", "hosts"), largest, noun));
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
