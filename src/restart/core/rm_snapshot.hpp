// What the resource manager says about its nodes and jobs at one moment, free of any vendor's types.
// restart/rm fills it; times are the resource manager's.
#pragma once

#include "base/clock.hpp"
#include "restart/core/rm_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct RmNode {
    std::string name;
    std::string state;           // in the resource manager's words, for people: "IDLE+DRAIN"
    bool down = false;           // no job can run there and none does
    bool drain = false;          // takes no new job
    bool not_responding = false; // does not answer the resource manager's ping
    bool automatic =
        false; // down by the resource manager's own judgement (it did not respond), by nobody's decision
    std::string reason; // of the drain or the down, empty when none
    bool operator==(const RmNode&) const = default;
};

enum class JobPhase {
    pending,
    running,
    suspended,
    completing, // its processes are being ended; a requeued job passes through here
    ended       // will not run again
};

// One part of a heterogeneous job: it has an id of its own and hosts of its own, but starts, ends and is
// requeued with the others only.
struct RmComponent {
    std::uint32_t id = 0;
    std::string name; // "12+1"
    std::vector<std::string> nodes;
    bool operator==(const RmComponent&) const = default;
};

// What is started and ended as one: a job, a task of an array that has a record of its own, the tasks of an
// array that wait together, or a heterogeneous job with all its components, which goes by its leader's id.
struct RmJob {
    std::uint32_t id = 0;
    std::string name; // as its user knows it: "12", "12_3", "12_[4-9%2]"
    std::uint32_t uid = 0;
    JobPhase phase = JobPhase::pending;
    std::vector<std::string> nodes; // allocated, in the resource manager's order; empty while pending
    std::uint32_t node_count = 0;
    std::uint32_t restarts = 0;          // how often it was requeued: the epoch of its present start
    base::Time start{};                  // of the present or coming start
    base::Time begin{};                  // a pending job starts no sooner
    bool interactive = false;            // an allocation of salloc or srun, which nothing can start again
    bool requeue = false;                // the resource manager may start it again
    std::optional<bool> restart;         // --restart=auto is true, never is false
    std::string ckpt_dir;                // --ckpt-dir
    std::vector<std::string> excluded;   // hosts it must not use
    std::string why;                     // why it is pending: "Resources"
    std::vector<RmComponent> components; // of a heterogeneous job; else empty
    bool operator==(const RmJob&) const = default;
};

// The name, or the number where no name was read (a state of an older release).
inline std::string name_of(std::uint32_t id, const std::string& name) {
    return name.empty() ? std::to_string(id) : name;
}
inline std::string name_of(const RmJob& job) {
    return name_of(job.id, job.name);
}

struct RmSnapshot {
    std::vector<RmNode> nodes; // all
    std::vector<RmJob> jobs;   // all that have not been forgotten
    std::optional<RmConfig> config{}; // as last read; none when it could not be read yet
};

} // namespace restart
