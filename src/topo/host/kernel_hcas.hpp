// The HCAs that a host's kernel has, and which of them the fabric file means.
#pragma once

#include "topo/fabric.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace topo {

struct KernelHca {
    std::string device;      // "mlx5_0"
    Guid guid = 0;           // node GUID, 0 when unknown
    std::vector<Guid> ports; // port GUIDs
};

// From SYS/class/infiniband, in natural order of devices; none where there is no such folder.
std::vector<KernelHca> read_kernel_hcas(const std::filesystem::path& sys);

// The kernel's name of an HCA of `host`; "" when the kernel does not have it. Compared by GUID: names differ
// between sources ("HCA-1" in a node description) and with the order in which drivers find devices. By its
// name goes an HCA that the file has no GUID of, or that was exchanged since for one that the file does not
// know.
std::string kernel_name(const Host& host, const Hca& hca, const std::vector<KernelHca>& kernel);

} // namespace topo
