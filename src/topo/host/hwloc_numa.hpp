// The CPUs of each NUMA node of this machine.
#pragma once

#include "base/expected.hpp"
#include "topo/host/numa.hpp"

#include <string>
#include <vector>

namespace topo {

// Ascending by id; CPUs that this process may not use are included, so that restrictions on a daemon do not
// affect what its children inherit. `fsroot` as in HwlocSource (empty: this machine). Reads no devices: a few
// milliseconds. Must not be called from several threads. Errors (Code::io): hwloc finds no machine.
base::Expected<std::vector<NumaNode>> read_numa_nodes(const std::string& fsroot);

} // namespace topo
