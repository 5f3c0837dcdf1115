// The settings of NCCL and UCX for one host.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace topo::exports {

// The text of NCCL_TOPO_FILE. Errors (Code::unfit): facts that are not known.
base::Expected<std::string> nccl_topo(const Fabric& fabric, const Host& host);

// The compute HCAs that have a link which is not down, as indices into Host::hcas, in the order of rails.
std::vector<int> working_hcas(const Fabric& fabric, const Host& host);

struct NetPorts {
    std::vector<std::string> ports; // "mlx5_0:1", those with a link, in the order of the HCAs
    int cross_nic = 2;              // NCCL_CROSS_NIC: 0 each HCA on leaves of its own, 1 all on one, 2 else
};
// Of these HCAs (indices into Host::hcas). Errors (Code::unfit): a device whose name no list can take.
base::Expected<NetPorts> net_ports(const Fabric& fabric, const Host& host, const std::vector<int>& hcas);

} // namespace topo::exports
