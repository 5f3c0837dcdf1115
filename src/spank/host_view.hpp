// What slurmstepd knows of the host it runs on: read once a step, as root, before tasks are forked.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"
#include "topo/host/numa.hpp"

#include <string>
#include <vector>

namespace spank {

struct HostView {
    topo::Fabric fabric;   // of this host alone (topo::kept_excerpt); its HCAs have the kernel's names
    std::vector<int> hcas; // its working HCAs that the kernel knows too, in the order of rails
    std::vector<topo::NumaNode> numa; // empty: hwloc could not read them
    std::string topo_file;            // for NCCL; empty: none could be made, or the machine has its own

    const topo::Host& host() const { return fabric.hosts.front(); }
};

// The fabric's path is railyard.conf's. `fsroot` holds sys/ and proc/ ("" for this machine), `run_folder` is
// where files for jobs may be written, and this host's part of the fabric is kept (topo::kept_excerpt).
// Errors: no configuration, no fabric, or the fabric does not know the host: then nothing is bound or
// exported.
base::Expected<HostView> view_host(const std::string& node, const std::string& fsroot,
                                   const std::string& run_folder);

} // namespace spank
