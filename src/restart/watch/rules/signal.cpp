#include "restart/watch/rules/signal.hpp"

#include <algorithm>
#include <array>

namespace restart {
namespace {

constexpr auto kinds = std::to_array<SignalKind>({
    {"gpu.lost", Shape::gauge, "", "", "1 when NVML says that the GPU is lost"},
    {"gpu.missing", Shape::gauge, "", "",
     "1 for a GPU about which NVML answers nothing, and for one that the fabric file lists, the PCI bus has "
     "or "
     "NVML has shown since the start, and that it does not show; on \"gpu\" for all of them, where NVML "
     "cannot be started"},
    {"gpu.clock_events", Shape::bits, "", "", "NVML's clock event (throttle) reasons"},
    {"gpu.uncounted_events", Shape::bits, "", "",
     "those of a brake or of heat whose time the driver does not count (gpu.power_brake_time and so on)"},
    {"gpu.remap_failed", Shape::gauge, "", "", "1 when a row could not be remapped"},
    {"gpu.remap_pending", Shape::gauge, "", "", "1 when rows wait for a reset to be remapped"},
    {"gpu.ecc_corrected", Shape::gauge, "errors", "", "corrected ECC errors since the driver was loaded"},
    {"gpu.ecc_uncorrected", Shape::gauge, "errors", "", "uncorrected ECC errors since the driver was loaded"},
    {"gpu.pcie_generation", Shape::gauge, "", "the highest that GPU and slot have",
     "generation of the PCIe link of a GPU that is not idle, which lowers it by itself"},
    {"gpu.pcie_width", Shape::gauge, "lanes", "those that GPU and slot have",
     "lanes of the PCIe link; this and what follows is asked with each tenth look"},
    {"gpu.pcie_replays", Shape::counter, "replays",
     "those a minute that a bit error rate of 1e-12 explains, by generation and lanes", "PCIe replays"},
    {"gpu.nvlinks", Shape::gauge, "links", "the most that were up since the start", "NVLinks that are up"},
    {"gpu.nvlink_crc", Shape::counter, "errors", "", "CRC errors of flits and data, of all NVLinks"},
    {"gpu.nvlink_replays", Shape::counter, "replays", "", "replays, of all NVLinks"},
    {"gpu.nvlink_recoveries", Shape::counter, "recoveries", "", "recoveries of links, of all NVLinks"},
    {"gpu.nvlink_rcv_errors", Shape::counter, "errors", "", "receive errors, of all links of NVLink 5"},
    {"gpu.power_violation", Shape::counter, "ms", "",
     "time below the wanted clocks because of power; this and the next are asked with each fortieth look"},
    {"gpu.thermal_violation", Shape::counter, "ms", "", "time below the wanted clocks because of heat"},
    {"gpu.power_brake_time", Shape::counter, "ms", "",
     "time in which the hardware's power brake lowered the clocks, by a driver that counts it (r580); this "
     "and the next two are asked with each fortieth look, and with each while a look sees their reason"},
    {"gpu.hw_thermal_time", Shape::counter, "ms", "", "likewise, the hardware's protection from heat"},
    {"gpu.sw_thermal_time", Shape::counter, "ms", "", "likewise, the driver's, before that"},
    {"gpu.recovery_action", Shape::gauge, "", "",
     "what the driver (r570 and later) wants done: 0 nothing, 1 reset, 2 reboot, 3 drain P2P, 4 drain and "
     "reset, 5 recover the IMEX domain"},
    {"gpu.fabric_state", Shape::gauge, "", "",
     "the GPU's registration with the NVSwitches: 0 not supported, 1 not started, 2 in progress, 3 "
     "completed"},
    {"gpu.fabric_status", Shape::gauge, "", "", "the error of a registration that is completed; 0: sound"},
    {"gpu.unseen", Shape::gauge, "", "",
     "how many questions NVML refuses with an error of its own, though driver and GPU know them"},
    {"gpu.xid", Shape::event, "", "", "an XID, of NVML or the kernel log, with the driver's text"},
    {"gpu.log", Shape::event, "", "",
     "another line of NVIDIA's driver in the kernel log, without a number; on the GPU that it names"},
    {"nvswitch.log", Shape::event, "", "",
     "an SXid, a line of NVIDIA's driver about an NVSwitch, without a number: \"SXid 20034, Fatal, Link 30 "
     "LTSSM Fault Up\""},
    {"pci.log", Shape::event, "", "",
     "a line of Linux about errors of PCI Express (AER, DPC) or a slot (pciehp), without a number; on each "
     "GPU and HCA that it names, or that is below the port that it names"},
    {"ib.active", Shape::gauge, "", "", "whether a port that was ACTIVE since the start still is, 0 or 1"},
    {"ib.present", Shape::gauge, "", "", "whether a port that was ACTIVE since the start is there, 0 or 1"},
    {"ib.rate", Shape::gauge, "Gb/s", "the best that it has had since the start", "rate of an ACTIVE port"},
    {"ib.unlisted", Shape::gauge, "", "",
     "whether a port that was ACTIVE since the start still is, 0 or 1, where the fabric file lists this "
     "host's ports but not this one, or it is of a virtual function; no job needs it, and it has no other "
     "signal"},
    {"ib.came_up", Shape::gauge, "", "",
     "whether a port with a link in the fabric file was ACTIVE since the start, 0 or 1"},
    {"ib.listed", Shape::gauge, "", "",
     "0 for a port of the fabric file that the host does not have, nor had since the start, 1 when another "
     "HCA "
     "works in its place",
     true},
    {"ib.replaced", Shape::gauge, "", "", "1 when another HCA works in the place of such a port, else 0",
     true},
    {"ib.pcie_width", Shape::gauge, "lanes", "those that HCA and slot have",
     "lanes of the PCIe link of an HCA; this and the next are read with each fifth look"},
    {"ib.pcie_speed", Shape::gauge, "GT/s", "the highest that HCA and slot have",
     "speed of each lane of the PCIe link of an HCA"},
    {"ib.asic_temperature", Shape::gauge, "C", "what its firmware says is critical",
     "temperature of an HCA's chip, where mlx5 shows it (hwmon, Linux 6.6 and later); this and the next are "
     "read "
     "with each thirtieth look"},
    {"ib.module_temperature", Shape::gauge, "C", "what the module says is critical",
     "temperature of the module (transceiver) in an HCA's port"},
    {"hca.log", Shape::event, "", "",
     "a line of mlx5's driver in the kernel log, without a number; on the HCA that it names"},
    {"host.clock_source", Shape::gauge, "", "",
     "how the kernel tells the time: 0 the processor's counter (tsc), 1 a guest's or another architecture's, "
     "2 hpet, 3 acpi_pm, 4 jiffies"},
    {"host.clock_step", Shape::gauge, "ms", "",
     "how far the time of day jumped within the last look of 10 seconds, either way; what NTP slews is none"},
    {"host.memory_corrected", Shape::counter, "errors", "",
     "corrected errors of a memory controller (EDAC, ce_count)"},
    {"host.memory_uncorrected", Shape::counter, "errors", "",
     "uncorrected errors of a memory controller (EDAC, ue_count)"},
    {"host.carrier_changes", Shape::counter, "changes", "",
     "how often the network device of the default route lost or found its carrier"},
    {"host.driver_blocked", Shape::gauge, "s", "",
     "how long the process that is longest in uninterruptible sleep and called after NVIDIA's driver, such "
     "as "
     "nvidia-smi, or in it where nodewatchd may read stacks, has been seen so; processes are looked at each "
     "minute, on hosts with GPUs"},
    {"host.fabric_manager", Shape::gauge, "", "",
     "whether nv-fabricmanager runs, 0 or 1; of hosts with NVSwitch devices"},
    {"host.slurmd", Shape::gauge, "", "",
     "whether the slurmd with spank_rail that ran since the boot still does, or another one, 0 or 1"},
    {"host.peer_memory", Shape::gauge, "", "",
     "whether nvidia_peermem or nv_peer_mem is loaded, 0 or 1; of hosts with GPUs and HCAs"},
    {"mount.silent", Shape::gauge, "s", "",
     "how long a file system of [agent] mounts has not answered; looked at each 30 seconds"},
    {"mount.failed", Shape::gauge, "", "", "the error of its last answer, a number of errno(3); 0: none"},
    {"mount.read_only", Shape::gauge, "", "",
     "1 when the file system is read-only, whatever nodewatchd itself may write to"},
    {"mount.free", Shape::gauge, "percent", "", "how much of it users may still fill, as df(1) has it"},
    {"ucx.fallback", Shape::gauge, "endpoints", "its endpoints to other hosts",
     "of a job's processes here with librailucx.so: UCX endpoints over TCP to other hosts, while this host "
     "has an "
     "ACTIVE InfiniBand port from which nothing in their environment keeps UCX; this and what follows is "
     "what the "
     "job says itself"},
    {"ucx.chosen_tcp", Shape::gauge, "endpoints", "its endpoints to other hosts",
     "likewise, where UCX_TLS or UCX_NET_DEVICES keeps UCX from InfiniBand"},
    {"ucx.failures", Shape::counter, "endpoints", "",
     "UCX endpoints of a job that failed, as UCX told the program"},
    {"ucx.timeouts", Shape::counter, "endpoints", "",
     "those of them whose peer did not answer any more, to keepalive or to InfiniBand's retries"},
    {"ucx.refused", Shape::counter, "endpoints", "", "UCX endpoints of a job that could not be made"},
    {"ucx.resent", Shape::counter, "segments", "",
     "segments that the job's processes sent again over TCP, looked at each 10 seconds while an endpoint "
     "uses TCP"},
    {"ucx.tcp_bytes", Shape::counter, "bytes", "",
     "bytes that the job sent over TCP while this host has an ACTIVE InfiniBand port, by the statistics of a "
     "UCX that was "
     "built with them (--rail-ucx=stats of spank_rail(8)); told each 10 seconds, as the next one"},
    {"ucx.dropped", Shape::counter, "packets", "",
     "packets of unreliable datagrams that came out of order on a rail, which UCX sends again, by the same "
     "statistics"},
    {"ucx.unseen", Shape::gauge, "processes", "", "processes of a job in which UCX cannot be looked at"},
    {"link.symbol_errors", Shape::counter, "errors", "the link's rate in Gb/s",
     "symbol errors that a port of the fabric received; what came while its link trained is not counted, "
     "here "
     "and in the next ones"},
    {"link.recoveries", Shape::counter, "", "", "how often a link of the fabric recovered by training"},
    {"link.downs", Shape::counter, "", "",
     "how often a link of the fabric went down by the word of both of its ends, within 5 minutes of each "
     "other"},
    {"link.receive_errors", Shape::counter, "packets", "", "packets with errors that a port received"},
    {"link.remote_errors", Shape::counter, "packets", "",
     "packets that a port received and that were marked as bad before"},
    {"link.discards", Shape::counter, "packets", "", "packets that a port could not send and discarded"},
    {"link.integrity_errors", Shape::counter, "", "", "local link integrity errors of a port"},
    {"link.buffer_overruns", Shape::counter, "", "", "excessive buffer overruns of a port"},
    {"link.vl15_drops", Shape::counter, "packets", "", "management packets that a port dropped"},
    {"link.waiting", Shape::gauge, "", "",
     "the share of the time in which a port had something to send that it could not send, since the last "
     "sweep"},
    {"link.slow_receiver", Shape::gauge, "percent", "",
     "what a port sent to an HCA of what it could, while it waited for half of the time at least and others "
     "waited behind it; 100 otherwise"},
    {"link.credit_loop", Shape::gauge, "", "",
     "millionths of what it could send that a port sent at most, of ports of switches that waited for each "
     "other in a circle; 1000000 otherwise"},
    {"link.rate", Shape::gauge, "Gb/s", "the rate in the fabric file", "rate of an active link"},
    {"link.moved", Shape::gauge, "", "",
     "1 when a port leads to another one than in the fabric file, else 0"},
    {"link.absent", Shape::gauge, "", "",
     "1 when a link between switches of the fabric file is down at both of its ends, else 0"},
    {"link.unlisted", Shape::gauge, "links", "",
     "links that are there between devices of the fabric file, at ports at which the file has none"},
    {"link.silent", Shape::gauge, "", "", "1 when the counters of a port could not be read, else 0"},
    {"link.full", Shape::gauge, "", "",
     "1 when a counter of a port is at its end, where it stays until somebody clears it, else 0"},
    {"rail.traffic", Shape::gauge, "", "",
     "traffic of a rail of a unit over the median of the unit's rails, since the last sweep; 1 while there "
     "is "
     "less than a hundredth of what they could carry"},
    {"ib.counter.*", Shape::counter, "", "",
     "a file of counters/ or hw_counters/ of a port that was ACTIVE since it appeared"},
});

} // namespace

std::span<const SignalKind> signal_kinds() {
    return kinds;
}

const SignalKind* find_signal_kind(std::string_view name) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const SignalKind& kind) {
        if (kind.name == name) return true;
        const auto prefix = kind.name.substr(0, kind.name.size() - 1);
        return kind.name.ends_with('*') && name.starts_with(prefix) && name.size() > prefix.size();
    });
    return known == kinds.end() || name.ends_with('*') ? nullptr : &*known;
}

bool is_of_fabric(std::string_view name) {
    return name.starts_with("link.") || name.starts_with("rail.");
}

} // namespace restart
