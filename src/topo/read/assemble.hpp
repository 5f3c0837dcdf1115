// Converts nodes and ports to a Fabric: the host of an HCA, from its node description; links from both ends.
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"
#include "topo/read/rules.hpp"

#include <string>
#include <string_view>

namespace topo {

struct Assembly {
    Fabric fabric;                    // with roles and rails (roles.hpp), derived
    std::vector<std::string> missing; // sentences: parts of the fabric that were not seen
    std::vector<std::string> notes;   // sentences: other information for the user
};

// Routers and aggregation nodes are left out with their links. Errors (Code::input) give source and line if
// the text has them: a GUID in two nodes, a port number above the node's ports, a port listed twice, two ends
// that contradict each other. Roles and rails follow `rules`, which may be null. Linear time.
base::Expected<Assembly> assemble(const RawFabric& raw, const Rules* rules = nullptr);

// What a node description contains about an HCA: "n001 mlx5_3" and "n001 HCA-1" give host and device, "n001"
// and "n001 MT4119 ConnectX5 Mellanox Technologies" only the host; a vendor's default ("MT4129 ConnectX7
// Mellanox Technologies") gives neither.
struct HcaName {
    std::string_view host, device;
};
HcaName parse_hca_description(std::string_view description);

// A managed switch's description "MF0;leaf01:MQM9700/U1" without its frame: "leaf01"; for a chassis, whose
// parts must remain distinct, "core1/L02/U1". Any other description is unchanged.
std::string short_switch_name(std::string_view description);

} // namespace topo
