// Job files: one line per job, which begins with its name.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <vector>

namespace sched::tool {

struct JobLine {
    std::string name;
    std::string rest;  // of the line, after the name
    std::string where; // "jobs.txt:3", for messages
};

// "-" is standard input; empty lines and lines that start with '#' are skipped. Errors: those of reading the
// file; Code::usage for a line without a name or a duplicate name; Code::input for a file without jobs, where
// `form` describes the lines.
base::Expected<std::vector<JobLine>> read_job_lines(const std::string& path, const std::string& form);

} // namespace sched::tool
