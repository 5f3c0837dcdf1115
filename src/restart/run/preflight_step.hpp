// railrun --preflight: before the script of a job begins, spank_rail runs it to check the job's hosts, by a
// railcheck step on each of them, and to decide where the job runs. Manual: railrun(1).
#pragma once

#include "restart/run/own_job.hpp"
#include "restart/run/preflight.hpp"
#include "sched/ask/preflight_wish.hpp"

#include <functional>

namespace restart::run {

// Runs railcheck on all hosts of the job and reads its results until it has ended or the time is over; then
// kills the rest of the step.
Heard try_hosts(OwnJob& job, const Seats& seats, const sched::PreflightWish& wish,
                const std::string& railcheck);

// The complete preflight: returns the seats on which the job should start, if they differ from `seats`. A job
// that restartd requeues instead ends in this call. `say` reports to the job's user.
std::optional<Seats> preflight(OwnJob& job, const Seats& seats, const sched::PreflightWish& wish,
                               const std::string& railcheck, const Lookup& get,
                               const std::function<void(const std::string&)>& say);

} // namespace restart::run
