// A NUMA node of a host and its CPUs, as the kernel numbers both.
#pragma once

#include <vector>

namespace topo {

struct NumaNode {
    int id = 0;
    std::vector<int> cpus; // ascending; empty for memory without CPUs
};

} // namespace topo
