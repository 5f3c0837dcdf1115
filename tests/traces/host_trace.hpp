// A host's weeks as its probes would tell them, made from a seed: the noise of a sound host (retrained links,
// bursts below thresholds, counters that are reset or misread, boots, maintenance), and faults that are
// planted where asked for.
//
// A double of hardware over time: rates and durations are ours, of the size that operators report (Meta's and
// LANL's papers, NVSentinel's and gpud's issues); what is a fault is known here, and to nobody that judges.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/sample.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

// What is planted, by the rule that is to find it.
struct Fault {
    base::Time begin{}, end{}; // it holds; then the host is repaired and boots
    std::string_view rule;     // of its finding
    std::string component;     // "mlx5_3:1", "gpu5"
    bool grave = false;        // hosts are left for it; else a warning is due
};

struct Plan {
    base::Duration length = std::chrono::hours(24 * 30);
    int faults = 0; // of kinds drawn evenly
};

class HostTrace {
public:
    static constexpr std::uint32_t devices = 8; // HCAs, and GPUs

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
    static base::Time start() { return base::Time(std::chrono::hours(480'000)); }

private:
    struct Episode {
        base::Time begin{}, end{};
        int kind = 0;
        std::uint32_t device = 0;
        std::uint64_t amount = 0;
        int fault = -1; // of faults_
    };
    struct Kind;
    static const Kind noise_[];
    static const Kind planted_[];
    static std::size_t noise_kinds();
    static std::size_t planted_kinds();
    const Kind& kind_of(const Episode& episode) const;

    void add_noise(const Plan& plan);
    void add_faults(const Plan& plan);
    base::Time step_to();
    bool count(base::Duration passed);
    void describe_host();
    void boot();
    std::uint64_t between(std::uint64_t low, std::uint64_t high);

    std::mt19937_64 random_;
    base::Time now_, end_, fine_until_{}, drained_until_{};
    std::vector<Episode> episodes_; // by their begin
    std::size_t begun_ = 0;
    std::vector<Episode> active_;
    std::vector<Fault> faults_;
    std::vector<decltype(probe::PortSample::counters)> counters_; // by port: totals
    std::vector<std::uint64_t> replays_, ecc_corrected_;          // by GPU
    restart::Sample sample_;
    bool fresh_agent_ = true, booted_ = true;
};

} // namespace trace
