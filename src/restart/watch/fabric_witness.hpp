// What one sweep of the fabric shows about the hosts of the fabric file. Pure.
//
// The evidence for a dead link is the switch at its other end: a link counts as down only if that switch
// answered and reports the port as down, and the HCA was seen nowhere else. What a sweep did not reach is
// unknown and counts as up, so an incomplete sweep never reports a host as lost.
#pragma once

#include "restart/wire/report.hpp"
#include "topo/fabric.hpp"
#include "topo/read/raw_fabric.hpp"

#include <map>
#include <string>
#include <vector>

namespace restart {

// `file`: the expected fabric, derived; `swept`: what answered. The report is complete if every switch with
// hosts was seen. A host's links are those of the file. Linear time.
FabricReport testify(const topo::Fabric& file, const topo::RawFabric& swept);

// Whether a sweep can see this link of the file.
bool can_be_seen(const topo::Hca& hca, const topo::HcaPort& port);

// Whether the file has links of HCAs with their GUIDs: a file with only names or units (topology.conf) has
// none, and cannot be compared with a sweep.
bool has_links_to_see(const topo::Fabric& file);

// Log sentences about what changed between two reports; hosts with the same change share one sentence.
std::vector<std::string> news(const FabricReport& before, const FabricReport& after);

} // namespace restart
