// Slurm's topology.conf(5) for topology/tree and topology/block, and topology.yaml(5) of Slurm 25.05 on.
#pragma once

#include "base/expected.hpp"
#include "topo/read/outline.hpp"

#include <string_view>

namespace topo {

// SwitchName=… Nodes=…|Switches=… and BlockName=… Nodes=…, BlockSizes=…; names of keys in any case, '#' and
// continued lines as Slurm has them. Blocks meet one another, as jobs may span them; switches without one
// above do not. Errors (Code::input) say "NAME:LINE: …" and the token: unknown keys, a switch with both
// nodes and switches or neither, host lists that are none, Include. Linear in the text and the names.
base::Expected<Outline> parse_topology_conf(std::string_view text, std::string_view name);

// The topology with cluster_default, else the first one, of trees and blocks or of blocks alone; a note names
// the others. Errors as above.
base::Expected<Outline> parse_topology_yaml(std::string_view text, std::string_view name,
                                            bool blocks_only = false);

} // namespace topo
