#include "restart/watch/rules.hpp"

#include "restart/watch/nvml_abi.h"

#include <algorithm>
#include <array>

namespace restart {
namespace {

using enum Severity;
using namespace std::chrono_literals;

// Rows without a window fire at the first look: what they read does not flicker.
constexpr auto conditions = std::to_array<ConditionRule>({
    {"gpu.lost", fatal, 0s,
     "NVML GPU_IS_LOST is final until a reset (NVML reference; XID 79: every monitor drains)"},
    {"gpu.remap_failed", evict, 0s, "replace the GPU: gpud, Azure health checks"},
    {"gpu.remap_pending", warn, 0s, "rows are remapped at the next reset: DCGM warn, gpud, Azure"},
    {"gpu.ecc", warn, 0s,
     "volatile uncorrected errors above 0: GCM, Azure; whether a job must move the XIDs say"},
    {"gpu.pcie_width", warn, 60s, "fewer lanes than GPU and slot have; 60 s pass over a reset (gpud, Azure)"},
    {"gpu.pcie_replay", warn, 0s,
     "DCGM: 1e-12 bit error rate, per lane and minute 0.48 (Gen3) … 3.84 (Gen6)"},
    {"ib.link_down", evict, 10s,
     "a link down is unhealthy: NVSentinel at once, gpud after 4 min; 10 s pass over a retrain"},
    {"ib.vanished", evict, 3s, "NVSentinel: missing in 3 consecutive polls of 1 s"},
    {"ib.missing", evict, 120s,
     "in the fabric file but not seen since the start: drivers load late (NVSentinel #1701)"},
    {"ib.never_up", evict, 120s, "as ib.missing: a link comes up within seconds of its driver"},
    {"ib.changed", warn, 120s, "another HCA works in its place: the fabric file is to be made anew"},
    {"ib.rate", warn, 10s, "slower than this port has been: gpud expects the rated speed"},
});

// One flap is survived by the transport's retries and is no reason to move a job; three are a bad cable.
constexpr auto counters = std::to_array<CounterRule>({
    {"link_downed", 0, 12h, warn, "delta above 0: NVSentinel, NVRx, UFM"},
    {"link_downed", 2, 12h, evict, "gpud: 3 flaps in 12 h"},
    {"symbol_error", 100, 10s, warn, "NVSentinel: above 10/s"},
    {"symbol_error", 120, 1h, evict,
     "IBTA bit error rate 1e-12: NVSentinel above 120/h fatal; UFM isolates at less"},
    {"link_error_recovery", 5, 1min, warn, "NVSentinel: above 5/min"},
    {"port_rcv_errors", 100, 10s, warn, "NVSentinel: above 10/s"},
    {"port_rcv_remote_physical_errors", 100, 1h, warn, "ibqueryerrors' reference threshold 100"},
    {"port_xmit_discards", 1000, 10s, warn, "NVSentinel: above 100/s"},
    {"local_link_integrity_errors", 0, 1h, warn, "delta above 0: NVSentinel; ibqueryerrors 10"},
    {"excessive_buffer_overrun_errors", 0, 1h, warn, "delta above 0: NVSentinel; UFM alarms at 100"},
    {"local_ack_timeout_err", 10, 10s, warn, "NVSentinel: above 1/s"},
    {"rnr_nak_retry_err", 0, 10min, warn, "delta above 0: NVSentinel; the slow receiver may be the peer"},
});

constexpr auto reasons = std::to_array<ThrottleReason>({
    {"hw_power_brake", NVML_REASON_HW_POWER_BRAKE},
    {"hw_thermal_slowdown", NVML_REASON_HW_THERMAL_SLOWDOWN},
    {"hw_slowdown", NVML_REASON_HW_SLOWDOWN},
    {"sw_thermal_slowdown", NVML_REASON_SW_THERMAL_SLOWDOWN},
});

} // namespace

std::span<const ConditionRule> condition_rules() {
    return conditions;
}

std::span<const CounterRule> counter_rules() {
    return counters;
}

std::span<const ThrottleReason> throttle_reasons() {
    return reasons;
}

std::vector<std::string> judged_counters() {
    std::vector<std::string> names;
    for (const auto& rule : counters)
        if (std::find(names.begin(), names.end(), rule.counter) == names.end())
            names.emplace_back(rule.counter);
    return names;
}

} // namespace restart
