// The settings of NCCL and UCX for one host.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace topo::exports {

// The text for NCCL_TOPO_FILE. Errors (Code::unfit): unknown facts.
base::Expected<std::string> nccl_topo(const Fabric& fabric, const Host& host);

// The compute HCAs with a link that is not down, as indices into Host::hcas, in rail order.
std::vector<int> working_hcas(const Fabric& fabric, const Host& host);

struct NetPorts {
    std::vector<std::string> ports; // "mlx5_0:1", those with a link, in the order of the HCAs
    int cross_nic = 2;              // NCCL_CROSS_NIC: 0 each HCA on separate leaves, 1 all on one, 2 else
};
// For these HCAs (indices into Host::hcas). Errors (Code::unfit): a device name that cannot be put in a list.
base::Expected<NetPorts> net_ports(const Fabric& fabric, const Host& host, const std::vector<int>& hcas);

} // namespace topo::exports
