// Processes that a launcher started and left behind when it ended: ranks on this host, and the commands by
// which it reached others. If no resource manager groups them as one step, railrun ends them before it
// launches again: two launches at once would interfere with each other.
#pragma once

#include <set>
#include <sys/types.h>

namespace restart::run {

class LeftOver {
public:
    // From now on descendants whose parents end become children of this process instead of init. Existing
    // children are left alone: a script may have started them before it became railrun (exec).
    LeftOver();

    // Sends SIGKILL to all other children, and to those that become children as a result, until there are
    // none; gives up after five seconds, as a process blocked in the kernel cannot be waited for. Reaps all:
    // none may be waited for elsewhere. Must be called by the only thread of the process.
    void end() const;

private:
    std::set<pid_t> before_;
};

} // namespace restart::run
