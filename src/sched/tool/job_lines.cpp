#include "sched/tool/job_lines.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace sched::tool {

using base::Code;
using base::Error;

base::Expected<std::vector<JobLine>> read_job_lines(const std::string& path, const std::string& form) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    std::vector<JobLine> jobs;
    std::set<std::string> names;
    std::string_view rest = *text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const auto end = rest.find('\n');
        auto line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        const auto start = line.find_first_not_of(" \t\r");
        if (start == std::string_view::npos || line[start] == '#') continue;
        line.remove_prefix(start);
        const auto stop = std::min(line.find_first_of(" \t\r"), line.size());
        JobLine job{std::string(line.substr(0, stop)), std::string(line.substr(stop)),
                    fmt::format("{}:{}", path == "-" ? "standard input" : path, number)};
        if (job.name.front() == '-')
            return Error{Code::usage,
                         fmt::format("{}: {}: a job's name comes before its options", job.where, job.name)};
        if (!names.insert(job.name).second)
            return Error{Code::usage,
                         fmt::format("{}: {}: a job of this name stands above", job.where, job.name)};
        jobs.push_back(std::move(job));
    }
    if (jobs.empty()) return Error{Code::input, fmt::format("{}: names no job: lines are {}", path, form)};
    return jobs;
}

} // namespace sched::tool
