// The job that railrun is part of, as its resource manager has it: one implementation a product. What
// differs: who says which hosts the job has, how a launch is told its hosts, and how what is left of one is
// ended.
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

// A command that was told the hosts on which it runs another.
struct OnHosts {
    Started started;
    Hosts hosts;
};

class OwnJob {
public:
    virtual ~OwnJob() = default;

    // For the agent: the job's number, and how often the job itself was started before; none where the
    // environment does not say.
    virtual std::optional<base::JobId> id() const = 0;
    virtual std::optional<std::uint32_t> starts_before() const = 0;

    // The job's hosts now, in the resource manager's order. Errors: Code::unavailable when it does not say.
    virtual base::Expected<Hosts> hosts() = 0;

    // As check_command() and command_on() of command.hpp.
    virtual base::Expected<void> check(const Given& given, const Seats& seats) const = 0;
    virtual Started command_on(const Given& given, const Seats& seats, const Hosts& allocation,
                               const std::string& hostfile) const = 0;

    // What runs `check` once on each of these hosts, all at once, with all GPUs of the job, and hands on what
    // it prints. Each is to be told that `hosts` take part, in this order, where the resource manager's
    // launcher does not say so.
    virtual std::vector<OnHosts> on_each(const Words& check, const Hosts& hosts) const = 0;

    // An MPI program that is `check`, `each` processes on each of these hosts, in blocks of hosts, with all
    // GPUs of the job. `hostfile`: the path at which its launcher finds the hosts.
    virtual Started by_mpi(const Words& check, const Hosts& hosts, std::size_t each,
                           const std::string& hostfile) const = 0;

    // Ends by force what the launches that have been begun still run; what was there before stays. Takes
    // seconds at most.
    virtual void kill_launches() = 0;
    // Before another launch: the last one has ended, and nothing of it may go on.
    virtual void clear_before_launch() {}

    // Whether the resource manager sent this signal to the launcher as well as to railrun.
    virtual bool reached_launcher(const signalfd_siginfo&) const { return false; }

    // Whether the job may be put back into the queue from here, and doing so. Errors: Code::unfit with the
    // resource manager's reason.
    virtual bool may_requeue() const = 0;
    virtual base::Expected<void> requeue() = 0;

    // Whether spares can read ahead (--warm): as a step beside the launch.
    virtual bool can_warm() const = 0;
};

// The job of this environment. Errors (Code::usage): it is in no job's script.
base::Expected<std::unique_ptr<OwnJob>> own_job(const Lookup& get);

// One for each resource manager, for own_job().
base::Expected<std::unique_ptr<OwnJob>> own_slurm_job(const Lookup& get);
base::Expected<std::unique_ptr<OwnJob>> own_lsf_job(const Lookup& get);

} // namespace restart::run
