// How often a job was started, which LSF tells nobody: counted in a file beside those that LSF keeps of the
// job in its user's home, where all starts find it, on whatever host.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <string>

namespace restart::lsf {

// The starts before this one, which is counted: 0 at the first. `job_file` is LSB_JOBFILENAME,
// "/home/alice/.lsbatch/1795310203.7"; the count is in "….rail" beside it. A file without a number counts as
// none. Errors: Code::usage for a path that is not absolute, Code::io.
base::Expected<std::uint32_t> count_start(const std::string& job_file);

} // namespace restart::lsf
