// What an XID means for the job and the host.
//
// Meanings and actions are from NVIDIA's XID catalogue ("XID Errors", r565 and later); where monitors
// disagree the row names its source. For XID 154 the driver's text decides, which names the recovery action.
#include "restart/watch/rules/table.hpp"

#include <array>

namespace restart::table {
namespace {

using enum Severity;
using enum FaultClass;
using namespace std::chrono_literals;

// An XID counts for a day; one that requires a reset or a reboot until the host restarts, or nodewatchd after
// the repair.
constexpr Rule xid(std::string_view name, std::uint32_t first, std::uint32_t last, Severity severity,
                   std::string_view says, std::string_view source, FaultClass fault = other,
                   std::uint64_t repeats = 0, Severity repeated = warn) {
    return {.name = name,
            .signal = "gpu.xid",
            .value = static_cast<double>(first),
            .to = first == last ? std::nullopt : std::optional(static_cast<double>(last)),
            .window = 24h,
            .latch = severity == evict || severity == fatal,
            .severity = severity,
            .repeats = repeats,
            .repeated = repeated,
            .fault = fault,
            .says = says,
            .source = source};
}

constexpr Rule xid_text(std::string_view name, std::string_view text, Severity severity, FaultClass fault) {
    auto rule =
        xid(name, 154, 154, severity, "XID {value}: GPU recovery action changed; do what the text says",
            "NVIDIA XID catalogue: obey the text", fault);
    rule.text = text;
    rule.latest = true;
    return rule;
}

// A row for some bits of XID 74's registers; the most serious come first, as an event often has several.
constexpr Rule nvlink74(std::string_view name, std::string_view bits, Severity severity,
                        std::string_view says, std::uint64_t repeats = 0, Severity repeated = evict) {
    auto rule =
        xid(name, 74, 74, severity, says, "NVIDIA XID catalogue, by NVSentinel's decoding of the registers",
            gpu_error, repeats, repeated);
    rule.text = bits;
    rule.same_part = repeats > 0;
    return rule;
}

// The driver's own classification of NVLink 5 events.
constexpr Rule nvlink5(std::string_view name, std::string_view text, Severity severity, std::string_view says,
                       std::uint64_t repeats = 0) {
    auto rule = xid(name, 144, 150, severity, says, "NVIDIA XID catalogue: by sub-code; AWS: monitor",
                    gpu_error, repeats, warn);
    rule.text = text;
    rule.same_part = repeats > 0;
    return rule;
}

// The limit at which NVSentinel's analyzer calls for support: five bursts in a day.
constexpr Rule in_bursts(Rule rule) {
    rule.repeats = 5;
    rule.burst = 3min;
    return rule;
}

constexpr Rule same_part(Rule rule) {
    rule.same_part = true;
    return rule;
}

// An event that a program alone can cause says nothing about the GPU unless it occurs under programs of
// several users.
constexpr Rule by_user(Rule rule) {
    rule.by_user = true;
    return rule;
}

// The driver names the XID that caused this one; the advice of that one applies.
constexpr Rule consequence() {
    auto rule = xid("gpu.xid.consequence", 0, 4294967295, info,
                    "XID {value}: a consequence of the one that the text names", "NVIDIA's driver says so");
    rule.text = "*caused by previous Xid*";
    return rule;
}

constexpr auto xid_rows = std::to_array<Rule>({
    consequence(),
    xid("gpu.xid.8", 8, 8, warn, "XID {value}: GPU stopped processing; restart the application",
        "NVIDIA XID catalogue: application; GCM: critical"),
    xid("gpu.xid.11", 11, 11, info, "XID {value}: invalid push buffer; restart the application",
        "NVIDIA XID catalogue"),
    by_user(same_part(
        xid("gpu.xid.13", 13, 13, info,
            "XID {value}: SM exception; debug the application; under several users in one TPC: run field "
            "diagnostics",
            "NVIDIA XID catalogue; repeats: NVSentinel, 2 in 24 h in the same GPC and TPC; by user, as any "
            "faulty program of one block meets the same TPC (H100, r580)",
            other, 2, warn))),
    xid("gpu.xid.25", 25, 25, info, "XID {value}: invalid push buffer; restart the application",
        "NVIDIA XID catalogue"),
    by_user(same_part(
        xid("gpu.xid.31", 31, 31, info,
            "XID {value}: MMU fault; debug the application; under several users in one part: run field "
            "diagnostics",
            "NVIDIA XID catalogue; repeats: NVSentinel, 2 in 24 h; by user, as for XID 13", other, 2, warn))),
    xid("gpu.xid.32", 32, 32, info, "XID {value}: corrupted push buffer; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.37-38", 37, 38, info, "XID {value}: driver firmware error; none", "NVIDIA XID catalogue"),
    xid("gpu.xid.39-41", 39, 41, info, "XID {value}: copy engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.43-44", 43, 44, info, "XID {value}: channel stopped; none", "NVIDIA XID catalogue"),
    secondary(
        xid("gpu.xid.45", 45, 45, info,
            "XID {value}: preemptive cleanup without another error beside it; restart the fabric manager",
            "NVIDIA XID catalogue: ignore beside others; alone restart the fabric manager")),
    xid("gpu.xid.46", 46, 46, fatal, "XID {value}: GPU stopped processing; reset the GPU",
        "NVIDIA XID catalogue", gpu_error),
    xid("gpu.xid.48", 48, 48, fatal, "XID {value}: double-bit ECC error; drain, then reset the GPU",
        "NVIDIA XID catalogue; DCGM: fail", gpu_error),
    xid("gpu.xid.54", 54, 54, evict, "XID {value}: auxiliary power missing; check seating and power cables",
        "NVIDIA XID catalogue; AWS: isolate", gpu_broken),
    xid("gpu.xid.60", 60, 60, info, "XID {value}: video processor exception; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.62", 62, 62, fatal, "XID {value}: micro-controller halt; reset the GPU",
        "NVIDIA XID catalogue", gpu_error),
    in_bursts(xid(
        "gpu.xid.63", 63, 63, info, "XID {value}: row remapping recorded; reset the GPU when the job is over",
        "NVIDIA XID catalogue: ignore; gpud: reboot; repeats: NVSentinel, 5 bursts of one XID in 24 h",
        gpu_error)),
    xid("gpu.xid.64", 64, 64, evict,
        "XID {value}: row remapping failed; reset the GPU; replace it if it comes back",
        "NVIDIA XID catalogue", gpu_error),
    xid("gpu.xid.66-67", 66, 67, info, "XID {value}: illegal access by the driver; none",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.68", 68, 68, info, "XID {value}: video processor exception; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.69", 69, 69, info, "XID {value}: graphics engine class error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.70-72", 70, 72, info, "XID {value}: copy engine error; restart the application",
        "NVIDIA XID catalogue"),
    nvlink74("gpu.xid.74#hardware", "*<r0.8>*|*<r0.9>*|*<r0.12>*|*<r0.16>*|*<r0.17>*|*<r0.24>*|*<r0.28>*",
             evict, "XID {value}: NVLink hardware error; check seating and the link's peer; reset the GPU"),
    nvlink74("gpu.xid.74#fabric", "*<r3.18>*", evict,
             "XID {value}: NVLink error that needs all GPUs and NVSwitches reset"),
    nvlink74("gpu.xid.74#marginal", "*<r0.21>*|*<r0.22>*", warn,
             "XID {value}: NVLink signal is marginal; check seating and the link's peer"),
    nvlink74("gpu.xid.74#report", "*<r2.13>*|*<r0.1>*|*<r0.20>*|*<r3.16>*|*<r3.17>*", warn,
             "XID {value}: NVLink error that follows another; report it when it is alone"),
    nvlink74("gpu.xid.74#ecc",
             "*<r0.4>*|*<r0.5>*|*<r2.0>*|*<r2.1>*|*<r2.2>*|*<r2.6>*|*<r4.18>*|*<r4.19>*|*<r4.21>*|*<r4.22>*|"
             "*<r4.24>*|*<r4.25>*|*<r4.27>*|*<r4.28>*",
             info, "XID {value}: NVLink ECC error; more than two on one link: reset the GPU", 3),
    nvlink74("gpu.xid.74#repeated", "*<r0.27>*|*<r0.29>*|*<r2.16>*|*<r2.17>*|*<r2.18>*|*<r2.19>*", info,
             "XID {value}: NVLink error; repeated on one link: reset the GPU", 2),
    nvlink74("gpu.xid.74#notice", "*<r0.0>*|*<r0.23>*|*<r0.30>*|*<r4.20>*|*<r4.23>*|*<r4.26>*|*<r4.29>*",
             info, "XID {value}: NVLink notice; none"),
    xid("gpu.xid.74#unclear", 74, 74, evict,
        "XID {value}: NVLink error; check the link's peer; reset the GPU",
        "NVIDIA XID catalogue: decode the registers; DCGM: fail; AWS: reset", gpu_error),
    xid("gpu.xid.75-77", 75, 77, info, "XID {value}: copy engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.78", 78, 78, info, "XID {value}: vGPU start error; update driver and firmware",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.79", 79, 79, fatal,
        "XID {value}: GPU has fallen off the bus; power-cycle the host; replace the GPU if it comes back",
        "NVIDIA XID catalogue; every monitor drains", gpu_gone),
    xid("gpu.xid.80", 80, 80, info, "XID {value}: corrupted data sent to the GPU; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.82-84", 82, 84, info, "XID {value}: video engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.85", 85, 85, info, "XID {value}: copy engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.86", 86, 86, info, "XID {value}: optical flow engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.88-89", 88, 89, info, "XID {value}: video engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.92", 92, 92, warn,
        "XID {value}: high rate of single-bit ECC errors; run field diagnostics at the next chance",
        "NVIDIA XID catalogue: ignore; Azure: fail"),
    xid("gpu.xid.93", 93, 93, info, "XID {value}: InfoROM wear; none", "NVIDIA XID catalogue"),
    by_user(xid("gpu.xid.94", 94, 94, info,
                "XID {value}: contained ECC error; restart the application; reset the GPU when it is idle",
                "NVIDIA XID catalogue: application; DCGM: warn; that memory is bad gpu.ecc and "
                "gpu.remap_pending say",
                gpu_error, 2, warn)),
    xid("gpu.xid.95", 95, 95, fatal, "XID {value}: uncontained ECC error; reset the GPU",
        "NVIDIA XID catalogue; DCGM: fail", gpu_error),
    xid("gpu.xid.96-105", 96, 105, info,
        "XID {value}: video, JPEG or optical flow engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.109-110", 109, 110, fatal,
        "XID {value}: context switch timeout or security fault; reset the GPU", "NVIDIA XID catalogue",
        gpu_error),
    xid("gpu.xid.119-120", 119, 120, fatal,
        "XID {value}: GPU System Processor does not answer; reset the GPU",
        "NVIDIA XID catalogue; DCGM: fail", gpu_error),
    in_bursts(
        xid("gpu.xid.121", 121, 121, info, "XID {value}: C2C link corrected error; none",
            "NVIDIA XID catalogue: ignore; gpud: fatal; repeats: NVSentinel, 5 bursts of one XID in 24 h")),
    xid("gpu.xid.126-135", 126, 135, info, "XID {value}: copy engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.136", 136, 136, evict, "XID {value}: NVLink training failed; reset the GPU",
        "NVIDIA XID catalogue", gpu_error),
    xid("gpu.xid.137", 137, 137, info, "XID {value}: remote NVLink access fault; debug the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.139", 139, 139, info, "XID {value}: optical flow engine error; restart the application",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.140", 140, 140, fatal, "XID {value}: unrecovered ECC error; reset the GPU",
        "NVIDIA XID catalogue; DCGM: fail", gpu_error),
    xid("gpu.xid.141", 141, 141, info, "XID {value}: fast path error; none", "NVIDIA XID catalogue"),
    xid("gpu.xid.142", 142, 142, warn, "XID {value}: video encoder error; contact support",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.143", 143, 143, fatal, "XID {value}: GPU initialisation failed; reset the GPU",
        "NVIDIA XID catalogue", gpu_error),
    nvlink5("gpu.xid.144-150#ber", "*BER*", info,
            "XID {value}: NVLink 5 bit error rate; check the signal of the link"),
    nvlink5("gpu.xid.144-150#taken_down", "*NETIR_LINK_* Fatal *<sub.38>*", info,
            "XID {value}: NVLink 5 link was taken down by software; none"),
    nvlink5("gpu.xid.144-150#host", "*NETIR_LINK_* Fatal *<sub.40>*", warn,
            "XID {value}: NVLink 5 link is lost because of its host; look there, no reset"),
    nvlink5("gpu.xid.144-150#software",
            "*NETIR_LINK_* Fatal *<sub.15>*|*NETIR_LINK_* Fatal *<sub.16>*|*NETIR_LINK_* Fatal "
            "*<sub.17>*|*NETIR_LINK_* Fatal *<sub.18>*|"
            "*NETIR_LINK_* Fatal *<sub.22>*",
            warn, "XID {value}: NVLink 5 link is lost, as software asked for or misled it; reset the GPU"),
    nvlink5("gpu.xid.144-150#peer",
            "*NETIR_LINK_* Fatal *<sub.21>*|*NETIR_LINK_* Fatal *<sub.32>*|*NETIR_LINK_* Fatal "
            "*<sub.33>*|*NETIR_LINK_* Fatal *<sub.34>*|"
            "*NETIR_LINK_* Fatal *<sub.35>*|*NETIR_LINK_* Fatal *<sub.36>*|*NETIR_LINK_* Fatal *<sub.37>*",
            warn, "XID {value}: NVLink 5 link is lost because of its other end; look there; reset the GPU"),
    nvlink5("gpu.xid.144-150#signal",
            "*NETIR_LINK_* Fatal *<sub.2>*|*NETIR_LINK_* Fatal *<sub.4>*|*NETIR_LINK_* Fatal "
            "*<sub.10>*|*NETIR_LINK_* Fatal *<sub.42>*|"
            "*NETIR_LINK_* Fatal *<sub.43>*",
            warn, "XID {value}: NVLink 5 link is lost by its signal; check cable and seating; reset the GPU"),
    nvlink5("gpu.xid.144-150#dropped",
            "*RLW_RXPIPE*<status.0>*|*RLW_RXPIPE*<status.1>*|*RLW_RXPIPE*<status.2>*", warn,
            "XID {value}: NVLink 5 lost packets; reset the GPU when the job is over"),
    nvlink5("gpu.xid.144-150#by_154",
            "*RLW_REMAP*<status.0>*|*RLW_REMAP*<status.1>*|*RLW_REMAP*<status.2>*|*RLW_REMAP*<status.3>*|"
            "*RLW_REMAP*<status.4>*|*RLW_REMAP*<status.5>*|*RLW_SRC_TRACK*<status.2>*|"
            "*RLW_SRC_TRACK*<status.3>*",
            info, "XID {value}: NVLink 5 refused an access; the application ends; obey XID 154 if one comes"),
    nvlink5("gpu.xid.144-150#fatal", "* Fatal *", warn,
            "XID {value}: NVLink 5 error that the driver calls fatal; reset the GPU; check peer and cable"),
    nvlink5(
        "gpu.xid.144-150#nonfatal", "* Nonfatal *", info,
        "XID {value}: NVLink 5 error that the driver corrected; repeated on one link: check peer and cable",
        5),
    xid("gpu.xid.144-150#unclear", 144, 150, warn,
        "XID {value}: NVLink 5 error; decode intrinfo and status; check peer and cable",
        "NVIDIA XID catalogue: by sub-code; AWS: monitor", gpu_error),
    xid("gpu.xid.151", 151, 151, warn, "XID {value}: key rotation error; restart the virtual machine",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.152-153", 152, 153, info, "XID {value}: DLA error; none", "NVIDIA XID catalogue"),
    xid_text("gpu.xid.154#none", "* to *(None)*", info, gpu_error),
    xid_text("gpu.xid.154#reboot", "* to *Reboot*", fatal, gpu_stuck),
    xid_text("gpu.xid.154#drain", "* to *Drain*", evict, gpu_error),
    xid_text("gpu.xid.154#reset", "* to *Reset*", fatal, gpu_error),
    xid_text("gpu.xid.154#unclear", "", warn, gpu_error),
    xid("gpu.xid.155", 155, 155, warn, "XID {value}: NVLink disabled by software; reset the GPU",
        "NVIDIA XID catalogue", gpu_error),
    xid("gpu.xid.156", 156, 156, evict, "XID {value}: resource retirement; reset the GPU",
        "NVIDIA XID catalogue", gpu_error),
    xid("gpu.xid.157", 157, 157, info, "XID {value}: resource retirement failed; none",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.158", 158, 158, fatal, "XID {value}: fatal timeout; reset the GPU", "NVIDIA XID catalogue",
        gpu_error),
    xid("gpu.xid.159", 159, 159, warn, "XID {value}: CHI non-data error; report if alone",
        "NVIDIA XID catalogue"),
    xid("gpu.xid.160-161", 160, 161, info, "XID {value}: channel retirement; none", "NVIDIA XID catalogue"),
    xid("gpu.xid.162-165", 162, 165, info, "XID {value}: power smoothing event; none stated",
        "NVIDIA XID catalogue; AWS: monitor"),
    xid("gpu.xid.167", 167, 167, fatal, "XID {value}: PCIe fatal timeout; reboot the host",
        "gpud: reboot; NVIDIA's catalogue states none", gpu_stuck),
    xid("gpu.xid.168", 168, 168, warn, "XID {value}: write-protected region error; reboot the host",
        "AWS: reboot; NVIDIA's catalogue states none", gpu_stuck),
    xid("gpu.xid.169", 169, 169, fatal, "XID {value}: micro-controller halt; reboot the host",
        "gpud: reboot; NVIDIA's catalogue states none", gpu_stuck),
    secondary(xid("gpu.xid.171-172", 171, 172, info,
                  "XID {value}: detail of a double-bit ECC error; see XID 48", "NVIDIA XID catalogue")),
    xid("gpu.xid.173", 173, 173, fatal, "XID {value}: C2C link fatal error; reboot the host",
        "gpud: reboot; NVIDIA's catalogue states none", gpu_stuck),
    // Any other XID.
    xid("gpu.xid.other", 0, 4294967295, warn,
        "XID {value}: not in this catalogue; look it up in NVIDIA's XID catalogue", "none"),
});

constexpr bool ascending() {
    double last = 0;
    for (const auto& row : xid_rows) {
        if (row.text.empty() && row.value <= last && row.name != "gpu.xid.other") return false;
        if (row.to.value_or(row.value) < row.value) return false;
        // Rows with a text come before the one without.
        last = row.text.empty() ? row.to.value_or(row.value) : row.value - 1;
    }
    return true;
}
static_assert(ascending());

} // namespace

std::span<const Rule> xid_rules() {
    return xid_rows;
}

} // namespace restart::table
