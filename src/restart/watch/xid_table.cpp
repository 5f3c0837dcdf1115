#include "restart/watch/xid_table.hpp"

#include <array>

namespace restart {
namespace {

using enum Severity;

constexpr std::string_view catalogue = "NVIDIA XID catalogue";

// Severity says what the job on the GPU needs. info: the application itself failed, or nothing did; the host
// is sound. warn: sound for now, avoid where there is a choice. evict: the GPU still computes but must be
// taken out. fatal: the GPU does not compute any more, saving would wait for it in vain.
constexpr auto table = std::to_array<XidRow>({
    {8, 8, "GPU stopped processing", "restart the application", warn, 0, info,
     "catalogue: application; GCM: critical"},
    {11, 11, "invalid push buffer", "restart the application", info, 0, info, catalogue},
    {13, 13, "SM exception", "restart the application; repeated: run field diagnostics", info, 2, warn,
     "catalogue; repeats: NVSentinel, 2 in 24 h"},
    {25, 25, "invalid push buffer", "restart the application", info, 0, info, catalogue},
    {31, 31, "MMU fault", "restart the application; repeated: run field diagnostics", info, 2, warn,
     "catalogue; repeats: NVSentinel, 2 in 24 h"},
    {32, 32, "corrupted push buffer", "restart the application", info, 0, info, catalogue},
    {37, 38, "driver firmware error", "none", info, 0, info, catalogue},
    {39, 41, "copy engine error", "restart the application", info, 0, info, catalogue},
    {43, 44, "channel stopped", "none", info, 0, info, catalogue},
    {45, 45, "preemptive cleanup after another error", "look for the first error", info, 0, info, catalogue},
    {46, 46, "GPU stopped processing", "reset the GPU", fatal, 0, info, catalogue},
    {48, 48, "double-bit ECC error", "drain, then reset the GPU", fatal, 0, info, "catalogue; DCGM: fail"},
    {54, 54, "auxiliary power missing", "check seating and power cables", evict, 0, info,
     "catalogue; AWS: isolate"},
    {60, 60, "video processor exception", "restart the application", info, 0, info, catalogue},
    {62, 62, "micro-controller halt", "reset the GPU", fatal, 0, info, catalogue},
    {63, 63, "row remapping recorded", "reset the GPU when the job is over", info, 0, info,
     "catalogue: ignore; gpud: reboot"},
    {64, 64, "row remapping failed", "reset the GPU; replace it if it comes back", evict, 0, info, catalogue},
    {66, 67, "illegal access by the driver", "none", info, 0, info, catalogue},
    {68, 68, "video processor exception", "restart the application", info, 0, info, catalogue},
    {69, 69, "graphics engine class error", "restart the application", info, 0, info, catalogue},
    {70, 72, "copy engine error", "restart the application", info, 0, info, catalogue},
    {74, 74, "NVLink error", "check the link's peer; reset the GPU", evict, 0, info,
     "catalogue: decode the registers; DCGM: fail; AWS: reset"},
    {75, 77, "copy engine error", "restart the application", info, 0, info, catalogue},
    {78, 78, "vGPU start error", "update driver and firmware", info, 0, info, catalogue},
    {79, 79, "GPU has fallen off the bus", "power-cycle the host; replace the GPU if it comes back", fatal, 0,
     info, "catalogue; every monitor drains"},
    {80, 80, "corrupted data sent to the GPU", "restart the application", info, 0, info, catalogue},
    {82, 84, "video engine error", "restart the application", info, 0, info, catalogue},
    {85, 85, "copy engine error", "restart the application", info, 0, info, catalogue},
    {86, 86, "optical flow engine error", "restart the application", info, 0, info, catalogue},
    {88, 89, "video engine error", "restart the application", info, 0, info, catalogue},
    {92, 92, "high rate of single-bit ECC errors", "run field diagnostics at the next chance", warn, 0, info,
     "catalogue: ignore; Azure: fail"},
    {93, 93, "InfoROM wear", "none", info, 0, info, catalogue},
    {94, 94, "contained ECC error", "restart the application; reset the GPU when it is idle", warn, 0, info,
     "catalogue: application; DCGM: warn"},
    {95, 95, "uncontained ECC error", "reset the GPU", fatal, 0, info, "catalogue; DCGM: fail"},
    {96, 105, "video, JPEG or optical flow engine error", "restart the application", info, 0, info,
     catalogue},
    {109, 110, "context switch timeout or security fault", "reset the GPU", fatal, 0, info, catalogue},
    {119, 120, "GPU System Processor does not answer", "reset the GPU", fatal, 0, info,
     "catalogue; DCGM: fail"},
    {121, 121, "C2C link corrected error", "none", info, 0, info, "catalogue: ignore; gpud: fatal"},
    {126, 135, "copy engine error", "restart the application", info, 0, info, catalogue},
    {136, 136, "NVLink training failed", "reset the GPU", evict, 0, info, catalogue},
    {137, 137, "remote NVLink access fault", "debug the application", info, 0, info, catalogue},
    {139, 139, "optical flow engine error", "restart the application", info, 0, info, catalogue},
    {140, 140, "unrecovered ECC error", "reset the GPU", fatal, 0, info, "catalogue; DCGM: fail"},
    {141, 141, "fast path error", "none", info, 0, info, catalogue},
    {142, 142, "video encoder error", "contact support", warn, 0, info, catalogue},
    {143, 143, "GPU initialisation failed", "reset the GPU", fatal, 0, info, catalogue},
    {144, 150, "NVLink 5 error", "decode intrinfo and status; check peer and cable", warn, 0, info,
     "catalogue: by sub-code; AWS: monitor"},
    {151, 151, "key rotation error", "restart the virtual machine", warn, 0, info, catalogue},
    {152, 153, "DLA error", "none", info, 0, info, catalogue},
    {154, 154, "GPU recovery action changed", "do what the text says", warn, 0, info,
     "catalogue: obey the text"},
    {155, 155, "NVLink disabled by software", "reset the GPU", warn, 0, info, catalogue},
    {156, 156, "resource retirement", "reset the GPU", evict, 0, info, catalogue},
    {157, 157, "resource retirement failed", "none", info, 0, info, catalogue},
    {158, 158, "fatal timeout", "reset the GPU", fatal, 0, info, catalogue},
    {159, 159, "CHI non-data error", "report if alone", warn, 0, info, catalogue},
    {160, 161, "channel retirement", "none", info, 0, info, catalogue},
    {162, 165, "power smoothing event", "none stated", info, 0, info, "catalogue; AWS: monitor"},
    {167, 167, "PCIe fatal timeout", "reboot the host", fatal, 0, info,
     "gpud: reboot; the catalogue states none"},
    {168, 168, "write-protected region error", "reboot the host", warn, 0, info,
     "AWS: reboot; the catalogue states none"},
    {169, 169, "micro-controller halt", "reboot the host", fatal, 0, info,
     "gpud: reboot; the catalogue states none"},
    {171, 172, "detail of a double-bit ECC error", "see XID 48", info, 0, info, catalogue},
    {173, 173, "C2C link fatal error", "reboot the host", fatal, 0, info,
     "gpud: reboot; the catalogue states none"},
});

constexpr XidRow unknown{
    0, 0, "not in this catalogue", "look it up in NVIDIA's XID catalogue", warn, 0, info, "none"};

constexpr bool ascending() {
    std::uint32_t last = 0;
    for (const auto& row : table) {
        if (row.first <= last || row.last < row.first) return false;
        last = row.last;
    }
    return true;
}
static_assert(ascending());

} // namespace

std::span<const XidRow> xid_table() {
    return table;
}

const XidRow& find_xid(std::uint32_t code) {
    for (const auto& row : table)
        if (code >= row.first && code <= row.last) return row;
    return unknown;
}

Severity recovery_action_severity(std::string_view text) {
    const auto to = text.rfind(" to ");
    if (to == std::string_view::npos) return warn;
    const auto action = text.substr(to);
    const auto says = [&](std::string_view word) { return action.find(word) != std::string_view::npos; };
    if (says("(None)")) return info;
    if (says("Reboot")) return fatal;
    if (says("Drain")) return evict; // "Drain P2P", "Drain and Reset": what runs may end
    if (says("Reset")) return fatal;
    return warn;
}

} // namespace restart
