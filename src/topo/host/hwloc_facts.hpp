// A host's facts from hwloc: of this machine, of an XML file of another one, or of a copy of its /sys and
// /proc (HWLOC_FSROOT).
#pragma once

#include "base/expected.hpp"
#include "topo/host/host_facts.hpp"

#include <string>

namespace topo {

struct HwlocSource {
    std::string xml;    // file, "-" for standard input
    std::string fsroot; // directory that holds sys/ and proc/; both empty: this machine
    std::string host;   // name to use instead of the one that is found
};

// HCAs are hwloc's OpenFabrics devices, GPUs the display and accelerator functions of NVIDIA and AMD. The
// common ancestor of two devices is found over PCI bridges and above them over packages, so that hosts
// without PCI switches are distinguished by socket. The host's name is the first label of its host name, or
// what the XML says. Loads hwloc's topology without its CUDA, NVML, OpenCL and display parts: no driver is
// touched. Not to be called from several threads (HWLOC_FSROOT is an environment variable).
//
// Errors: Code::input when the XML cannot be read or no host name is known (way out: --host); Code::io when
// the directory or the file is not there.
base::Expected<HostFacts> read_hwloc_facts(const HwlocSource& source);

} // namespace topo
