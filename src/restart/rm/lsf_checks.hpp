// Idle hosts are tried by jobs of restartd's own (core/idle_check.hpp): exclusive ones, which the queue must
// allow, in [idle_checks] partition, each with its host by -m. LsfJobs tells which jobs these are.
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

    // Where the host has none already. Error besides: no queue is named.
    base::Expected<void> begin(const CheckHost& action) const;
    // Where it is one that tries this host; at once, as it has nothing to save.
    base::Expected<void> end(const EndCheck& action) const;

private:
    const LsfCommands& commands_;
    const LsfJobs& jobs_;
};

} // namespace restart
