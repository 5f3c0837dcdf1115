// The host itself: memory, clock, services, its management network and file systems.
//
// Conditions that other monitors only report are at most a warning here, and info if a site may have chosen
// them.
#include "restart/watch/rules/table.hpp"

#include <array>

namespace restart::table {
namespace {

using enum Severity;
using enum FaultClass;
using namespace std::chrono_literals;

constexpr auto host_rows = std::to_array<Rule>({
    {.name = "host.driver_blocked",
     .signal = "host.driver_blocked",
     .test = Test::above,
     .value = 300,
     .severity = warn,
     .fault = gpu_stuck,
     .says = "{text} has been in uninterruptible sleep for {value} s",
     .source = "GCM: 300 s in state D; gpud: in 5 consecutive looks of a minute, then a reboot"},
    {.name = "host.memory_uncorrected",
     .signal = "host.memory_uncorrected",
     .test = Test::delta,
     .value = 0,
     .window = 24h,
     .severity = warn,
     .source = "any uncorrected error (EDAC): what it hit is lost, and most hosts stop by themselves"},
    {.name = "host.memory_corrected",
     .signal = "host.memory_corrected",
     .test = Test::delta,
     .value = 10,
     .window = 24h,
     .severity = info,
     .source = "mcelog's default: 10 corrected errors of a DIMM in 24 h; nothing is lost"},
    {.name = "host.clock_source",
     .signal = "host.clock_source",
     .value = 2,
     .to = 4,
     .window = 1min,
     .severity = warn,
     .says = "the kernel tells the time by {text}: the processor's counter was found unstable",
     .source = "GCM checks the clock source; each reading of these costs a microsecond or more"},
    {.name = "host.clock_step",
     .signal = "host.clock_step",
     .test = Test::above,
     .value = 128,
     .clear = 1h,
     .severity = info,
     .says = "the time of day jumped by {value} ms",
     .source = "ntpd steps from 128 ms on; what is smaller is slewed"},
    {.name = "host.fabric_manager",
     .signal = "host.fabric_manager",
     .value = 0,
     .window = 5min,
     .severity = warn,
     .says = "there are NVSwitch devices, but nv-fabricmanager does not run: CUDA does not start",
     .source = "NVIDIA Fabric Manager guide; 5 min pass over its start, and over 3 restarts in 10 min"},
    {.name = "host.slurmd",
     .signal = "host.slurmd",
     .value = 0,
     .window = 5s,
     .severity = warn,
     .says = "slurmd does not run any more: nothing starts here, and Slurm sets the host down",
     .source = "SlurmdTimeout is minutes; 5 s pass over a restart of slurmd"},
    {.name = "host.peer_memory",
     .signal = "host.peer_memory",
     .value = 0,
     .window = 10min,
     .severity = info,
     .says = "neither nvidia_peermem nor nv_peer_mem is loaded: without DMA-BUF there is no GPUDirect RDMA",
     .source = "NVIDIA GPUDirect RDMA guide; GCM waits 600 s after a boot"},
    {.name = "host.carrier_changes",
     .signal = "host.carrier_changes",
     .test = Test::delta,
     .value = 2,
     .window = 10min,
     .severity = warn,
     .source = "NVSentinel: more than 2; the management network, on which no job computes"},
    {.name = "host.carrier_changes#day",
     .signal = "host.carrier_changes",
     .test = Test::delta,
     .value = 9,
     .window = 24h,
     .severity = warn,
     .source = "Azure: the carrier was lost 5 times in 24 h, of which each counts twice"},
    {.name = "mount.silent",
     .signal = "mount.silent",
     .test = Test::above,
     .value = 60,
     .severity = warn,
     .says = "it has not answered for {value} s",
     .source = "gpud: 5 timeouts of stat in a row; NHC gives up after 30 s"},
    {.name = "mount.failed",
     .signal = "mount.failed",
     .test = Test::above,
     .value = 0,
     .window = 60s,
     .severity = warn,
     .says = "it cannot be looked at: {text}",
     .source = "NVRx: a storage path that cannot be read; 60 s pass over a remount"},
    {.name = "mount.read_only",
     .signal = "mount.read_only",
     .value = 1,
     .window = 60s,
     .severity = warn,
     .says = "it is mounted read-only",
     .source = "a kernel mounts so what it found damaged; 60 s pass over a remount"},
    {.name = "mount.full",
     .signal = "mount.free",
     .test = Test::below,
     .value = 10,
     .until = 12,
     .window = 5min,
     .severity = info,
     .says = "{value} percent are free (allowed: {limit})",
     .source = "gpud: below 10 percent degraded; GCM: above 85 percent used critical"},
});

} // namespace

std::span<const Rule> host_rules() {
    return host_rows;
}

} // namespace restart::table
