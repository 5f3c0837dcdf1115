// The parts of this host as results name them: by GPU, HCA, port and rail. Pure.
#pragma once

#include "check/result.hpp"
#include "topo/fabric.hpp"

#include <string>

namespace check {

// A GPU by its PCI address ("0000:14:00.0"). `index` is NVML's or CUDA's number, used for the name if the
// address is not in `fabric`, which has this host or none. Its rail is that of the nearest compute HCA.
Part gpu_part(const topo::Fabric& fabric, const std::string& pci, int index);

// A port by the kernel's name of the HCA; its rail is looked up in the fabric, by PCI address if `pci` is
// given, else by name.
Part port_part(const topo::Fabric& fabric, const std::string& hca, int port, const std::string& pci);

} // namespace check
