// A job's processes on this host, found by what rail-lsf-run put into their environment, so that daemons that
// left the job's process groups and sessions are found as well, and those of another start are not. Only this
// user's can be seen; one whose environment was emptied is missed.
#pragma once

#include "base/clock.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace restart::lsf {

class JobProcesses {
public:
    // "RAIL_JOB_ID=7" and so on, all of which are in the environment that a process of the job began with.
    explicit JobProcesses(std::vector<std::string> marks) : marks_(std::move(marks)) {}

    // Without this process, those above it, and others that run the same program: they keep the job's
    // processes.
    std::vector<pid_t> found() const;

    // SIGTERM, and SIGKILL to those that are left after `patience`, again and again for five times as long.
    // Those that are left then: nothing ends them.
    std::vector<pid_t> end(base::Duration patience) const;

private:
    std::vector<std::string> marks_;
};

} // namespace restart::lsf
