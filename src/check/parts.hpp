// The parts of this host as results name them: by GPU, HCA, port and rail. Pure.
#pragma once

#include "check/result.hpp"
#include "topo/fabric.hpp"

#include <string>

namespace check {

// A GPU by its PCI address ("0000:14:00.0"); `index` is NVML's or CUDA's number, used for its name where
// `fabric`, which has this host or none, does not know the address. Its rail is that of the compute HCA
// nearest to it.
Part gpu_part(const topo::Fabric& fabric, const std::string& pci, int index);

// A port by the kernel's name of the HCA; its rail as in the fabric, by PCI address where `pci` is given,
// else by name.
Part port_part(const topo::Fabric& fabric, const std::string& hca, int port, const std::string& pci);

} // namespace check
