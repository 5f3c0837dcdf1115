// Slurm's topology.yaml(5), since 25.05: the tree as the cluster's default and, under a separate name for
// partitions that use them, the blocks.
#include "topo/export/formats.hpp"

#include "base/hostlist.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace topo::exports {
namespace {

// A scalar that YAML reads as text, unquoted if that is certain.
std::string scalar(const std::string& text) {
    constexpr std::array<std::string_view, 9> words{"true", "false", "yes", "no", "on",
                                                    "off",  "null",  "y",   "n"};
    std::string lower = text;
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const char first = lower.empty() ? '0' : lower.front();
    const bool plain =
        first >= 'a' && first <= 'z' && std::find(words.begin(), words.end(), lower) == words.end();
    return plain ? text : fmt::format("\"{}\"", text);
}

} // namespace

base::Expected<std::string> slurm_yaml(Chosen& chosen) {
    const auto made = blocks(chosen);
    if (!made) return made.error();
    const auto tree = logical_tree(chosen.fabric, chosen.selection);
    std::string out = "# Made by railtopo export; changes made here are lost.\n"
                      "- topology: tree\n"
                      "  cluster_default: true\n"
                      "  tree:\n"
                      "    switches:\n";
    auto put = std::back_inserter(out);
    for (const Branch& branch : tree.branches) {
        std::vector<std::string> below;
        for (const auto b : branch.below)
            below.push_back(tree.branches[b].name);
        fmt::format_to(put, "    - switch: {}\n", scalar(branch.name));
        if (below.empty())
            fmt::format_to(put, "      nodes: {}\n", scalar(host_names(chosen.fabric, branch.hosts)));
        else
            fmt::format_to(put, "      children: {}\n", scalar(base::fold_hostlist(below)));
    }
    out += "- topology: block\n"
           "  cluster_default: false\n"
           "  block:\n"
           "    block_sizes:\n";
    for (const auto size : made->sizes)
        fmt::format_to(put, "    - {}\n", size);
    out += "    blocks:\n";
    for (const auto& block : made->list)
        fmt::format_to(put, "    - block: {}\n      nodes: {}\n", scalar(block.name), scalar(block.hosts));
    return out;
}

} // namespace topo::exports
