// railrun's interface to Slurm for its own job: uses Slurm's commands, since railrun must work with any
// release of Slurm. The words are fixed except for numbers.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/run/command.hpp"

#include <set>
#include <string>
#include <string_view>

namespace restart::run {

// The name by which the commands identify the job of this environment, without its array's other tasks: "12",
// "12_3". Errors (Code::usage): outside of a job, within a step, or in a heterogeneous job.
base::Expected<std::string> job_name(const Lookup& get);

// The job's current hosts, in Slurm's order: SLURM_JOB_NODELIST does not change when a host leaves the job.
// Errors: Code::unavailable if Slurm does not answer, or the job is not running.
base::Expected<Hosts> allocation_now(const std::string& job);
base::Expected<Hosts> read_allocation(std::string_view line); // squeue's "%T %N"

// Names of the job's steps, "12.0"; empty if Slurm does not answer. And killing them.
std::set<std::string> steps_of(const std::string& job);
void kill_steps(const std::set<std::string>& steps);

// A step of `each` processes on each host, with all GPUs of the job, next to everything that the job starts;
// `mpi`: one MPI program, whose processes print their results on standard output. `get`: the script's
// environment, without its own GPUs and rails. Pure.
Started step_on(const Words& check, const Hosts& hosts, std::size_t each, bool mpi, const Lookup& get);

// Errors: Code::unfit with Slurm's reason.
base::Expected<void> requeue(const std::string& job);

} // namespace restart::run
