#include "restart/run/slurm_job.hpp"

#include "base/child.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/run/own_job.hpp"
#include "spank/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace restart::run {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr base::Duration patience{5'000};

// SQUEUE_* and SCANCEL_* change what the commands do, SLURM_CLUSTERS the cluster.
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

Started step_on(const Words& check, const Hosts& hosts, std::size_t each, bool mpi, const Lookup& get) {
    Started step;
    // --overlap: it takes no resources that the script's own steps could wait for, and shares the job's GPUs.
    step.words = {"srun",
                  "--quiet",
                  "--overlap",
                  fmt::format("--nodes={}", hosts.size()),
                  fmt::format("--ntasks={}", hosts.size() * each),
                  fmt::format("--ntasks-per-node={}", each),
                  "--nodelist=" + base::fold_hostlist(hosts),
                  "--no-kill",
                  fmt::format("--kill-on-bad-exit={}", mpi ? 1 : 0),
                  mpi ? "--mpi=pmix" : "--mpi=none",
                  "--input=none",
                  "--job-name=rail-preflight"};
    if (mpi) step.words.insert(step.words.end(), {"--error=none", "--distribution=block", "--cpu-bind=none"});
    step.words.insert(step.words.end(), check.begin(), check.end());
    for (const char* name :
         {"SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_NTASKS_PER_NODE", "SLURM_CPU_BIND",
          "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_EXCLUSIVE",
          "SLURM_EXACT", "SLURM_GPUS_PER_TASK", "RAIL_PREFLIGHT"})
        step.environment[name] = std::nullopt;
    for (const auto& name : spank::claimed("RAIL_EXPORTS", get))
        step.environment[name] = std::nullopt;
    step.environment["RAIL_BIND"] = "off"; // all GPUs of the job, regardless of the rank's share
    return step;
}

Expected<void> requeue(const std::string& job) {
    const auto done = base::run_to_end({"scontrol", "requeue", job}, patience);
    if (!done) return Error{Code::unfit, done.error().text};
    if (done->status != 0) return Error{Code::unfit, done->output.substr(0, done->output.find('\n'))};
    return {};
}

namespace {

class SlurmJob final : public OwnJob {
public:
    SlurmJob(std::string name, Lookup get)
        : name_(std::move(name)), get_(std::move(get)), steps_before_(steps_of(name_)) {}

    std::optional<base::JobId> id() const override {
        const auto id = base::JobId::parse(get_("SLURM_JOB_ID").value_or(""));
        return id ? std::optional(*id) : std::nullopt;
    }
    std::optional<std::uint32_t> starts_before() const override {
        const auto count = base::parse_count(get_("SLURM_RESTART_COUNT").value_or("0"));
        if (!count || *count > std::numeric_limits<std::uint32_t>::max()) return {};
        return static_cast<std::uint32_t>(*count);
    }
    Expected<Hosts> hosts() override { return allocation_now(name_); }
    Expected<void> check(const Given& given, const Seats& seats) const override {
        return check_command(given, seats);
    }
    Started command_on(const Given& given, const Seats& seats, const Hosts& allocation,
                       const std::string& hostfile) const override {
        return run::command_on(given, seats, allocation, hostfile);
    }
    std::vector<OnHosts> on_each(const Words& check, const Hosts& hosts) const override {
        return {{step_on(check, hosts, 1, false, get_), hosts}};
    }
    Started by_mpi(const Words& check, const Hosts& hosts, std::size_t each,
                   const std::string&) const override {
        return step_on(check, hosts, each, true, get_);
    }
    void kill_launches() override {
        auto steps = steps_of(name_);
        std::erase_if(steps, [&](const std::string& step) { return steps_before_.contains(step); });
        kill_steps(steps);
    }
    bool may_requeue() const override { return true; }
    Expected<void> requeue() override { return run::requeue(name_); }
    bool can_warm() const override { return true; }

private:
    std::string name_;
    Lookup get_;
    std::set<std::string> steps_before_;
};

} // namespace

Expected<std::unique_ptr<OwnJob>> own_slurm_job(const Lookup& get) {
    auto name = job_name(get);
    if (!name) return std::move(name).error();
    return std::unique_ptr<OwnJob>(std::make_unique<SlurmJob>(*std::move(name), get));
}

} // namespace restart::run
