// When the nodes' slurmds were started, by asking them: works even while no slurmctld runs.
#pragma once

#include "base/clock.hpp"
#include "restart/ctl/enable/facts.hpp"

#include <string_view>
#include <vector>

namespace restart::enable {

// The nodes of slurm.conf that have a slurmd, in order: not those of State=CLOUD or FUTURE.
base::Expected<std::vector<Host>> hosts_of(const std::vector<TextFile>& conf);

// Asks each with `scontrol show slurmd`, several at a time, which on any host but its own needs a
// configuration of one node, in a private directory of ours. Fills `answers` and `since`. At most `patience`
// for each. Errors: no such directory can be made.
base::Expected<void> ask_slurmds(const std::vector<TextFile>& conf, const std::string& this_host,
                                 base::Duration patience, std::vector<Host>& hosts);

// "Boot time = 2026-11-22T13:32:12" in scontrol's output; local time.
std::optional<base::Time> boot_time(std::string_view text);

} // namespace restart::enable
