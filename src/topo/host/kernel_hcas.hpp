// The HCAs listed by a host's kernel, and which of them the fabric file refers to.
#pragma once

#include "topo/fabric.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace topo {

struct KernelHca {
    std::string device;      // "mlx5_0"
    Guid guid = 0;           // node GUID, 0 if unknown
    std::vector<Guid> ports; // port GUIDs
};

// From SYS/class/infiniband, in natural order of devices; none if that folder does not exist.
std::vector<KernelHca> read_kernel_hcas(const std::filesystem::path& sys);

// The kernel's name for an HCA of `host`; "" if the kernel does not list it. Compared by GUID: names differ
// between sources ("HCA-1" in a node description) and with the order in which drivers find devices. The name
// is used for an HCA whose GUID is not in the file, or that was replaced by one that the file does not
// contain.
std::string kernel_name(const Host& host, const Hca& hca, const std::vector<KernelHca>& kernel);

} // namespace topo
