// Slurm's topology.conf(5) for topology/tree and topology/block, and topology.yaml(5) since Slurm 25.05.
#pragma once

#include "base/expected.hpp"
#include "topo/read/outline.hpp"

#include <string_view>

namespace topo {

// SwitchName=… Nodes=…|Switches=… and BlockName=… Nodes=…, BlockSizes=…; keys in any case, '#' and continued
// lines as in Slurm. Blocks are connected, as jobs may span them; top-level switches are not. Errors
// (Code::input) read "NAME:LINE: …" and give the token: unknown keys, a switch with both nodes and switches
// or neither, invalid host lists, Include. Linear in the text and the names.
base::Expected<Outline> parse_topology_conf(std::string_view text, std::string_view name);

// The topology with cluster_default, else the first one, among trees and blocks or only blocks; a note names
// the others. Errors as above.
base::Expected<Outline> parse_topology_yaml(std::string_view text, std::string_view name,
                                            bool blocks_only = false);

} // namespace topo
