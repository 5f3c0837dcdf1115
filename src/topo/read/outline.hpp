// Fabrics of which only groups of hosts are known, from resource managers' files: units, and what joins them,
// but no rails, no cables and no GUIDs.
#pragma once

#include "base/expected.hpp"
#include "topo/read/assemble.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topo {

struct Outline {
    struct Group {
        std::string name;
        std::vector<std::string> hosts;  // a unit …
        std::vector<std::string> groups; // … or what joins these groups
        std::uint32_t line = 0;
    };
    std::vector<Group> groups;
    std::string source;             // in front of line numbers in errors
    bool joined = false;            // blocks: groups without a group above are connected nevertheless
    std::vector<std::string> notes; // sentences
};

// A Fabric in which every host has one HCA, without a device name, on rail 0, and every group is a switch:
// enough for units, pods and placement. GUIDs are made of names (text.hpp), so that the same groups give the
// same file. A group of more hosts than a switch has ports becomes several below one of its name.
//
// A host in several groups is in the first; that, and that there are no rails, is said in Assembly::notes.
// Errors (Code::input) say "SOURCE:LINE: …": two groups of one name, a group that is not there, groups inside
// each other in a ring, hosts and groups in one group, more than 200 groups in one, no host at all. Linear.
base::Expected<Assembly> assemble(const Outline& outline);

// The fabric was made by assemble(Outline), by whatever file it came here.
bool is_outline(const Fabric& fabric);

} // namespace topo
