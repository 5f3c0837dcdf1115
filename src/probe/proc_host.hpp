// The host as shown by /proc and /sys, without its InfiniBand ports and GPUs.
//
// Files that are read each time are kept open. Only the process list is more expensive, some microseconds per
// process: it is walked once a minute.
//
// Nothing here waits for a device, but the kernel may block: call from a thread that may block.
#pragma once

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "probe/sample.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

// Two clocks read at the same moment: a jump of one against the other can be seen.
struct Clocks {
    base::Duration since_boot{};
    double wall_ms = 0; // since the epoch
    bool close = true;  // read close enough together for the difference to be meaningful
};
Clocks read_clocks();

class ProcHost {
public:
    // `proc` and `sys`: "/proc" and "/sys", or trees with the same layout. Nothing is read yet.
    ProcHost(std::filesystem::path proc, std::filesystem::path sys,
             std::function<Clocks()> clocks = read_clocks);

    // Never fails: what cannot be read is absent.
    HostSample sample();

private:
    struct Controller {
        std::string name;
        base::UniqueFd corrected, uncorrected;
    };
    // A process in uninterruptible sleep within the NVIDIA driver.
    struct Blocked {
        std::uint64_t started = 0; // distinguishes it from a later process with the same number
        base::Duration since{};
        std::string name;
    };
    using Sleepers = std::map<std::uint64_t, Blocked>;
    void read_memory(HostSample& into);
    void read_clock(const Clocks& now, HostSample& into);
    void read_processes(const Clocks& now);
    void read_process(const std::string& number, const Clocks& now, Sleepers& found);
    bool is_in_driver(const std::filesystem::path& process, const std::string& name);
    void find_devices();

    std::filesystem::path proc_, sys_;
    std::function<Clocks()> clocks_;
    std::vector<Controller> memory_;
    base::UniqueFd clock_source_;
    std::optional<double> offset_ms_; // of the time of day from the time since boot
    std::optional<base::Duration> walked_;
    Sleepers blocked_; // by process number
    int stacks_ = 0;   // read in this walk
    bool fabric_manager_ = false;
    bool has_switches_ = false, has_gpus_ = false, has_hcas_ = false;
    std::string net_device_;
    base::UniqueFd carrier_changes_;
};

// Whether a process of this name (at most 15 bytes) runs.
bool runs(std::string_view name, const std::filesystem::path& proc);

// Queries a file system once. Blocks while the file system's server does not answer.
//
// `mountinfo` shows whether it is read-only: systemd's ProtectSystem makes all mounts read-only for us. What
// it hides from us (ProtectHome) is EACCES, not the empty folder that we see.
MountSample look_at_mount(const std::string& path,
                          const std::filesystem::path& mountinfo = "/proc/self/mountinfo");

} // namespace probe
