// What agents report to restartd and what it answers: the bodies of POST /v1/report and POST /v1/fabric.
//
// Both ends use these structs, so the protocol is written down once. Reading treats the peer as hostile:
// every list, string and number has a bound (report.cpp), names carry only characters that are safe in
// Slurm and on a terminal, and an unknown key is passed over so that a newer agent can talk to an older
// daemon. Times are seconds since the epoch in JSON, durations seconds.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// What a finding asks for.
enum class Severity {
    info,  // worth a line
    warn,  // avoid the host where there is a choice
    evict, // let the job save, then drain the host and requeue
    fatal  // drain and requeue now
};
std::string_view to_string(Severity severity);

// Something that holds on a host now, judged over its rule's window by the agent.
struct Finding {
    std::string rule;      // "gpu.throttle.hw_power_brake"
    std::string component; // "gpu3", "mlx5_0:1"
    Severity severity = Severity::info;
    base::Time since{};
    std::string evidence; // a phrase with the numbers
    bool operator==(const Finding&) const = default;
};

// A checkpoint a job has published.
struct Commit {
    std::uint64_t step = 0;
    std::string path; // absolute
    base::Time committed{};
    double cost_s = 0; // how long the job stood still for it
    std::uint64_t bytes = 0;
    bool operator==(const Commit&) const = default;
};

// A job that speaks to the host's agent. `uid` is the peer of the job's socket: the daemon believes the
// entry only when that user owns the job.
struct JobReport {
    std::uint32_t id = 0;
    std::uint32_t epoch = 0; // SLURM_RESTART_COUNT: a report about an earlier start is stale
    std::uint32_t uid = 0;
    std::optional<Commit> ckpt; // the last one
    bool operator==(const JobReport&) const = default;
};

// POST /v1/report: one heartbeat of nodewatchd.
struct Report {
    std::string host;                      // NodeName in the resource manager
    std::string boot_id;                   // of the kernel; a new one says the host was rebooted
    std::vector<std::string> not_watching; // what it cannot watch and why, a sentence each
    std::string fabric; // digest of the fabric file that some findings rest on; empty: of none
    std::vector<Finding> findings;         // the complete set of what holds now
    std::vector<JobReport> jobs;

    // Errors (Code::input) name the field: "findings[0].severity: …".
    static base::Expected<Report> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Report&) const = default;
};

// What the daemon wants from one job on the reporting host.
struct JobReply {
    std::uint32_t id = 0;
    std::uint32_t epoch = 0;
    double interval_s = 0;               // between two checkpoints
    std::optional<base::Time> save_by;   // save now; the job is moved at this time at the latest
    std::optional<std::string> incident; // why
    bool operator==(const JobReply&) const = default;
};

struct Reply {
    std::vector<JobReply> jobs;

    static base::Expected<Reply> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Reply&) const = default;
};

struct HostLinks {
    std::uint32_t links_up = 0;
    std::uint32_t links_total = 0;
    bool operator==(const HostLinks&) const = default;
};

// POST /v1/fabric: one sweep of fabricwatchd. Only hosts with links_up < links_total are named; a host of
// fabric.json that the sweep did not see has links_up 0.
struct FabricReport {
    std::map<std::string, HostLinks> hosts;
    std::uint32_t hosts_seen = 0;
    bool complete = false; // false: the sweep ended early and is no witness

    static base::Expected<FabricReport> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const FabricReport&) const = default;
};

} // namespace restart
