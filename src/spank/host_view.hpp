// What slurmstepd knows about its host: read once for each step, as root, before tasks are forked.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"
#include "topo/host/numa.hpp"

#include <string>
#include <vector>

namespace spank {

struct HostView {
    topo::Fabric fabric;              // only this host (topo::kept_excerpt); its HCAs have the kernel's names
    std::vector<int> hcas;            // its working HCAs that the kernel also lists, in the order of rails
    std::vector<topo::NumaNode> numa; // empty: hwloc could not read them
    std::string topo_file;            // for NCCL; empty: it could not be written, or the machine has its own

    const topo::Host& host() const { return fabric.hosts.front(); }
};

// The fabric's path is in railyard.conf. `fsroot` contains sys/ and proc/ ("" for this machine), `run_folder`
// is for jobs' files and this host's part of the fabric (topo::kept_excerpt). Errors: no configuration, no
// fabric, or the host is not in the fabric: then nothing is bound or exported.
base::Expected<HostView> view_host(const std::string& node, const std::string& fsroot,
                                   const std::string& run_folder);

} // namespace spank
