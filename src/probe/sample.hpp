// The state that a host reports at one moment, unprocessed: nothing is judged here.
#pragma once

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace probe {

using Guid = std::uint64_t; // 0: unknown

// One InfiniBand port. A device that has vanished is just not listed.
struct PortSample {
    std::string device; // "mlx5_0"
    std::uint32_t port = 1;
    Guid node = 0;          // GUID of the HCA
    Guid guid = 0;          // of the port
    std::string pci;        // of the HCA: "0000:14:00.0"; empty: unknown
    std::string state;      // as the kernel names it: "ACTIVE", "DOWN", "INIT", "ARMED"
    std::string phys_state; // "LinkUp", "Polling", "Disabled", …
    double rate_gbps = 0;
    // counters/ and hw_counters/ by file name, lifetime values. Each sample has its own copy.
    boost::container::flat_map<std::string, std::uint64_t> counters;
    // The HCA's PCIe link, and the most that it and its slot support: lanes, GT/s. Absent: unknown, as for a
    // virtual function.
    std::optional<std::uint32_t> pcie_width{}, pcie_width_max{};
    std::optional<double> pcie_speed{}, pcie_speed_max{};
    // Degrees Celsius of the HCA's chip and of the module (transceiver) in its port, and their own critical
    // limits. Absent: the driver reports none (before Linux 6.6), or none with such a limit.
    std::optional<double> asic_celsius{}, asic_critical{}, module_celsius{}, module_critical{};
    bool virtual_function = false; // of an HCA of this host (SR-IOV), e.g. for a container
};

struct IbSample {
    std::vector<PortSample> ports;     // by device name in natural order, then port
    std::vector<std::string> left_out; // devices and ports that are not monitored, with the reason
    std::vector<Guid> ignored;         // HCAs and ports excluded by the configuration
};

// One GPU. What this GPU or driver does not report is absent.
struct GpuSample {
    std::uint32_t index = 0;                      // NVML's
    std::string pci;                              // "0000:14:00.0"
    bool lost = false;                            // NVML reports GPU_IS_LOST; the rest is then old
    std::string silent;                           // NVML's error if no query about it is answered; else empty
    std::optional<std::uint64_t> reasons;         // clock event reasons, NVML's bits
    std::optional<std::uint64_t> ecc_corrected;   // volatile: since the driver was loaded
    std::optional<std::uint64_t> ecc_uncorrected; // the same
    std::optional<bool> remap_pending;
    std::optional<bool> remap_failed;
    std::optional<std::uint32_t> pcie_generation, pcie_generation_max;
    std::optional<std::uint32_t> sm_mhz, mem_mhz; // clocks of the multiprocessors and the memory
    std::optional<std::uint32_t> power_mw;        // drawn, as the driver averages it
    std::optional<std::uint32_t> busy_percent;    // of the last second or less, during which a kernel ran
    // At most some seconds old. GPM's values are means since the previous reading, as shares of 1: active
    // multiprocessors, and time with active tensor cores.
    std::optional<std::uint32_t> power_limit_mw;
    std::optional<double> sm_active, tensor_active;
    // Each at most some seconds old, summed over all NVLinks; counters are since the driver was loaded.
    std::optional<std::uint32_t> pcie_width, pcie_width_max; // lanes
    std::optional<std::uint64_t> pcie_replays;               // lifetime
    std::optional<std::uint32_t> nvlinks_active;
    std::optional<std::uint64_t> nvlink_crc, nvlink_replays, nvlink_recoveries, nvlink_rcv_errors;
    std::optional<std::uint64_t> power_violation_ms, thermal_violation_ms; // time below the requested clocks
    // Time during which these reasons lowered the clocks, from drivers that count it.
    std::optional<std::uint64_t> sw_thermal_ms, hw_thermal_ms, power_brake_ms;
    std::optional<std::uint32_t> recovery_action; // what the driver asks for: NVML's number, 0 nothing
    std::optional<std::uint32_t> fabric_state;    // of its registration with the NVSwitches: NVML's number
    std::optional<std::uint32_t> fabric_status;   // of a completed registration: NVML's error, 0 success
    // User IDs of compute processes, ascending. Absent: unknown.
    std::optional<std::vector<std::uint32_t>> users;
    // What NVML failed to return although the GPU has it: "ECC errors: Unknown Error (999)".
    std::vector<std::string> unseen;
};

// One XID, from NVML or the kernel log. The same event may come from both.
struct XidEvent {
    std::string pci; // "0000:14:00.0", or the part that the source reports: "0000:14:00"
    std::uint32_t code = 0;
    std::string text;                    // the driver's text after the code; empty from NVML
    std::uint32_t pid = 0;               // of the process whose channel the driver names; 0: none
    std::optional<std::uint32_t> user{}; // of the program that caused it; absent: unknown
    std::optional<std::uint32_t> job{};  // Slurm's number for that process's job; absent: unknown
};

// The source of a kernel log line; `pcie` is the PCIe port driver, which reports on devices below its ports.
enum class Driver { mlx5, nvidia, nvswitch, pcie };

// A driver's kernel log line about a device that is not an XID.
struct DriverLine {
    Driver driver = Driver::mlx5;
    std::string device; // its PCI address, "0000:14:00.0", or "nvswitch0"; empty where the line names none
    std::string text;   // the driver's text
};

// Errors of one memory controller since boot, counted by the kernel (EDAC).
struct MemorySample {
    std::string name; // "mc0"
    std::optional<std::uint64_t> corrected, uncorrected;
};

// The kernel's time source; `other` are those of guests and other architectures.
enum class ClockSource { tsc, other, hpet, acpi_pm, jiffies };

// The rest of the host: memory, clock, processes, modules and management network. What the host does not
// have, or does not report, is absent.
struct HostSample {
    std::vector<MemorySample> memory;
    std::optional<ClockSource> clock_source;
    std::string clock_source_name;       // as the kernel names it
    std::optional<double> clock_step_ms; // absolute jump of the time of day since the last sample
    std::optional<bool> fabric_manager;  // whether it runs; for hosts with NVSwitch devices
    std::optional<bool> peer_memory; // whether a module for GPUDirect is loaded; for hosts with GPUs and HCAs
    std::string net_device;          // of the default route
    std::optional<std::uint64_t> carrier_changes; // of net_device, since boot
    std::optional<double> blocked_s; // how long the longest sleeper in the NVIDIA driver has been blocked
    std::string blocked_name;        // its command
};

// One query of a file system by statvfs(3).
struct MountSample {
    std::string path;                // as in the configuration
    double silent_s = 0;             // how long the current query has been unanswered; 0: none is pending
    int failed = 0;                  // errno of the last query; the rest is then old
    bool answered = false;           // some query was; else the rest is meaningless
    std::optional<bool> read_only{}; // the file system itself, whatever this process may write to
    std::optional<double> free_percent{}; // of the blocks available to users
};

} // namespace probe
