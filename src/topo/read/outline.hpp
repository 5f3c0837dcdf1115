// Fabrics of which only groups of hosts are known, from resource managers' files: units, and their
// connections, but no rails, cables or GUIDs.
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
        std::vector<std::string> groups; // … or a connection of these groups
        std::uint32_t line = 0;
    };
    std::vector<Group> groups;
    std::string source;             // put before line numbers in errors
    bool joined = false;            // blocks: top-level groups are nevertheless connected
    std::vector<std::string> notes; // sentences
};

// A Fabric in which every host has one HCA, without a device name, on rail 0, and every group is a switch:
// sufficient for units, pods and placement. GUIDs are generated from names (text.hpp), so the same groups
// give the same file. A group with more hosts than a switch has ports becomes several switches below one with
// its name.
//
// For a host in several groups, the first one counts; this, and that there are no rails, is noted in
// Assembly::notes. Errors (Code::input) read "SOURCE:LINE: …": two groups with the same name, an unknown
// group, a cycle of groups, hosts and groups in one group, more than 200 groups in one, no hosts. Linear.
base::Expected<Assembly> assemble(const Outline& outline);

// Whether the fabric was made by assemble(Outline), even if read from a file.
bool is_outline(const Fabric& fabric);

} // namespace topo
