// What railrun asks Slurm of its own job, and asks of it: by Slurm's commands, for railrun is run where any
// release of Slurm may be. The words are fixed but for numbers.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/run/command.hpp"

#include <set>
#include <string>
#include <string_view>

namespace restart::run {

// By what name the commands know the job of this environment and none of its array's other tasks: "12",
// "12_3". Errors (Code::usage): outside of a job, within a step, or in a heterogeneous job.
base::Expected<std::string> job_name(const Lookup& get);

// The job's hosts now, in Slurm's order: SLURM_JOB_NODELIST stays as it was when a host has left the job.
// Errors: Code::unavailable when Slurm does not say, or the job does not run.
base::Expected<Hosts> allocation_now(const std::string& job);
base::Expected<Hosts> read_allocation(std::string_view line); // squeue's "%T %N"

// Names of the job's steps, "12.0"; empty where Slurm does not say. And their end by force.
std::set<std::string> steps_of(const std::string& job);
void kill_steps(const std::set<std::string>& steps);

// A step of `each` processes on each host, with all GPUs of the job, beside all that the job starts; `mpi`:
// one MPI program, whose processes say on standard output what is to be heard of them. `get`: the script's
// environment, in which its own GPUs and rails are left out. Pure.
Started step_on(const Words& check, const Hosts& hosts, std::size_t each, bool mpi, const Lookup& get);

// Errors: Code::unfit with Slurm's reason.
base::Expected<void> requeue(const std::string& job);

} // namespace restart::run
