// What a host says of itself at one moment, as it stands: nothing here is judged.
#pragma once

#include <cstdint>
#include <map>
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
    std::string state;      // the kernel's word: "ACTIVE", "DOWN", "INIT", "ARMED"
    std::string phys_state; // "LinkUp", "Polling", "Disabled", …
    double rate_gbps = 0;
    std::map<std::string, std::uint64_t> counters; // counters/ and hw_counters/ by file name, lifetime values
};

struct IbSample {
    std::vector<PortSample> ports;     // by device name in natural order, then port
    std::vector<std::string> left_out; // devices and ports not watched, a phrase each
    std::vector<Guid> ignored;         // HCAs and ports left out by the configuration
};

// One GPU. What this GPU or driver does not report is absent.
struct GpuSample {
    std::uint32_t index = 0;                      // NVML's
    std::string pci;                              // "0000:14:00.0"
    bool lost = false;                            // NVML says GPU_IS_LOST; the rest is then from before
    std::uint64_t reasons = 0;                    // clock event reasons, NVML's bits
    std::optional<std::uint64_t> ecc_corrected;   // volatile: since the driver was loaded
    std::optional<std::uint64_t> ecc_uncorrected; // likewise
    std::optional<bool> remap_pending;
    std::optional<bool> remap_failed;
    std::optional<std::uint32_t> pcie_generation, pcie_generation_max;
    std::optional<std::uint32_t> pcie_width, pcie_width_max; // lanes
    std::optional<std::uint64_t> pcie_replays;               // lifetime
};

// One XID, from NVML or the kernel log. The same event may come from both.
struct XidEvent {
    std::string pci; // "0000:14:00.0", or as much of it as the source reports: "0000:14:00"
    std::uint32_t code = 0;
    std::string text; // what the driver said after the code; empty from NVML
};

} // namespace probe
