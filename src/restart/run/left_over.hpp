// What a launcher started and did not take along when it ended: ranks on this host, and the commands by which
// it reached others. Where no resource manager knows them as one step, railrun ends them before it launches
// again: two launches at once would compute against each other.
#pragma once

#include <set>
#include <sys/types.h>

namespace restart::run {

class LeftOver {
public:
    // From now on processes below this one whose parents end become its children, instead of init's. Those
    // that it has already are not touched: a script may have begun them before it became railrun (exec).
    LeftOver();

    // Sends SIGKILL to all other children, and to those that become so thereby, until there are none; gives
    // up after five seconds: what the kernel keeps from ending cannot be waited for. All are reaped: none may
    // be waited for elsewhere. By the only thread of the process.
    void end() const;

private:
    std::set<pid_t> before_;
};

} // namespace restart::run
