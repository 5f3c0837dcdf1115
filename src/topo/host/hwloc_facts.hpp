// A host's facts from hwloc: of this machine, from an XML file of another one, or from a copy of its /sys and
// /proc (HWLOC_FSROOT).
#pragma once

#include "base/expected.hpp"
#include "topo/host/host_facts.hpp"

#include <string>

namespace topo {

struct HwlocSource {
    std::string xml;    // file, "-" for standard input
    std::string fsroot; // directory that contains sys/ and proc/; both empty: this machine
    std::string host;   // name to use instead of the detected one
};

// HCAs are hwloc's OpenFabrics devices, GPUs the display and accelerator functions of NVIDIA and AMD. The
// common ancestor of two devices is searched through PCI bridges and then packages, so that on hosts without
// PCI switches devices are distinguished by socket. The host's name is the first label of its host name, or
// taken from the XML. Loads hwloc's topology without its CUDA, NVML, OpenCL and display components: no driver
// is accessed. Must not be called from several threads (HWLOC_FSROOT is an environment variable).
//
// Errors: Code::input if the XML cannot be parsed or no host name is known (use --host); Code::io if the
// directory or file does not exist.
base::Expected<HostFacts> read_hwloc_facts(const HwlocSource& source);

} // namespace topo
