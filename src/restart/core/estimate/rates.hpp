// What past failures, repairs and restarts show: counts kept in the state, and the rates that follow from
// them. Pure arithmetic; learn.cpp decides what counts.
//
// How often a host fails. Faults of hosts are a Poisson process over the time in which hosts were in use and
// heard of, with one rate for all of them. Before any was seen the rate is that of the configuration
// ([checkpoint] mtbf_node), with the weight of [learning] prior_faults faults: gamma with shape prior_faults
// and rate prior_faults * mtbf_node. After n faults in T host-seconds it is gamma with shape prior_faults + n
// and rate prior_faults * mtbf_node + T; its mean is used, and the middle 80 % of it is shown as well. Real
// faults come in bursts (Schroeder and Gibson, "A large-scale study of failures in high-performance computing
// systems", 2006), so they carry less information than as many independent ones: where the counts of the
// periods scatter more than a Poisson process's, shape and rate are divided by the dispersion, as in a
// quasi-Poisson model (McCullagh and Nelder, "Generalized Linear Models", 1989, section 6.2.3).
//
// How long repairs take is estimated the same way: the mean of those seen and of prior_faults repairs of
// [placement] repair_time. A repair under way counts with the time it has taken so far, or the long ones
// would be missing.
//
// What is older than about a year no longer counts: hosts age, and firmware is fixed.
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// Faults and exposure of 30 days.
struct LearnedPeriod {
    std::uint64_t number = 0;       // since 1970
    std::uint64_t host_seconds = 0; // hosts in use and heard of, multiplied by time
    std::uint32_t faults = 0;       // of single hosts
    std::uint32_t shared = 0;       // of what hosts share: each of these affected many of them at once
    bool operator==(const LearnedPeriod&) const = default;
};

// A fault that may turn out to be one of many with one cause.
struct RecentFault {
    std::string host;
    base::Time at{};
    bool shared = false; // it has: it is not counted as this host's own
    bool operator==(const RecentFault&) const = default;
};

struct Learned {
    std::vector<LearnedPeriod> periods;     // oldest first
    std::vector<RecentFault> recent;        // in order of time
    base::Time counted{};                   // exposure is counted up to here
    base::Time shared_at{};                 // when the last shared fault was counted
    std::vector<base::Duration> repairs;    // from the fault until the host was in use again; newest last,
    std::vector<base::Duration> detections; // from the fault until the decision
    std::vector<base::Duration> restarts;   // from the stop of a job, or the decision, until it ran again
    bool operator==(const Learned&) const = default;
};

inline constexpr base::Duration learned_period = std::chrono::days(30);
inline constexpr std::size_t most_periods = 13; // the present one and a year
inline constexpr std::size_t most_samples = 100;
// Faults of this many hosts, each within a given time of another, have one cause outside of them.
inline constexpr std::size_t least_shared = 3;

// This many hosts were in use and heard of for `time`.
void count_exposure(Learned& learned, std::size_t hosts, base::Duration time, base::Time now);

// A host failed `at`. Faults of at least least_shared hosts, each within `together` of the next, become one
// shared fault; returns the hosts whose faults, this or earlier ones, no longer count as their own.
std::vector<std::string> count_fault(Learned& learned, const std::string& host, base::Time at,
                                     base::Duration together, base::Time now);

// Something that hosts share failed, unless it was just counted.
void count_shared_fault(Learned& learned, base::Time now);

// Adds to a list of samples; the oldest are dropped. A negative time (a clock was set) is ignored.
void add_sample(std::vector<base::Duration>& samples, base::Duration sample);

// What is assumed before anything was seen.
struct Prior {
    base::Duration mtbf{};   // of a host
    base::Duration repair{}; // of a host
    double faults = 1;       // the number of faults and repairs it weighs as much as; above 0
};

struct FailureRate {
    std::uint64_t faults = 0, shared = 0; // seen
    double host_hours = 0;                // over which they were seen
    base::Duration mtbf{};                // 1 / mean rate
    double dispersion = 1;                // variance of the periods' counts over their mean; at least 1
    base::Duration low{}, high{};         // the rate lies between 1 / high and 1 / low with 80 %
};
FailureRate failure_rate(const Learned& learned, const Prior& prior);
base::Duration host_mtbf(const Learned& learned, const Prior& prior); // only FailureRate::mtbf

struct TimeSummary {
    std::size_t count = 0;
    base::Duration mean{}, median{}, p90{}; // 0 if there is none
};
base::Duration mean_of(const std::vector<base::Duration>& samples);
TimeSummary summary_of(std::vector<base::Duration> samples);

struct RepairTime {
    TimeSummary seen;        // of completed repairs
    std::size_t ongoing = 0; // repairs under way
    base::Duration mean{};   // with the prior and repairs under way
};
// `ongoing`: how long each has taken so far.
RepairTime repair_time(const Learned& learned, const Prior& prior,
                       const std::vector<base::Duration>& ongoing);

} // namespace restart
