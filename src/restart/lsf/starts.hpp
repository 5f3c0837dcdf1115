// How often a job was started, which LSF does not report: counted in a file next to LSF's files for the job
// in its user's home, where all starts find it, on any host.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <string>

namespace restart::lsf {

// Returns the number of earlier starts, 0 at the first, and counts this one. `job_file` is LSB_JOBFILENAME,
// "/home/alice/.lsbatch/1795310203.7"; the count is in "….rail" next to it. A file without a number counts as
// 0. Errors: Code::usage for a path that is not absolute, Code::io.
base::Expected<std::uint32_t> count_start(const std::string& job_file);

} // namespace restart::lsf
