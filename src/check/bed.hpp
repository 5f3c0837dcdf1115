// A simulated host for the self-test of rules: two HCAs as a tree of the kernel's files, GPUs through a
// double of NVML if given, and a kernel log; read by nodewatchd's probes and evaluated by its judge, on a
// clock that the test advances.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "probe/kmsg_log.hpp"
#include "probe/nvml_gpus.hpp"
#include "probe/proc_host.hpp"
#include "probe/sysfs_ib.hpp"
#include "restart/watch/job_session.hpp"
#include "restart/watch/judge.hpp"
#include "restart/watch/rules/rule_set.hpp"
#include "restart/watch/ucx_intake.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace check {

class Bed {
public:
    // HCAs, and GPUs.
    static constexpr std::uint32_t devices = 4;
    // What each counter of a port shows at first: lifetime values are not evidence.
    static constexpr std::uint64_t counted = 1000;
    static constexpr std::uint32_t nvlinks = 18;                   // of each GPU
    static constexpr const char* fabric_manager = "proc/400/stat"; // its process

    // `folder` is empty and stays the caller's. `nvml`: path of a double of NVML that reads the file named by
    // RAIL_NVML_STATE, which this call sets; empty: no GPUs. Errors: Code::io, and NvmlGpus::open's.
    static base::Expected<std::unique_ptr<Bed>> make(const std::filesystem::path& folder,
                                                     const std::string& nvml);
    Bed(const Bed&) = delete;
    Bed& operator=(const Bed&) = delete;

    // Resets to a sound host on which nothing has been seen yet, judged by these rules alone.
    base::Expected<void> begin(const restart::RuleSet& rules, base::Duration interval);

    // One sample, `interval` after the last.
    base::Expected<std::vector<restart::Finding>> look();

    bool has_gpus() const { return !nvml_.empty(); }
    static std::string port_name(std::uint32_t hca); // as in findings
    static std::string gpu_name(std::uint32_t gpu);

    // What NVML reports for a GPU, by the double's keys ("pcie_width").
    base::Expected<void> set_gpu(std::uint32_t gpu, const std::string& key, std::uint64_t value);
    // A file of the port, such as "state" or "counters/link_downed".
    base::Expected<void> set_port(std::uint32_t hca, const std::string& file, const std::string& text);
    base::Expected<void> set_counter(std::uint32_t hca, const std::string& name, std::uint64_t value);
    // Removes the device from the host, and puts it back, sound.
    base::Expected<void> remove_hca(std::uint32_t hca);
    base::Expected<void> make_hca(std::uint32_t hca);
    // Any file of the trees: "sys/class/net/eth0/carrier_changes", "proc/400/stat".
    base::Expected<void> set_file(const std::string& path, const std::string& text);
    base::Expected<void> remove(const std::string& path);
    // A record of the kernel log.
    base::Expected<void> log(std::string_view text);
    static std::string hca_pci(std::uint32_t hca); // "0000:13:00.0"
    static std::string pcie_file(std::uint32_t hca, std::string_view name);
    static constexpr int asic_critical = 105, module_critical = 70; // C; sensors 1 and 2
    static std::string sensor_file(std::uint32_t hca, int number, std::string_view what);
    static std::string pci_of(std::uint32_t gpu); // "0000:14:00"

    // What the fabric file lists for this host; initially all HCAs.
    restart::Listing listing;
    double clock_jump_ms = 0; // step of the time of day within the next look
    // What no file can simulate: the options of a mount, and how long a process has been in the driver.
    probe::MountSample mount;
    // What a process of a job reports about its UCX endpoints; say_ucx() reports it as librailucx.so would.
    restart::JobUcx ucx;
    base::Expected<void> say_ucx();
    // UCX statistics of the same job, as in the datagrams that it would send.
    probe::UcxStatistics statistics;
    void send_statistics();
    static constexpr const char* ucx_job = "job12";
    static constexpr std::uint64_t ucx_endpoints = 8; // of the job, to other hosts
    std::optional<double> blocked_s;
    std::optional<bool> slurmd;

private:
    explicit Bed(std::filesystem::path folder);
    base::Expected<void> write_sound();
    base::Expected<void> open_gpus();
    base::Expected<void> write_gpus();
    std::filesystem::path port(std::uint32_t hca) const;

    std::filesystem::path folder_;
    std::string nvml_;                  // the double's path
    std::vector<std::string> counters_; // those that rules use
    std::map<std::string, std::uint64_t> gpu_state_;
    std::optional<probe::NvmlGpus> gpus_;
    std::optional<probe::SysfsIb> ib_;
    std::optional<probe::Kmsg> kmsg_;
    std::optional<probe::ProcHost> host_;
    double wall_ms_ = 0;
    std::uint32_t next_user_ = 1000; // each XID is attributed to another user's program
    restart::JobBook jobs_;
    std::optional<restart::UcxBook> ucx_book_;
    std::optional<restart::JobSession> process_; // of the job
    std::optional<restart::UcxIntake> intake_;   // of its statistics
    std::uint64_t messages_ = 0;
    std::optional<restart::Judge> judge_;
    base::Duration interval_{1'000};
    base::Time now_{};
};

} // namespace check
