// A host's weeks as its probes would tell them, made from a seed: the noise of a sound host (retrained links,
// bursts below thresholds, counters that are reset or misread, services that start again, boots,
// maintenance), and faults that are planted where asked for.
//
// A double of hardware over time: rates and durations are ours, of the size that operators report (Meta's and
// LANL's papers, NVSentinel's and gpud's issues); what is a fault is known here, and to nobody that judges.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/sample.hpp"
#include "restart/wire/report.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

// What is planted, by the rule that is to find it.
struct Fault {
    base::Time begin{}, end{}; // it holds; then the host is repaired and boots
    std::string_view rule;     // of its finding
    std::string_view row;      // of the rules' table, where several make one finding; else the rule
    std::string component;     // "mlx5_3:1", "gpu5"
    restart::Severity severity = restart::Severity::warn; // of the finding; evict: hosts are left for it
};

struct Plan {
    base::Duration length = std::chrono::hours(24 * 30);
    int faults = 0;
    // The kinds of faults are dealt like cards, so that none comes twice before each has come once. Of hosts
    // that share a pack each begins where the one before it has ended.
    int first = 0;
};

class HostTrace {
public:
    static constexpr std::uint32_t devices = 8;  // HCAs, and GPUs
    static constexpr std::uint32_t nvlinks = 18; // of a GPU

    HostTrace(std::uint64_t seed, const Plan& plan);

    struct Look {
        const restart::Sample* sample; // valid until the next look
        bool agent_is_new;             // the host has booted, or its agent was exchanged
        bool booted;
        bool maintenance; // a person has drained the host
    };
    // Each minute; each second around what happens. Nothing at the end.
    std::optional<Look> next();

    const std::vector<Fault>& faults() const { return faults_; } // by their begin
    static std::size_t kinds_of_faults() { return planted().size(); }
    static base::Time start() { return base::Time(std::chrono::hours(480'000)); }

private:
    struct Episode {
        base::Time begin{}, end{};
        int kind = 0;
        std::uint32_t device = 0;
        std::uint64_t amount = 0;
        int fault = -1;         // of faults_
        std::uint32_t told = 0; // how often its words have come
    };
    struct Kind;
    enum class Part { port, hca, gpu, host, memory, net, mount, job };
    static std::span<const Kind> noise();
    static const std::vector<const Kind*>& planted(); // all of these:
    static std::span<const Kind> port_faults();
    static std::span<const Kind> gpu_faults();
    static std::span<const Kind> host_faults();
    static std::span<const Kind> xid_faults();
    static const Kind& kind_of(const Episode& episode);
    std::string component_of(const Episode& episode) const;

    // Counts of a GPU and of a memory controller; they begin anew with the driver, and with the host.
    struct GpuCounts {
        std::uint64_t pcie_replays = 0, ecc_corrected = 0, thermal_ms = 0;
        std::uint64_t nvlink_crc = 0, nvlink_replays = 0, nvlink_recoveries = 0, nvlink_rcv_errors = 0;
    };
    struct MemoryCounts {
        std::uint64_t corrected = 0, uncorrected = 0;
    };
    // Of the job that runs.
    struct JobCounts {
        std::uint64_t failed = 0, timeouts = 0, refused = 0, resent = 0, tcp_bytes = 0, dropped = 0;
    };

    void add_noise(const Plan& plan);
    void add_faults(const Plan& plan);
    base::Time step_to();
    bool count(base::Duration passed);
    void describe_host();
    void describe_job();
    void tell(Episode& one);
    void boot();
    std::uint64_t between(std::uint64_t low, std::uint64_t high);

    std::mt19937_64 random_;
    base::Time now_, end_, fine_until_{}, drained_until_{};
    std::vector<Episode> episodes_; // by their begin
    std::size_t begun_ = 0;
    std::vector<Episode> active_;
    std::vector<Fault> faults_;
    std::vector<decltype(probe::PortSample::counters)> counters_; // by port: totals
    std::vector<GpuCounts> gpus_;
    std::array<MemoryCounts, 2> memory_{};
    std::uint64_t carrier_changes_ = 0;
    JobCounts job_;
    std::uint64_t job_number_ = 1;
    base::Time trained_{}; // links and registrations of a host that boots are not there before
    restart::Sample sample_;
    bool fresh_agent_ = true, booted_ = true;
};

} // namespace trace
