// Parses what squeue and sinfo print about the jobs that hold hosts and about unavailable hosts.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "sched/outlook.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sched {

// A time as Slurm prints it, in local time: "2026-03-01T14:20:00", seconds optional. Errors: Code::input.
base::Expected<base::Time> parse_moment(std::string_view text);

// Lines "JOB END HOSTLIST", as squeue -h -t R -o "%A %e %N" prints them; END is a time or a word for none
// (NONE, N/A, Unknown, UNLIMITED). Lines that start with '#' are comments. Hosts outside the fabric are
// ignored. Errors (Code::input) read "NAME:LINE: …".
base::Expected<std::vector<Holder>> parse_holders(std::string_view text, std::string_view name,
                                                  const topo::Fabric& fabric);

// Lines "HOST REASON …", as sinfo -h -N -o "%N %E" prints them, in the format of Remarks::why (remark_of).
// Otherwise like parse_holders.
base::Expected<std::vector<std::string>> parse_reasons(std::string_view text, std::string_view name,
                                                       const topo::Fabric& fabric);

} // namespace sched
