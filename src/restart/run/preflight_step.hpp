// railrun --preflight: before the script of a job begins, spank_rail has it try the job's hosts, by a step of
// railcheck on each of them, and say where the job is to run. Manual: railrun(1).
#pragma once

#include "restart/run/own_job.hpp"
#include "restart/run/preflight.hpp"
#include "sched/ask/preflight_wish.hpp"

#include <functional>

namespace restart::run {

// Starts railcheck on all hosts of the job and hears it, until it has ended or the time is over; then what is
// left of the step is ended by force.
Heard try_hosts(OwnJob& job, const Seats& seats, const sched::PreflightWish& wish,
                const std::string& railcheck);

// The whole of it: returns the seats on which the job is to start, where they are others than `seats`. A job
// that restartd requeues instead ends in here. `say` tells the job's user.
std::optional<Seats> preflight(OwnJob& job, const Seats& seats, const sched::PreflightWish& wish,
                               const std::string& railcheck, const Lookup& get,
                               const std::function<void(const std::string&)>& say);

} // namespace restart::run
