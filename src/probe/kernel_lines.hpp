// Parses kernel log lines about GPUs, NVSwitches, HCAs and the PCIe ports above them, in the formats of
// NVIDIA's driver (open-gpu-kernel-modules: nv-linux.h, nv.c, osapi.c, src/common/nvswitch), of mlx5 and of
// Linux (drivers/pci/pcie/{aer,err,dpc}.c, drivers/pci/hotplug/pciehp_ctrl.c).
//
// Only the beginning of a message is matched: other messages can contain text from users, for example those
// of file systems about unknown mount options.
#pragma once

#include "probe/sample.hpp"

#include <optional>
#include <string_view>

namespace probe {

// The message in a record of /dev/kmsg ("4,1530,76421863,-;TEXT") or a line of a saved log, without the
// prefix of journald, syslog or dmesg: "Jan 5 11:02:33 n001 kernel: ", "<4>", "[ 764.218630] ".
std::string_view message_of(std::string_view line);

// An XID, without its user. Formats, in drivers since 2012: "NVRM: Xid (PCI:0000:14:00): 79, pid=…, GPU has
// fallen off the bus.", for a MIG instance of a GPU "NVRM: Xid (PCI:0000:14:00 GPU-I:05 GPU-CI:02): 94, …"
// and, older, "NVRM: Xid (0000:14:00): 79, …". Absent for all other messages.
std::optional<XidEvent> parse_xid(std::string_view message);

// A driver's message about a device; absent for all other messages.
//     mlx5       "mlx5_core 0000:14:00.0: poll_health:801:(pid 0): device's health compromised - …",
//                "mlx5_core 0000:14:00.0 ib0: TX timeout detected"
//     nvidia     "NVRM: GPU 0000:4c:00.0: RmInitAdapter failed! (0x62:0x40:2477)", "nvidia 0000:68:00.0: …"
//     nvswitch   "nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
//                returned as "SXid 20034, Fatal, …"; not the data lines that follow
//     pcie       "mlx5_core 0000:19:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), …", "pcieport
//                0000:12:00.0: pciehp: Slot(1): Card not present", with the port as the device; "pcieport
//                0000:17:01.0: AER: Uncorrected (Fatal) error received: 0000:19:00.0", with the latter
std::optional<DriverLine> parse_driver_line(std::string_view message);

} // namespace probe
