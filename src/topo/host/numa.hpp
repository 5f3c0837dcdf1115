// A NUMA node of a host and its CPUs, in the kernel's numbering.
#pragma once

#include <vector>

namespace topo {

struct NumaNode {
    int id = 0;
    std::vector<int> cpus; // ascending; empty for memory without CPUs
};

} // namespace topo
