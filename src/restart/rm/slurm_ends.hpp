// How jobs ended that slurmctld no longer knows, by Slurm's accounting (sacct). Only slurm_*.cpp files and
// their tests include this.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/core/facts/rm.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace restart {

// By job: how it ended if it may be restarted (RmFailure without its nodes), none if not: its user cancelled
// it, its time was up, it was preempted. A job that is not in it is not known to have ended.
using SlurmEnds = std::map<std::uint32_t, std::optional<RmFailure>>;

// From sacct's lines "JOB|STATE|CODE:SIGNAL|CODE:SIGNAL|SECONDS": state, exit status, that of its worst step,
// end.
SlurmEnds parse_ends(std::string_view lines);

// Queries accounting. Errors (Code::unavailable): it does not answer within `patience`, or does not exist.
base::Expected<SlurmEnds> ask_how_they_ended(const std::vector<std::uint32_t>& jobs, base::Duration patience);

} // namespace restart
