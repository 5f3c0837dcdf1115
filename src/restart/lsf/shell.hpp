// The job's own line, run by /bin/sh as LSF would have run it, or, where it is a script whose first line
// names its interpreter (#!), by that; and watched to its end.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <functional>
#include <string>
#include <sys/signalfd.h>

namespace restart::lsf {

// Becomes the line: returns only where that cannot be started (Code::io).
base::Error become(const std::string& line);

// What is done while the line runs: `look` at once and then each `every`; `ending` when LSF has sent a signal
// with which it ends jobs.
struct Watching {
    base::Duration every{};
    std::function<void()> look;
    std::function<void(int number)> ending;
};

// Returns only with an error.
using Become = std::function<base::Error()>;

// Runs the line in this process group and returns its exit status, or 128 and the signal that ended it.
//
// LSF signals all process groups of a job, so that the line gets each signal from LSF itself: what ends
// programs is blocked here, and passed on only where another process of this user sent it to this one: none
// of the group, and none that started it, as LSF's daemons did where they are the user's own. Dies this
// process, the line is sent SIGTERM. Errors (Code::io): it cannot be started.
base::Expected<int> run(const std::string& line, const Watching& watching);
// The same of a program, which the child becomes.
base::Expected<int> run(const Become& become, const Watching& watching);

// Whether a signal came from LSF, which sends it to all processes of the job: what they have started needs it
// from nobody else. Its daemons are another user's, on the other side of a container, or, where they are the
// user's own, those that started this process.
bool sent_by_lsf(const signalfd_siginfo& what);

} // namespace restart::lsf
