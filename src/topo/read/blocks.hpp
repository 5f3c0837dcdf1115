// Slurm's blocks as the NVLink domains of a fabric whose units are known from its cables.
#pragma once

#include "topo/fabric.hpp"
#include "topo/read/outline.hpp"

#include <string>
#include <vector>

namespace topo {

// Gives each host of a block the block's name as its NVLink domain; hosts in no block keep theirs. Names are
// compared as they are, then without what follows their first dot. A host in several blocks is in the first.
// The fabric is derived again. Sentences: hosts in no block or in several, hosts that the fabric does not
// have, domains that lie in several units. Linear.
std::vector<std::string> name_domains(Fabric& fabric, const Outline& blocks);

} // namespace topo
