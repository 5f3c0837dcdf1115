// The hosts of a fabric for schedulers: units in pods in cores, with names for its files.
//
// In a rail-optimised fabric a host is connected to eight leaves at once, which a tree cannot represent;
// since all hosts of a unit are connected to the same leaves, a unit is one logical switch. A unit with a
// single leaf has that leaf's name.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace topo::exports {

// The requested hosts, in the order of their ranks: by pod, unit, name.
struct Selection {
    struct Part {
        std::size_t unit = 0;             // index into Fabric::units
        std::vector<std::uint32_t> hosts; // ascending; never empty
    };
    // Hosts without a unit, on one switch above the leaves.
    struct Beside {
        int on = none;
        std::vector<std::uint32_t> hosts; // ascending; never empty
    };
    std::vector<Part> parts;
    std::vector<Beside> beside;          // if take_beside() was called
    std::vector<std::uint32_t> unitless; // requested, or all, but in neither
    std::size_t hosts = 0;               // in parts and beside
};

// All hosts if `nodes` is empty. Error (Code::usage): a name that is not in the fabric.
base::Expected<Selection> select(const Fabric& fabric, const std::vector<std::string>& nodes);

// Moves hosts whose compute cables are in spines or cores out of `unitless`: no unit, but connected.
// slurmctld warns about every node that no switch of its tree reaches.
void take_beside(const Fabric& fabric, Selection& selection);

// A switch of the logical tree.
struct Branch {
    std::string name;
    std::size_t level = 0;            // index into Tree::levels
    std::vector<std::uint32_t> hosts; // for level 0: parts, then beside
    std::vector<std::size_t> below;   // branches of the next lower level
};

// From the units up. A level that would only repeat the one below is left out; unconnected parts of a fabric
// remain separate.
struct Tree {
    std::vector<std::string> levels; // "unit", "pod", "core", "tier3" …
    std::vector<Branch> branches;    // by level, then in the order of the hosts below
};

Tree logical_tree(const Fabric& fabric, const Selection& selection);

// Names of letters, digits, '_', '-' and '.', at most 64 characters, each used once.
class SafeNames {
public:
    std::string add(std::string_view wanted);

private:
    std::unordered_map<std::string, int> taken_; // name → number for its next duplicate
};

bool safe_name(std::string_view name); // of letters, digits, '_', '-', '.', beginning with a letter or digit

} // namespace topo::exports
