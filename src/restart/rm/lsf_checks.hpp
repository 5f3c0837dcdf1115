// Idle hosts are checked by restartd's own jobs (core/idle_check.hpp): exclusive ones, which the queue must
// allow, in [idle_checks] partition, each with its host by -m. LsfJobs knows which jobs these are.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/rm/lsf_commands.hpp"
#include "restart/rm/lsf_jobs.hpp"

namespace restart {

// Errors: LsfCommands::run's.
class LsfChecks {
public:
    LsfChecks(const LsfCommands& commands, const LsfJobs& jobs) : commands_(commands), jobs_(jobs) {}

    // If the host has none already. Additional error: no queue is named.
    base::Expected<void> begin(const CheckHost& action) const;
    // If it is one that checks this host; at once, because it has nothing to save.
    base::Expected<void> end(const EndCheck& action) const;

private:
    const LsfCommands& commands_;
    const LsfJobs& jobs_;
};

} // namespace restart
