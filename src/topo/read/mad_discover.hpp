// Discovers the live fabric by management datagrams through libibnetdisc.
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string>

namespace topo {

struct MadPort {
    std::string ca; // "mlx5_0"; empty: the first HCA with an active port
    int port = 0;   // 0: its first active port
};

// Walks the fabric from that port. Blocks, for seconds with thousands of HCAs; only one call at a time in a
// process, as libibumad has process-wide state. libibnetdisc prints what did not answer on standard error;
// ports that are up but lead nowhere are listed in RawFabric::missing. Errors: Code::io if there is no such
// port or it cannot be opened (no InfiniBand, no access to umad).
base::Expected<RawFabric> discover_live(const MadPort& from);

} // namespace topo
