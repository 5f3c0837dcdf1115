// Files of jobs: a line a job, its name first.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <vector>

namespace sched::tool {

struct JobLine {
    std::string name;
    std::string rest;  // of the line, behind the name
    std::string where; // "jobs.txt:3", for messages
};

// "-" is standard input; empty lines and those that start with '#' are left out. Errors: the file's;
// Code::usage for a line without a name or a name given twice; Code::input for a file without a job, where
// `form` says what its lines are.
base::Expected<std::vector<JobLine>> read_job_lines(const std::string& path, const std::string& form);

} // namespace sched::tool
