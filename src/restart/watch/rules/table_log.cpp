// What the kernel log reports about GPUs, NVSwitches and the PCIe links above GPUs and HCAs, except XIDs and
// mlx5's lines: with the severity that the line itself prints.
#include "restart/watch/rules/table.hpp"

#include <array>

namespace restart::table {
namespace {

using enum Severity;
using enum FaultClass;
using namespace std::chrono_literals;

// Like an XID it counts for a day; one that requires a reset or a reboot until the agent or the host
// restarts.
constexpr Rule line(std::string_view name, std::string_view signal, std::string_view text, Severity severity,
                    FaultClass fault, std::string_view says, std::string_view source) {
    return {.name = name,
            .signal = signal,
            .text = text,
            .window = 24h,
            .latch = severity == evict || severity == fatal,
            .severity = severity,
            .fault = fault,
            .says = says,
            .source = source};
}

constexpr auto log_rows = std::to_array<Rule>({
    // The driver reports the same as XID 79 if it still can.
    secondary(line("gpu.log.lost", "gpu.log", "*fallen off the bus*", fatal, gpu_gone,
                   "GPU has fallen off the bus; power-cycle the host; replace the GPU if it comes back",
                   "open-gpu-kernel-modules: nv.c, osapi.c; as XID 79")),
    secondary(line("gpu.log.start", "gpu.log", "*RmInitAdapter failed*|*rm_init_adapter failed*", evict,
                   gpu_stuck, "the driver could not start the GPU; reset the GPU, or reboot the host",
                   "open-gpu-kernel-modules: osinit.c, nv.c; CUDA cannot use it")),
    line("nvswitch.log.fatal", "nvswitch.log", "SXid *, Fatal*", evict, gpu_error,
         "an NVSwitch error that the driver calls fatal; reset the GPUs and NVSwitches together",
         "NVIDIA Fabric Manager guide: fatal SXids end all jobs, then a reset"),
    line("nvswitch.log.nonfatal", "nvswitch.log", "SXid *, Non-fatal*", info, other,
         "an NVSwitch error that the driver corrected", "NVIDIA Fabric Manager guide: none needed"),
    line("pci.log.gone", "pci.log", "pciehp: *Card not present*|pciehp: *Power fault*", evict, pcie,
         "the slot lost its card or its power; power-cycle the host; reseat or replace the card",
         "Linux pciehp_ctrl.c: the driver is taken off the device"),
    line("pci.log.unrecovered", "pci.log", "AER: can't recover*|AER: device recovery failed*", evict, pcie,
         "Linux could not recover it after an error of PCI Express; reboot the host",
         "Linux pcie/err.c: the device is disconnected"),
    line("pci.log.fatal", "pci.log",
         "*PCIe Bus Error: severity=Uncorrected (Fatal)*|*PCIe Bus Error: severity=Uncorrectable (Fatal)*|"
         "AER: *Uncorrected (Fatal) error*|AER: *Uncorrectable (Fatal) error*|DPC: containment event*",
         evict, pcie, "a fatal error of PCI Express: its link is not reliable; reboot the host",
         "Linux PCI/pcieaer-howto: fatal errors make the link unreliable and want a reset of it"),
    line("pci.log.nonfatal", "pci.log",
         "*PCIe Bus Error: severity=Uncorrected (Non-Fatal)*|"
         "*PCIe Bus Error: severity=Uncorrectable (Non-Fatal)*",
         info, pcie, "a transaction of PCI Express was lost, though the link works",
         "Linux PCI/pcieaer-howto: the transaction is unreliable, the link is not"),
});

} // namespace

std::span<const Rule> log_rules() {
    return log_rows;
}

} // namespace restart::table
