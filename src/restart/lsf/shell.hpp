// Runs the job's own line by /bin/sh as LSF would have, or, for a script whose first line names its
// interpreter (#!), by that; and watches it until it ends.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <functional>
#include <string>
#include <sys/signalfd.h>

namespace restart::lsf {

// Replaces this process with the line: returns only if that cannot be started (Code::io).
base::Error become(const std::string& line);

// Actions while the line runs: `look` at once and then every `every`; `ending` when LSF has sent a signal
// with which it ends jobs.
struct Watching {
    base::Duration every{};
    std::function<void()> look;
    std::function<void(int number)> ending;
};

// Returns only with an error.
using Become = std::function<base::Error()>;

// Runs the line in this process group and returns its exit status, or 128 plus the signal that ended it.
//
// LSF signals all process groups of a job, so that the line gets each signal from LSF itself. Terminating
// signals are therefore blocked here, and passed on only if another process of this user sent them to this
// one: not one in the group, and not one that started it, as LSF's daemons did if they run as this user. If
// this process dies, the line gets SIGTERM. Errors (Code::io): it cannot be started.
base::Expected<int> run(const std::string& line, const Watching& watching);
// The same for a program that replaces the child.
base::Expected<int> run(const Become& become, const Watching& watching);

// Whether a signal came from LSF, which sends it to all processes of the job: then it need not be passed on
// to them. LSF's daemons run as another user, outside of a container, or, if they run as this user, started
// this process.
bool sent_by_lsf(const signalfd_siginfo& what);

} // namespace restart::lsf
