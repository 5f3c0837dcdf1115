// The job that railrun belongs to, with one implementation for each resource manager. They differ in how to
// find the job's hosts, how to pass hosts to a launch, and how to end its leftovers.
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "restart/run/command.hpp"
#include "restart/run/seats.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sys/signalfd.h>
#include <vector>

namespace restart::run {

// A command with the hosts on which it runs another.
struct OnHosts {
    Started started;
    Hosts hosts;
};

class OwnJob {
public:
    virtual ~OwnJob() = default;

    // For the agent: the job's number, and how often the job itself was started before; none if the
    // environment does not contain it.
    virtual std::optional<base::JobId> id() const = 0;
    virtual std::optional<std::uint32_t> starts_before() const = 0;

    // The job's current hosts, in the resource manager's order. Errors: Code::unavailable if it does not
    // answer.
    virtual base::Expected<Hosts> hosts() = 0;

    // Like check_command() and command_on() of command.hpp.
    virtual base::Expected<void> check(const Given& given, const Seats& seats) const = 0;
    virtual Started command_on(const Given& given, const Seats& seats, const Hosts& allocation,
                               const std::string& hostfile) const = 0;

    // Commands that run `check` once on each of these hosts, in parallel, with all GPUs of the job, and pass
    // on its output. They tell each `check` that `hosts` take part, in this order, unless the resource
    // manager's launcher does.
    virtual std::vector<OnHosts> on_each(const Words& check, const Hosts& hosts) const = 0;

    // An MPI program that is `check`, `each` processes on each of these hosts, in blocks of hosts, with all
    // GPUs of the job. `hostfile`: the path at which its launcher finds the hosts.
    virtual Started by_mpi(const Words& check, const Hosts& hosts, std::size_t each,
                           const std::string& hostfile) const = 0;

    // Kills what the launches started so far still run; earlier processes are left alone. Takes seconds at
    // most.
    virtual void kill_launches() = 0;
    // Call before another launch: the last one has ended, and no part of it may continue.
    virtual void clear_before_launch() {}

    // Whether the resource manager sent this signal to the launcher as well as to railrun.
    virtual bool reached_launcher(const signalfd_siginfo&) const { return false; }

    // Whether the job may be requeued from here, and doing so. Errors: Code::unfit with the resource
    // manager's reason.
    virtual bool may_requeue() const = 0;
    virtual base::Expected<void> requeue() = 0;

    // Whether spares can read ahead (--warm): as a step next to the launch.
    virtual bool can_warm() const = 0;
};

// The job of this environment. Errors (Code::usage): not in a job's script.
base::Expected<std::unique_ptr<OwnJob>> own_job(const Lookup& get);

// For own_job(): one for each resource manager.
base::Expected<std::unique_ptr<OwnJob>> own_slurm_job(const Lookup& get);
base::Expected<std::unique_ptr<OwnJob>> own_lsf_job(const Lookup& get);

} // namespace restart::run
