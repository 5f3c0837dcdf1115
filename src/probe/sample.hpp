// What a host says of itself at one moment, as it stands: nothing here is judged.
#pragma once

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace probe {

using Guid = std::uint64_t; // 0: not known

// One InfiniBand port. A device that has vanished is simply not there.
struct PortSample {
    std::string device; // "mlx5_0"
    std::uint32_t port = 1;
    Guid node = 0;          // GUID of the HCA
    Guid guid = 0;          // of the port
    std::string pci;        // of the HCA: "0000:14:00.0"; empty: not known
    std::string state;      // the kernel's word: "ACTIVE", "DOWN", "INIT", "ARMED"
    std::string phys_state; // "LinkUp", "Polling", "Disabled", …
    double rate_gbps = 0;
    // counters/ and hw_counters/ by file name, lifetime values. Each look makes them anew and copies them.
    boost::container::flat_map<std::string, std::uint64_t> counters;
    // Of the HCA's PCIe link, and the most that it and its slot have: lanes, GT/s. Absent: not known, as of a
    // virtual function.
    std::optional<std::uint32_t> pcie_width{}, pcie_width_max{};
    std::optional<double> pcie_speed{}, pcie_speed_max{};
    // Degrees Celsius, of the HCA's chip and of the module (transceiver) in its port, and where each is
    // critical by its own word. Absent: the driver shows none (before Linux 6.6), or none with such a bound.
    std::optional<double> asic_celsius{}, asic_critical{}, module_celsius{}, module_critical{};
    bool virtual_function = false; // of an HCA of this host (SR-IOV), such as for a container
};

struct IbSample {
    std::vector<PortSample> ports;     // by device name in natural order, then port
    std::vector<std::string> left_out; // devices and ports not watched, a phrase each
    std::vector<Guid> ignored;         // HCAs and ports left out by the configuration
};

// One GPU. What this GPU or driver does not report is absent.
struct GpuSample {
    std::uint32_t index = 0;                    // NVML's
    std::string pci;                            // "0000:14:00.0"
    bool lost = false;                          // NVML says GPU_IS_LOST; the rest is then from before
    std::string silent;                         // NVML's error where it answers nothing about it; else empty
    std::optional<std::uint64_t> reasons;       // clock event reasons, NVML's bits
    std::optional<std::uint64_t> ecc_corrected; // volatile: since the driver was loaded
    std::optional<std::uint64_t> ecc_uncorrected; // likewise
    std::optional<bool> remap_pending;
    std::optional<bool> remap_failed;
    std::optional<std::uint32_t> pcie_generation, pcie_generation_max;
    std::optional<std::uint32_t> sm_mhz, mem_mhz; // clocks of the multiprocessors and the memory
    std::optional<std::uint32_t> power_mw;        // drawn, as the driver averages it
    std::optional<std::uint32_t> busy_percent;    // of the last second or less, that a kernel ran
    // Some seconds old at most. GPM's are means since it was asked before, which are shares of 1: of the
    // multiprocessors that had something to do, and of the time in which their tensor cores had.
    std::optional<std::uint32_t> power_limit_mw;
    std::optional<double> sm_active, tensor_active;
    // Each some seconds old at most, of all NVLinks together; counters are since the driver was loaded.
    std::optional<std::uint32_t> pcie_width, pcie_width_max; // lanes
    std::optional<std::uint64_t> pcie_replays;               // lifetime
    std::optional<std::uint32_t> nvlinks_active;
    std::optional<std::uint64_t> nvlink_crc, nvlink_replays, nvlink_recoveries, nvlink_rcv_errors;
    std::optional<std::uint64_t> power_violation_ms, thermal_violation_ms; // time below the wanted clocks
    // Time with these reasons to lower the clocks, by drivers that count it.
    std::optional<std::uint64_t> sw_thermal_ms, hw_thermal_ms, power_brake_ms;
    std::optional<std::uint32_t> recovery_action; // what the driver wants done: NVML's number, 0 nothing
    std::optional<std::uint32_t> fabric_state;    // of its registration with the NVSwitches: NVML's number
    std::optional<std::uint32_t> fabric_status;   // of one that is completed: NVML's error, 0 sound
    // Users whose processes compute there, by number, ascending. Absent: not known.
    std::optional<std::vector<std::uint32_t>> users;
    // What NVML refused to say, though the GPU has it: "ECC errors: Unknown Error (999)".
    std::vector<std::string> unseen;
};

// One XID, from NVML or the kernel log. The same event may come from both.
struct XidEvent {
    std::string pci; // "0000:14:00.0", or as much of it as the source reports: "0000:14:00"
    std::uint32_t code = 0;
    std::string text;                    // what the driver said after the code; empty from NVML
    std::uint32_t pid = 0;               // of the process whose channel the driver names; 0: it names none
    std::optional<std::uint32_t> user{}; // under whose program it came; absent: not known
    std::optional<std::uint32_t> job{};  // Slurm's number of that process's job; likewise
};

// Whose line in the kernel log it is; `pcie` is the driver of PCIe ports, which speaks of what is below them.
enum class Driver { mlx5, nvidia, nvswitch, pcie };

// A line of a driver in the kernel log about a device, that is no XID.
struct DriverLine {
    Driver driver = Driver::mlx5;
    std::string device; // its PCI address, "0000:14:00.0", or "nvswitch0"; empty where the line names none
    std::string text;   // what the driver said
};

// What the kernel's error detection counts of one memory controller since the boot.
struct MemorySample {
    std::string name; // "mc0"
    std::optional<std::uint64_t> corrected, uncorrected;
};

// How the kernel tells the time; `other` are those of guests and other architectures.
enum class ClockSource { tsc, other, hpet, acpi_pm, jiffies };

// What is left of the host: its memory, clock, processes, modules and the network that manages it. What the
// host does not have, or does not say, is absent.
struct HostSample {
    std::vector<MemorySample> memory;
    std::optional<ClockSource> clock_source;
    std::string clock_source_name;       // the kernel's word
    std::optional<double> clock_step_ms; // how far the time of day jumped since the last look, either way
    std::optional<bool> fabric_manager;  // whether it runs; of hosts with NVSwitch devices
    std::optional<bool> peer_memory; // whether a module for GPUDirect is loaded; of hosts with GPUs and HCAs
    std::string net_device;          // of the default route
    std::optional<std::uint64_t> carrier_changes; // of net_device, since the boot
    std::optional<double> blocked_s; // how long the process that is longest in the NVIDIA driver sleeps there
    std::string blocked_name;        // its command
};

// One look at a file system, as statvfs(3) tells it.
struct MountSample {
    std::string path;                // as the configuration has it
    double silent_s = 0;             // how long the look that is under way has not been answered; 0: none is
    int failed = 0;                  // the last look's errno; the rest is then from before
    bool answered = false;           // some look was; else the rest says nothing
    std::optional<bool> read_only{}; // the file system itself, whatever this process may write to
    std::optional<double> free_percent{}; // of the blocks that users may have
};

} // namespace probe
