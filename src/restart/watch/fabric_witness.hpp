// What one sweep of the fabric says about the hosts of the fabric file. Pure.
//
// The witness of a dead link is the switch at its other end: a link counts as down only when that switch
// answered and says that the port is down, and the HCA was seen nowhere else. What a sweep did not reach is
// unknown and counts as up, so a sweep that ended early never reports a host as lost.
#pragma once

#include "restart/wire/report.hpp"
#include "topo/fabric.hpp"
#include "topo/read/raw_fabric.hpp"

#include <map>
#include <string>
#include <vector>

namespace restart {

// `file`: the fabric as it should be, derived; `swept`: what answered. The report is complete when every
// switch that has hosts was seen. A host's links are those the file knows. Linear time.
FabricReport testify(const topo::Fabric& file, const topo::RawFabric& swept);

// Whether a sweep can see this link of the file.
bool can_be_seen(const topo::Hca& hca, const topo::HcaPort& port);

// Whether the file has links of HCAs by their GUIDs: a file with only names or units (topology.conf) has
// none, and no sweep can be compared with it.
bool has_links_to_see(const topo::Fabric& file);

// Log sentences about what changed between two reports; hosts with the same change share one sentence.
std::vector<std::string> news(const FabricReport& before, const FabricReport& after);

} // namespace restart
