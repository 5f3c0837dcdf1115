#include "restart/watch/gpu_signals.hpp"

#include "base/utf8.hpp"
#include "probe/nvml_abi.h"

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

// If the driver counts the time of a reason, its bit adds nothing.
std::uint64_t uncounted(const GpuSample& gpu) {
    std::uint64_t bits = 0;
    if (!gpu.power_brake_ms) bits |= NVML_REASON_HW_POWER_BRAKE;
    if (!gpu.hw_thermal_ms) bits |= NVML_REASON_HW_THERMAL_SLOWDOWN;
    if (!gpu.sw_thermal_ms) bits |= NVML_REASON_SW_THERMAL_SLOWDOWN;
    return *gpu.reasons & bits;
}

} // namespace

void read_gpu(const GpuSample& gpu, std::uint32_t& most_links, bool has_switches, std::vector<Signal>& into) {
    const auto component = fmt::format("gpu{}", gpu.index);
    const auto add = [&](std::string_view name, double value, double of = 0) {
        into.push_back({name, component, value, of, {}});
    };
    const auto add_known = [&](std::string_view name, const auto& value, double of = 0) {
        if (value) add(name, static_cast<double>(*value), of);
    };
    add("gpu.lost", gpu.lost ? 1 : 0);
    into.push_back({"gpu.missing", component, gpu.silent.empty() ? 0.0 : 1.0, 0, gpu.silent});
    if (gpu.lost || !gpu.silent.empty()) return;
    into.push_back({"gpu.unseen", component, static_cast<double>(gpu.unseen.size()), 0,
                    gpu.unseen.empty() ? std::string() : base::printable(gpu.unseen.front(), 100)});
    add_known("gpu.clock_events", gpu.reasons);
    if (gpu.reasons) add("gpu.uncounted_events", static_cast<double>(uncounted(gpu)));
    add_known("gpu.remap_failed", gpu.remap_failed);
    add_known("gpu.remap_pending", gpu.remap_pending);
    add_known("gpu.ecc_corrected", gpu.ecc_corrected);
    add_known("gpu.ecc_uncorrected", gpu.ecc_uncorrected);
    // An idle GPU lowers the generation itself.
    if (gpu.reasons && (*gpu.reasons & NVML_REASON_GPU_IDLE) == 0)
        add_known("gpu.pcie_generation", gpu.pcie_generation, gpu.pcie_generation_max.value_or(0));
    add_known("gpu.pcie_width", gpu.pcie_width, gpu.pcie_width_max.value_or(0));
    add_known("gpu.pcie_replays", gpu.pcie_replays,
              expected_replays(gpu.pcie_generation.value_or(6), gpu.pcie_width.value_or(16)));
    if (gpu.nvlinks_active) {
        most_links = std::max(most_links, *gpu.nvlinks_active);
        // A GPU that registers with NVSwitches has some, too.
        if (most_links > 0 || has_switches || gpu.fabric_state.value_or(0) != 0)
            add("gpu.nvlinks", *gpu.nvlinks_active, most_links);
    }
    add_known("gpu.nvlink_crc", gpu.nvlink_crc);
    add_known("gpu.nvlink_replays", gpu.nvlink_replays);
    add_known("gpu.nvlink_recoveries", gpu.nvlink_recoveries);
    add_known("gpu.nvlink_rcv_errors", gpu.nvlink_rcv_errors);
    add_known("gpu.power_violation", gpu.power_violation_ms);
    add_known("gpu.thermal_violation", gpu.thermal_violation_ms);
    add_known("gpu.power_brake_time", gpu.power_brake_ms);
    add_known("gpu.hw_thermal_time", gpu.hw_thermal_ms);
    add_known("gpu.sw_thermal_time", gpu.sw_thermal_ms);
    add_known("gpu.recovery_action", gpu.recovery_action);
    add_known("gpu.fabric_state", gpu.fabric_state);
    add_known("gpu.fabric_status", gpu.fabric_status);
}

} // namespace restart
