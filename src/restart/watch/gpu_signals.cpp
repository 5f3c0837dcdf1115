#include "restart/watch/gpu_signals.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace restart {
namespace {

// DCGM: replays a minute that a link at a bit error rate of 1e-12 may show, by generation and lanes.
double expected_replays(std::uint32_t generation, std::uint32_t lanes) {
    constexpr std::array per_lane{0.12, 0.12, 0.24, 0.48, 0.96, 1.92, 3.84};
    const auto rate = per_lane[std::min<std::size_t>(generation, per_lane.size() - 1)];
    return static_cast<double>(static_cast<std::uint64_t>(rate * lanes) + 1);
}

} // namespace

void read_gpu(const GpuSample& gpu, std::vector<Signal>& into) {
    const auto component = fmt::format("gpu{}", gpu.index);
    const auto add = [&](std::string_view name, double value, double of = 0) {
        into.push_back({name, component, value, of, {}});
    };
    const auto add_known = [&](std::string_view name, const auto& value, double of = 0) {
        if (value) add(name, static_cast<double>(*value), of);
    };
    add("gpu.lost", gpu.lost ? 1 : 0);
    if (gpu.lost) return;
    add("gpu.clock_events", static_cast<double>(gpu.reasons));
    add_known("gpu.remap_failed", gpu.remap_failed);
    add_known("gpu.remap_pending", gpu.remap_pending);
    add_known("gpu.ecc_corrected", gpu.ecc_corrected);
    add_known("gpu.ecc_uncorrected", gpu.ecc_uncorrected);
    add_known("gpu.pcie_generation", gpu.pcie_generation, gpu.pcie_generation_max.value_or(0));
    add_known("gpu.pcie_width", gpu.pcie_width, gpu.pcie_width_max.value_or(0));
    add_known("gpu.pcie_replays", gpu.pcie_replays,
              expected_replays(gpu.pcie_generation.value_or(6), gpu.pcie_width.value_or(16)));
}

} // namespace restart
