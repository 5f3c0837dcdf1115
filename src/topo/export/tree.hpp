// The hosts of a fabric as schedulers see it: units in pods in cores, with names that go into their files.
//
// On a rail-optimised fabric a host is attached to eight leaves at once, which no tree holds; as all hosts of
// a unit are attached to the same ones, a unit is one logical switch. A unit with a single leaf has that
// leaf's name.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace topo::exports {

// The hosts that were asked for, in the order in which ranks should follow each other: by pod, unit, name.
struct Selection {
    struct Part {
        std::size_t unit = 0;             // index into Fabric::units
        std::vector<std::uint32_t> hosts; // ascending; never empty
    };
    // Hosts in no unit, on one switch above the leaves.
    struct Beside {
        int on = none;
        std::vector<std::uint32_t> hosts; // ascending; never empty
    };
    std::vector<Part> parts;
    std::vector<Beside> beside;          // where take_beside() was called
    std::vector<std::uint32_t> unitless; // asked for, or all, but in neither
    std::size_t hosts = 0;               // in parts and beside
};

// All hosts when `nodes` is empty. Error (Code::usage): a name that is not in the fabric.
base::Expected<Selection> select(const Fabric& fabric, const std::vector<std::string>& nodes);

// Takes the hosts whose compute cables are in spines or cores out of `unitless`: no unit, but connected.
// slurmctld warns of every node that no switch of its tree reaches.
void take_beside(const Fabric& fabric, Selection& selection);

// A switch of the logical tree.
struct Branch {
    std::string name;
    std::size_t level = 0;            // index into Tree::levels
    std::vector<std::uint32_t> hosts; // of level 0: parts, then beside
    std::vector<std::size_t> below;   // branches of the level below
};

// From the units up. A level that would repeat the one below it is left out; parts of a fabric that cannot
// reach each other stay apart.
struct Tree {
    std::vector<std::string> levels; // "unit", "pod", "core", "tier3" …
    std::vector<Branch> branches;    // by level, then in the order of the hosts below
};

Tree logical_tree(const Fabric& fabric, const Selection& selection);

// Names of letters, digits, '_', '-' and '.', at most 64 long, each given once.
class SafeNames {
public:
    std::string add(std::string_view wanted);

private:
    std::unordered_map<std::string, int> taken_; // name → the number that its next double gets
};

bool safe_name(std::string_view name); // of letters, digits, '_', '-', '.', beginning with a letter or digit

} // namespace topo::exports
