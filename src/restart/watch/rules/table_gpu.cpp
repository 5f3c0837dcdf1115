#include "probe/nvml_abi.h"
#include "restart/watch/rules/table.hpp"

#include <array>

namespace restart::table {
namespace {

using enum Severity;
using enum FaultClass;
using namespace std::chrono_literals;

// Severity says what the job on the host needs. info: the host is sound. warn: sound for now, avoid where
// there is a choice. evict: it still computes but must be taken out. fatal: a save would never finish.

// A clock event reason. Which of them evict, and after how long, [throttle] of railyard.conf says.
constexpr Rule throttle(std::string_view name, std::uint64_t bit, std::string_view source) {
    return {.name = name,
            .signal = "gpu.clock_events",
            .test = Test::bit,
            .value = static_cast<double>(bit),
            .window = std::nullopt,
            .severity = std::nullopt,
            .fault = gpu_slow,
            .says = "clock event reasons {bits}",
            .source = source};
}

// HW slowdown is set with either of the two causes; beside one of them it adds nothing.
constexpr Rule slowdown() {
    auto rule = throttle("gpu.throttle.hw_slowdown", NVML_REASON_HW_SLOWDOWN,
                         "Autopilot: warn at once; gpud: 0.6 events a minute over 10 min");
    rule.unless = NVML_REASON_HW_POWER_BRAKE | NVML_REASON_HW_THERMAL_SLOWDOWN;
    return rule;
}

// Rows without a window fire at the first look: what they read does not flicker.
constexpr auto rows = std::to_array<Rule>({
    throttle("gpu.throttle.hw_power_brake", NVML_REASON_HW_POWER_BRAKE,
             "NVSentinel: 3 consecutive polls (PR 1668); gpud: 0.6 events a minute over 10 min"),
    throttle("gpu.throttle.hw_thermal_slowdown", NVML_REASON_HW_THERMAL_SLOWDOWN,
             "gpud: 0.6 events a minute over 10 min, hardware inspection"),
    slowdown(),
    throttle("gpu.throttle.sw_thermal_slowdown", NVML_REASON_SW_THERMAL_SLOWDOWN,
             "Azure: any reason but idle and SW power cap is a warning"),
    {.name = "gpu.lost",
     .signal = "gpu.lost",
     .value = 1,
     .severity = fatal,
     .fault = gpu_gone,
     .says = "NVML: GPU is lost",
     .source = "NVML GPU_IS_LOST is final until a reset (NVML reference; XID 79: every monitor drains)"},
    {.name = "gpu.remap_failed",
     .signal = "gpu.remap_failed",
     .value = 1,
     .severity = evict,
     .fault = gpu_broken,
     .says = "row remapping failed",
     .source = "replace the GPU: gpud, Azure health checks"},
    {.name = "gpu.remap_pending",
     .signal = "gpu.remap_pending",
     .value = 1,
     .severity = warn,
     .fault = gpu_error,
     .says = "row remapping waits for a reset",
     .source = "rows are remapped at the next reset: DCGM warn, gpud, Azure"},
    {.name = "gpu.ecc",
     .signal = "gpu.ecc_uncorrected",
     .test = Test::above,
     .value = 0,
     .severity = warn,
     .fault = gpu_error,
     .says = "{value} uncorrected ECC errors since the driver was loaded",
     .source = "volatile uncorrected errors above 0: GCM, Azure; whether a job must move the XIDs say"},
    {.name = "gpu.pcie_width",
     .signal = "gpu.pcie_width",
     .test = Test::below,
     .value = 1,
     .against = Against::own,
     .window = 60s,
     .severity = warn,
     .fault = pcie,
     .says = "PCIe x{value} of x{of}",
     .source = "fewer lanes than GPU and slot have; 60 s pass over a reset (gpud, Azure)"},
    {.name = "gpu.pcie_replay",
     .signal = "gpu.pcie_replays",
     .test = Test::delta,
     .value = 1,
     .against = Against::own,
     .window = 1min,
     .severity = warn,
     .fault = pcie,
     .says = "{grown} PCIe replays in a minute (allowed: {limit})",
     .source = "DCGM: 1e-12 bit error rate, per lane and minute 0.48 (Gen3) to 3.84 (Gen6)"},
});

} // namespace

std::span<const Rule> gpu_rules() {
    return rows;
}

} // namespace restart::table
