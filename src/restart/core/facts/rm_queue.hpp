// What placement depends on in the resource manager: read when a client asks why a job waits or runs where it
// does. RmSnapshot, in contrast, is read all the time and kept in the journal.
#pragma once

#include "base/clock.hpp"
#include "base/host_state.hpp"
#include "base/job_id.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/wire/status.hpp"
#include "sched/ask/hints.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct QueueNode {
    std::string name;
    base::HostState state = base::HostState::down; // if it responds
    bool not_responding = false;                   // to the resource manager's ping
    std::string reason;                            // of a drain or a down
    bool reserved = false;                         // within an active reservation
    std::uint32_t cpus_idle = 0;
    // Filled in by the driver:
    bool heard = false; // is_heard()
    float health = 1;   // as placement sees it
};

enum class QueuePhase {
    waiting,
    placed, // running, suspended, or being started on its nodes
    leaving // its processes are being ended
};

// What a waiting job waits for.
enum class WaitsFor {
    unknown, // not evaluated yet
    hosts,   // or its turn for them
    other    // something that no host can help with
};

// What decides a gang's place in the order in which LSF takes gangs (RmQueue::jobs).
struct QueueStanding {
    std::int64_t priority = 0;     // of its queue; higher comes first
    std::size_t listed = 0;        // its place in the resource manager's list of jobs
    std::optional<double> share{}; // its user's priority, where users share the queue; larger comes first
};

struct QueueJob {
    base::JobId id{};
    JobOwner owner{};
    QueuePhase phase = QueuePhase::waiting;
    std::vector<std::string> partitions; // any of which will do
    std::vector<std::string> nodes;      // held by it; empty while waiting
    std::uint32_t least = 1, most = 0;   // nodes requested; most 0: exactly `least`
    std::uint32_t cpus_per_node = 1;     // at least
    std::uint32_t restarts = 0;          // how often it was requeued
    bool exclusive = false;
    std::vector<std::string> required, excluded;
    std::string preempted;               // whose place it took, or who took its; a sentence, empty: neither
    std::vector<std::string> had;        // of the previous start, to be kept (sched::Request::had)
    base::Time eligible{};               // since when it may start
    base::Time start{};                  // of its start; of a waiting job when expected, or 0
    std::optional<base::Time> ends;      // by its limit; none: no limit
    std::optional<base::Duration> limit; // of a waiting job, where the resource manager shows it (LSF)
    WaitsFor waits_for = WaitsFor::unknown;
    std::string why;        // the same in the resource manager's terms
    std::string constraint; // node features it requests
    std::string reservation;
    sched::Hints hints;
    std::optional<QueueStanding> standing{}; // of one that waits for hosts (LSF)
    std::string shown; // why it waits, as its record shows it (ResourceManager::write_why)
};

// One that has ended, while the resource manager remembers it.
struct EndedJob {
    base::JobId id{};
    JobOwner owner{};
    EndedJobStatus status;
};

struct RmQueue {
    base::Time read{};
    std::vector<QueueNode> nodes;
    // Waiting, running or leaving. Under LSF those that wait for hosts come first, in the order in which they
    // will get them.
    std::vector<QueueJob> jobs;
    std::vector<EndedJob> ended;                                             // only with Slurm
    std::map<std::string, std::vector<std::string>, std::less<>> partitions; // nodes of each
    // Single-host jobs without flags are left to the resource manager, per [placement] pack; filled in by the
    // driver.
    bool leaves_small = false;
};

} // namespace restart
