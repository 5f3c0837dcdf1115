#include "sched/ask/spare_floor.hpp"

#include <cmath>

namespace sched {

std::uint32_t spares_for(std::uint32_t hosts, base::Duration mtbf, base::Duration repair, double risk) {
    if (!(risk > 0) || risk >= 1 || mtbf.count() <= 0 || repair.count() <= 0) return 0;
    const double mean = hosts * base::to_seconds(repair) / base::to_seconds(mtbf);
    double beyond = 1; // the probability that `spares` hosts or more are in repair
    for (std::uint32_t spares = 0; spares < hosts / 2; ++spares) {
        // With logarithms: exp(-mean) alone underflows to 0 for a large fleet.
        beyond -= std::exp(spares * std::log(mean) - mean - std::lgamma(spares + 1.0));
        if (beyond < risk) return spares;
    }
    return hosts / 2;
}

std::uint32_t spare_floor_of(const base::PlacementConf& placement, const base::CheckpointConf& checkpoint,
                             const topo::Fabric& fabric) {
    return spares_for(static_cast<std::uint32_t>(fabric.hosts.size()), checkpoint.mtbf_node,
                      placement.repair_time, placement.spare_risk);
}

} // namespace sched
