// What is known about LSF's queues: their priorities, and how users share those of gangs. Read every half
// minute, by one command or two, and a third if shares may be groups'.
#pragma once

#include "base/expected.hpp"
#include "restart/rm/lsf_commands.hpp"
#include "restart/rm/lsf_jobs.hpp"
#include "restart/rm/lsf_shares.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace restart {

class LsfQueueBook {
public:
    // Nothing is read while the data is younger than half a minute. Errors: LsfCommands::run's; the old data
    // stays.
    base::Expected<void> read(const LsfCommands& commands, const LsfQueues& queues, const LsfJobs& jobs,
                              std::chrono::steady_clock::time_point now);

    const std::map<std::string, std::int64_t>& priorities() const { return priorities_; }
    const LsfShares& shares() const { return shares_; }

    // Sentences for RmConfig::missing.
    std::vector<std::string> missing(const LsfQueues& queues) const;

private:
    base::Expected<void> read_shares_of(const LsfCommands& commands, const LsfQueues& queues,
                                        const LsfJobs& jobs);

    std::map<std::string, std::int64_t> priorities_;
    LsfShares shares_;
    std::string said_; // LSF's output in place of shares; empty: it was understood
    std::optional<std::chrono::steady_clock::time_point> read_;
};

} // namespace restart
