// Uses Slurm's blocks as the NVLink domains of a fabric whose units are known from its cables.
#pragma once

#include "topo/fabric.hpp"
#include "topo/read/outline.hpp"

#include <string>
#include <vector>

namespace topo {

// Gives each host of a block the block's name as its NVLink domain; hosts in no block keep theirs. Names are
// compared in full, then up to the first dot. For a host in several blocks, the first one counts. The fabric
// is derived again. Returns sentences about hosts in no block or in several, hosts that are not in the
// fabric, domains that are in several units. Linear.
std::vector<std::string> name_domains(Fabric& fabric, const Outline& blocks);

} // namespace topo
