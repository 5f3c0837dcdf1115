// A job's processes on this host, found by what the resource manager or rail-lsf-run put into their
// environment, so that daemons that left the job's process groups and sessions are found as well, and those
// of another start are not. Only this user's can be seen; one whose environment was emptied is missed.
#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace restart::ckpt {

// The parent of a process; 0: it has none, or is gone.
pid_t parent_of(pid_t pid);

// Whether an environment, as /proc has it, has this variable: "RAIL_JOB_ID=7", or "RAIL_JOB_ID=" for any
// value.
bool has_variable(std::string_view environment, std::string_view mark);

class JobProcesses {
public:
    // "RAIL_JOB_ID=7" and so on, all of which are in the environment that a process of the job began with.
    explicit JobProcesses(std::vector<std::string> marks) : marks_(std::move(marks)) {}

    // That of a process of the job, as it began; nothing: it is gone, another user's or another job's.
    std::optional<std::string> environment_of(pid_t pid) const;

    // Without this process, those above it, and others that run the same program: they keep the job's
    // processes.
    std::vector<pid_t> found() const;

    // SIGTERM, and SIGKILL to those that are left after `patience`, again and again for five times as long.
    // Those that are left then: nothing ends them.
    std::vector<pid_t> end(base::Duration patience) const;

private:
    std::vector<std::string> marks_;
};

} // namespace restart::ckpt
