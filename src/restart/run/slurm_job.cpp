#include "restart/run/slurm_job.hpp"

#include "base/child.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::run {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr base::Duration patience{5'000};

// SQUEUE_* and SCANCEL_* change what the commands do, SLURM_CLUSTERS the cluster that is asked.
const std::vector<std::string> left_out = {"SQUEUE_", "SCANCEL_", "SCONTROL_", "SLURM_CLUSTERS="};

bool is_number(const std::optional<std::string>& text) {
    return text && base::parse_count(*text).has_value();
}

} // namespace

Expected<std::string> job_name(const Lookup& get) {
    const auto job = get("SLURM_JOB_ID");
    if (!is_number(job))
        return Error{Code::usage, "SLURM_JOB_ID is not set: run it in the batch script of a job (sbatch)"};
    if (get("SLURM_HET_SIZE"))
        return Error{Code::usage, "a heterogeneous job loses whole components: leave railrun out, restartd "
                                  "requeues the job"};
    const auto step = get("SLURM_STEP_ID"); // a batch script and an interactive step have ten digits
    if (step && step->size() < 10)
        return Error{Code::usage, "this is a step already: run it in the job's batch script"};
    const auto array = get("SLURM_ARRAY_JOB_ID"), task = get("SLURM_ARRAY_TASK_ID");
    return is_number(array) && is_number(task) ? fmt::format("{}_{}", *array, *task) : *job;
}

Expected<Hosts> read_allocation(std::string_view line) {
    line = line.substr(0, line.find('\n'));
    const auto space = line.find(' ');
    if (space == std::string_view::npos) return Error{Code::unavailable, "squeue does not know the job"};
    if (line.substr(0, space) != "RUNNING")
        return Error{Code::unavailable, fmt::format("the job is {}", line.substr(0, space))};
    auto hosts = base::expand_hostlist(line.substr(space + 1));
    if (!hosts) return std::move(hosts).error().within("squeue");
    return hosts;
}

Expected<Hosts> allocation_now(const std::string& job) {
    const auto text =
        base::output_of({"squeue", "--noheader", "--jobs=" + job, "--format=%T %N"}, patience, left_out);
    if (!text) return Error{Code::unavailable, text.error().text};
    return read_allocation(*text);
}

std::set<std::string> steps_of(const std::string& job) {
    std::set<std::string> steps;
    const auto text = base::output_of({"squeue", "--steps", "--noheader", "--jobs=" + job, "--format=%i"},
                                      patience, left_out);
    if (!text) return steps;
    for (std::string_view rest = *text; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const auto dot = line.find('.'); // not 12.batch and 12.extern
        if (dot != std::string_view::npos && is_number(std::string(line.substr(dot + 1))))
            steps.emplace(line);
    }
    return steps;
}

void kill_steps(const std::set<std::string>& steps) {
    std::vector<std::string> words = {"scancel", "--quiet", "--signal=KILL"};
    words.insert(words.end(), steps.begin(), steps.end());
    if (!steps.empty()) static_cast<void>(base::output_of(words, patience, left_out).has_value());
}

Expected<void> requeue(const std::string& job) {
    const auto done = base::run_to_end({"scontrol", "requeue", job}, patience);
    if (!done) return Error{Code::unfit, done.error().text};
    if (done->status != 0) return Error{Code::unfit, done->output.substr(0, done->output.find('\n'))};
    return {};
}

} // namespace restart::run
