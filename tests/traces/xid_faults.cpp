// XIDs of faults: what the driver writes, and the rule that is to find it. The words are those of the
// driver's messages as NVIDIA's XID catalogue and operators' reports show them.
#include "traces/host_kinds.hpp"

#include <chrono>
#include <vector>

namespace trace {
namespace {

using namespace std::chrono_literals;
using enum restart::Severity;

struct Xid {
    std::uint32_t code;
    std::string_view finding, row;
    restart::Severity severity;
    std::string_view says{};
    std::uint32_t times = 1; // 20 minutes apart
};

constexpr Xid xids[] = {
    {8, "gpu.xid.8", "gpu.xid.8", warn},
    {11, "gpu.xid.11", "gpu.xid.11", info},
    {13, "gpu.xid.13", "gpu.xid.13", info, "pid=7"},
    {13, "gpu.xid.13", "gpu.xid.13", warn, "Graphics Exception: GPC 3 TPC 12 SM 1: Out Of Range Address", 2},
    {25, "gpu.xid.25", "gpu.xid.25", info},
    {31, "gpu.xid.31", "gpu.xid.31", info},
    {31, "gpu.xid.31", "gpu.xid.31", warn, "MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_4 faulted", 2},
    {32, "gpu.xid.32", "gpu.xid.32", info},
    {37, "gpu.xid.37", "gpu.xid.37-38", info},
    {39, "gpu.xid.39", "gpu.xid.39-41", info},
    {43, "gpu.xid.43", "gpu.xid.43-44", info},
    {45, "gpu.xid.45", "gpu.xid.45", info},
    {46, "gpu.xid.46", "gpu.xid.46", evict},
    {48, "gpu.xid.48", "gpu.xid.48", evict, "double bit error"},
    {54, "gpu.xid.54", "gpu.xid.54", evict},
    {60, "gpu.xid.60", "gpu.xid.60", info},
    {62, "gpu.xid.62", "gpu.xid.62", evict},
    {63, "gpu.xid.63", "gpu.xid.63", info},
    {63, "gpu.xid.63", "gpu.xid.63", warn, "", 5},
    {64, "gpu.xid.64", "gpu.xid.64", evict},
    {66, "gpu.xid.66", "gpu.xid.66-67", info},
    {68, "gpu.xid.68", "gpu.xid.68", info},
    {69, "gpu.xid.69", "gpu.xid.69", info},
    {70, "gpu.xid.70", "gpu.xid.70-72", info},
    {74, "gpu.xid.74", "gpu.xid.74#hardware", evict,
     "NVLink: fatal error detected on link 6(0x100, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
    {74, "gpu.xid.74", "gpu.xid.74#fabric", evict,
     "NVLink: fatal error detected on link 6(0x0, 0x0, 0x0, 0x40000, 0x0, 0x0, 0x0)"},
    {74, "gpu.xid.74", "gpu.xid.74#marginal", warn,
     "NVLink: fatal error detected on link 6(0x200000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
    {74, "gpu.xid.74", "gpu.xid.74#report", warn,
     "NVLink: fatal error detected on link 6(0x2, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
    {74, "gpu.xid.74", "gpu.xid.74#ecc", info,
     "NVLink: fatal error detected on link 6(0x10, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
    {74, "gpu.xid.74", "gpu.xid.74#ecc", evict,
     "NVLink: fatal error detected on link 6(0x0, 0x0, 0x0, 0x0, 0x40000, 0x0, 0x0)", 3},
    {74, "gpu.xid.74", "gpu.xid.74#repeated", info,
     "NVLink: fatal error detected on link 6(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"},
    {74, "gpu.xid.74", "gpu.xid.74#repeated", evict,
     "NVLink: fatal error detected on link 6(0x8000000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)", 2},
    {74, "gpu.xid.74", "gpu.xid.74#notice", info,
     "NVLink: fatal error detected on link 6(0x800000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
    {74, "gpu.xid.74", "gpu.xid.74#unclear", evict, "NVLink: error"},
    {75, "gpu.xid.75", "gpu.xid.75-77", info},
    {78, "gpu.xid.78", "gpu.xid.78", info},
    {79, "gpu.xid.79", "gpu.xid.79", evict, "GPU has fallen off the bus."},
    {80, "gpu.xid.80", "gpu.xid.80", info},
    {82, "gpu.xid.82", "gpu.xid.82-84", info},
    {85, "gpu.xid.85", "gpu.xid.85", info},
    {86, "gpu.xid.86", "gpu.xid.86", info},
    {88, "gpu.xid.88", "gpu.xid.88-89", info},
    {92, "gpu.xid.92", "gpu.xid.92", warn},
    {93, "gpu.xid.93", "gpu.xid.93", info},
    {94, "gpu.xid.94", "gpu.xid.94", info},
    {94, "gpu.xid.94", "gpu.xid.94", warn, "Contained: HBM (0x3,0x0)", 2},
    {95, "gpu.xid.95", "gpu.xid.95", evict},
    {96, "gpu.xid.96", "gpu.xid.96-105", info},
    {109, "gpu.xid.109", "gpu.xid.109-110", evict},
    {119, "gpu.xid.119", "gpu.xid.119-120", evict},
    {121, "gpu.xid.121", "gpu.xid.121", info},
    {121, "gpu.xid.121", "gpu.xid.121", warn, "", 5},
    {126, "gpu.xid.126", "gpu.xid.126-135", info},
    {136, "gpu.xid.136", "gpu.xid.136", evict},
    {137, "gpu.xid.137", "gpu.xid.137", info},
    {139, "gpu.xid.139", "gpu.xid.139", info},
    {140, "gpu.xid.140", "gpu.xid.140", evict},
    {141, "gpu.xid.141", "gpu.xid.141", info},
    {142, "gpu.xid.142", "gpu.xid.142", warn},
    {143, "gpu.xid.143", "gpu.xid.143", evict},
    {148, "gpu.xid.148", "gpu.xid.144-150#ber", info,
     "NETIR_BER_EVENT  Fatal   XC0 i0 Link 08 (0x00000000 0x00000000)"},
    {149, "gpu.xid.149", "gpu.xid.144-150#taken_down", info,
     "NETIR_LINK_EVT  Fatal    XC0 i0 Link 08 (0x026005c6 0x00000000)"},
    {149, "gpu.xid.149", "gpu.xid.144-150#host", warn,
     "NETIR_LINK_EVT  Fatal    XC0 i0 Link 08 (0x028005c6 0x00000000)"},
    {149, "gpu.xid.149", "gpu.xid.144-150#software", warn,
     "NETIR_LINK_EVT  Fatal    XC0 i0 Link 08 (0x00f005c6 0x00000000)"},
    {149, "gpu.xid.149", "gpu.xid.144-150#peer", warn,
     "NETIR_LINK_EVT  Fatal    XC0 i0 Link 08 (0x020005c6 0x00000000)"},
    {149, "gpu.xid.149", "gpu.xid.144-150#signal", warn,
     "NETIR_LINK_EVT  Fatal    XC0 i0 Link 08 (0x004005c6 0x00000000)"},
    {144, "gpu.xid.144", "gpu.xid.144-150#dropped", warn,
     "RLW_RXPIPE Nonfatal XC0 i0 Link 03 (0x00000082 0x00000001)"},
    {145, "gpu.xid.145", "gpu.xid.144-150#by_154", info,
     "RLW_REMAP Nonfatal XC0 i0 Link 03 (0x00000082 0x00000001)"},
    {150, "gpu.xid.150", "gpu.xid.144-150#fatal", warn,
     "MSE_BUSY Fatal   XC0 i0 Link 03 (0x00000000 0x00000000)"},
    {146, "gpu.xid.146", "gpu.xid.144-150#nonfatal", info,
     "TLW_RX Nonfatal XC0 i0 Link 03 (0x00000000 0x00000000)"},
    {146, "gpu.xid.146", "gpu.xid.144-150#nonfatal", warn,
     "TLW_TX Nonfatal XC0 i0 Link 04 (0x00000000 0x00000000)", 5},
    {147, "gpu.xid.147", "gpu.xid.144-150#unclear", warn, "TREX"},
    {151, "gpu.xid.151", "gpu.xid.151", warn},
    {152, "gpu.xid.152", "gpu.xid.152-153", info},
    {154, "gpu.xid.154", "gpu.xid.154#none", info,
     "GPU recovery action changed from 0x0 (None) to 0x0 (None)"},
    {154, "gpu.xid.154", "gpu.xid.154#reboot", evict,
     "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"},
    {154, "gpu.xid.154", "gpu.xid.154#drain", evict,
     "GPU recovery action changed from 0x0 (None) to 0x3 (Drain P2P)"},
    {154, "gpu.xid.154", "gpu.xid.154#reset", evict,
     "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"},
    {154, "gpu.xid.154", "gpu.xid.154#unclear", warn, "GPU recovery action changed"},
    {155, "gpu.xid.155", "gpu.xid.155", warn},
    {156, "gpu.xid.156", "gpu.xid.156", evict},
    {157, "gpu.xid.157", "gpu.xid.157", info},
    {158, "gpu.xid.158", "gpu.xid.158", evict},
    {159, "gpu.xid.159", "gpu.xid.159", warn},
    {160, "gpu.xid.160", "gpu.xid.160-161", info},
    {162, "gpu.xid.162", "gpu.xid.162-165", info},
    {167, "gpu.xid.167", "gpu.xid.167", evict},
    {168, "gpu.xid.168", "gpu.xid.168", warn},
    {169, "gpu.xid.169", "gpu.xid.169", evict},
    {171, "gpu.xid.171", "gpu.xid.171-172", info},
    {173, "gpu.xid.173", "gpu.xid.173", evict},
    {999, "gpu.xid.999", "gpu.xid.other", warn},
};

} // namespace

std::span<const HostTrace::Kind> HostTrace::xid_faults() {
    static const auto kinds = [] {
        std::vector<Kind> made;
        for (const auto& one : xids)
            made.push_back({.name = one.finding,
                            .row = one.row,
                            .shortest = one.times * 20min,
                            .longest = one.times * 20min + 30min,
                            .severity = one.severity,
                            .of = Part::gpu,
                            .xid = one.code,
                            .says = one.says,
                            .times = one.times});
        return made;
    }();
    return kinds;
}

} // namespace trace
