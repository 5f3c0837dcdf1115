#include "check/parts.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace check {

Part gpu_part(const topo::Fabric& fabric, const std::string& pci, int index) {
    Part part{.pci = pci};
    for (const auto& host : fabric.hosts) {
        const auto gpu =
            std::find_if(host.gpus.begin(), host.gpus.end(), [&](const auto& one) { return one.pci == pci; });
        if (gpu == host.gpus.end()) continue;
        index = static_cast<int>(gpu - host.gpus.begin());
        for (const auto& hca : host.hcas) {
            if (hca.gpu != index || hca.role != topo::Role::compute) continue;
            part.hca = hca.device;
            if (hca.rail != topo::none) part.rail = hca.rail;
            break;
        }
    }
    part.gpu = index;
    part.name = fmt::format("gpu{}", index);
    return part;
}

Part port_part(const topo::Fabric& fabric, const std::string& hca, int port, const std::string& pci) {
    Part part{.name = fmt::format("{}:{}", hca, port), .pci = pci, .hca = hca, .port = port};
    for (const auto& host : fabric.hosts)
        for (const auto& one : host.hcas)
            if (pci.empty() || one.pci.empty() ? one.device == hca : one.pci == pci) {
                if (one.gpu != topo::none) part.gpu = one.gpu;
                if (one.rail != topo::none) part.rail = one.rail;
            }
    return part;
}

} // namespace check
