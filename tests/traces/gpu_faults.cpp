// Faults of GPUs, but for XIDs, each by the rule that is to find it.
#include "traces/host_kinds.hpp"

#include <array>
#include <chrono>

namespace trace {

using namespace std::chrono_literals;
using restart::Sample;
using restart::Severity;

namespace {

// One value of the episode's GPU, as NVML would give it.
template <auto member, auto value> void shows(Sample& sample, const auto& one) {
    sample.gpus->at(one.device).*member = value;
}

} // namespace

std::span<const HostTrace::Kind> HostTrace::gpu_faults() {
    using restart::GpuSample;
    static const Kind kinds[] = {
        {.name = "gpu.throttle.hw_power_brake",
         .shortest = 10min,
         .longest = 1h,
         .severity = Severity::evict,
         .of = Part::gpu,
         .show = [](Sample& sample, const Episode& one) { slow_down(sample, one.device, 0x88); }},
        {.name = "gpu.throttle.hw_thermal_slowdown",
         .shortest = 10min,
         .longest = 1h,
         .severity = Severity::evict,
         .of = Part::gpu,
         // Four seconds of five.
         .show =
             [](Sample& sample, const Episode& one) {
                 if ((sample.now - one.begin) / 1s % 5 != 4) slow_down(sample, one.device, 0x48);
             }},
        {.name = "gpu.lost",
         .shortest = 2h,
         .longest = 4h,
         .severity = Severity::evict,
         .of = Part::gpu,
         .show = shows<&GpuSample::lost, true>},
        {.name = "gpu.remap_failed",
         .shortest = 2h,
         .longest = 4h,
         .severity = Severity::evict,
         .of = Part::gpu,
         .show = shows<&GpuSample::remap_failed, true>},
        {.name = "gpu.pcie_width",
         .shortest = 2h,
         .longest = 4h,
         .of = Part::gpu,
         .show = shows<&GpuSample::pcie_width, 8>},
        {.name = "gpu.ecc",
         .shortest = 2h,
         .longest = 4h,
         .of = Part::gpu,
         .show = shows<&GpuSample::ecc_uncorrected, 1>},
        {.name = "gpu.throttle.hw_slowdown",
         .shortest = 10min,
         .longest = 1h,
         .of = Part::gpu,
         .show = shows<&GpuSample::reasons, 0x8>},
        {.name = "gpu.throttle.sw_thermal_slowdown",
         .shortest = 10min,
         .longest = 1h,
         .of = Part::gpu,
         .show = shows<&GpuSample::reasons, 0x20>},
        {.name = "gpu.remap_pending",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .show = shows<&GpuSample::remap_pending, true>},
        {.name = "gpu.pcie_width",
         .row = "gpu.pcie_width#mean",
         .shortest = 14h,
         .longest = 15h,
         .of = Part::gpu,
         .show =
             [](Sample& sample, const Episode& one) {
                 auto& gpu = sample.gpus->at(one.device);
                 if (comes_and_goes(sample, one.begin)) gpu.pcie_width = 4;
             }},
        {.name = "gpu.pcie_speed",
         .shortest = 14h,
         .longest = 15h,
         .of = Part::gpu,
         .show = shows<&GpuSample::pcie_generation, 4>},
        {.name = "gpu.pcie_replay",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 host.gpus_[one.device].pcie_replays += 2 * static_cast<std::uint64_t>(passed / 1s);
             }},
        {.name = "gpu.nvlink_down",
         .row = "gpu.nvlink_down",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .show = shows<&GpuSample::nvlinks_active, nvlinks - 1>},
        {.name = "gpu.nvlink_down",
         .row = "gpu.nvlink_down#peers",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .boots_first = true,
         // It never came up.
         .show = shows<&GpuSample::nvlinks_active, nvlinks - 1>},
        {.name = "gpu.nvlink_crc",
         .shortest = 10min,
         .longest = 1h,
         .of = Part::gpu,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 host.gpus_[one.device].nvlink_crc += 150 * static_cast<std::uint64_t>(passed / 1s);
             }},
        {.name = "gpu.nvlink_crc",
         .row = "gpu.nvlink_crc#few",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::gpu,
         .begin = [](HostTrace& host, const Episode& one) { host.gpus_[one.device].nvlink_crc += 9; }},
        {.name = "gpu.nvlink_replays",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::gpu,
         .begin = [](HostTrace& host, const Episode& one) { host.gpus_[one.device].nvlink_replays += 3; }},
        {.name = "gpu.nvlink_recoveries",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .begin = [](HostTrace& host, const Episode& one) { host.gpus_[one.device].nvlink_recoveries += 1; }},
        {.name = "gpu.nvlink_rcv_errors",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::gpu,
         .begin = [](HostTrace& host, const Episode& one) { host.gpus_[one.device].nvlink_rcv_errors += 1; }},
        {.name = "gpu.thermal_violation",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::gpu,
         .tick =
             [](HostTrace& host, const Episode& one, base::Duration passed) {
                 host.gpus_[one.device].thermal_ms += 50 * static_cast<std::uint64_t>(passed / 1s);
             }},
        {.name = "gpu.recovery",
         .row = "gpu.recovery#reset",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .show = shows<&GpuSample::recovery_action, 1>},
        {.name = "gpu.recovery",
         .row = "gpu.recovery#reboot",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .show = shows<&GpuSample::recovery_action, 2>},
        {.name = "gpu.recovery",
         .row = "gpu.recovery#drain",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .show = shows<&GpuSample::recovery_action, 3>},
        {.name = "gpu.recovery",
         .row = "gpu.recovery#imex",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .show = shows<&GpuSample::recovery_action, 5>},
        {.name = "gpu.fabric",
         .row = "gpu.fabric#state",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .boots_first = true,
         .show = shows<&GpuSample::fabric_state, 2>},
        {.name = "gpu.fabric",
         .row = "gpu.fabric#status",
         .shortest = 1h,
         .longest = 2h,
         .of = Part::gpu,
         .show = shows<&GpuSample::fabric_status, 999>},
        {.name = "gpu.unseen",
         .shortest = 1h,
         .longest = 2h,
         .severity = Severity::info,
         .of = Part::gpu,
         .show =
             [](Sample& sample, const Episode& one) {
                 auto& gpu = sample.gpus->at(one.device);
                 gpu.ecc_corrected.reset();
                 gpu.ecc_uncorrected.reset();
                 gpu.unseen = {"ECC errors: Unknown Error (999)"};
             }},
    };
    return kinds;
}

} // namespace trace
