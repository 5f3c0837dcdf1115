// The resource manager as restartd sees it. One implementation per product: slurm_rm.hpp.
//
// Calls block, for milliseconds when all is well and for tens of seconds when the controller is gone, and are
// made by one thread at a time, in the order in which their results are passed to step() (event.hpp): by a
// dedicated thread, never one that serves agents.
#pragma once

#include "base/expected.hpp"
#include "restart/core/facts/action.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/core/facts/rm_queue.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

class ResourceManager {
public:
    virtual ~ResourceManager() = default;

    // What was known about jobs before a restart of this daemon; before the first read(): for what this
    // resource manager does not keep itself.
    virtual void recall(const std::vector<RmJob>&) {}

    // Whether gangs start only on hosts that restartd chooses for them (PlaceJob): RmJob::home.
    virtual bool places_gangs() const { return false; }

    // The minimum time between two readings, whatever the requests; 0: they may follow each other.
    virtual base::Duration between_reads() const { return {}; }

    // All nodes and jobs at one moment; cheap when nothing has changed since the last call. Error:
    // Code::unavailable when it does not answer.
    virtual base::Expected<RmSnapshot> read() = 0;

    // What placement depends on, newly read; where gangs are placed, as of the last read(). Errors as read().
    virtual base::Expected<RmQueue> queue() = 0;

    // Puts the text where everyone who can see the job reads it (QueueJob::shown), formatted by
    // sched::as_phrase with at most sched::longest_shown bytes; "" removes it. A job that no longer exists,
    // or has the text already, is left alone. What another program writes there at the same moment may be
    // lost. Errors: Code::unavailable, Code::denied.
    virtual base::Expected<void> write_why(base::JobId job, const std::string& text) = 0;

    // Whether the action can be done yet. One that cannot is kept, and this is called again once a second.
    virtual bool is_ready(const Action&) { return true; }

    // Does the action, or finds that it has been done before: a host that is drained by our tag is not
    // drained again, a job that is past the action's epoch is only updated. What a job's user excluded stays
    // excluded, and a culprit that its user named is no longer requested. Errors:
    // Code::unavailable when it does not answer, Code::not_found when host or job no longer exist,
    // Code::denied when an administrator's drain prevents it or this process lacks the right, Code::unfit
    // with its own message when it refuses for another reason.
    virtual base::Expected<void> perform(const Action& action) = 0;

    // What its accounting grants this user; the rights of every user if it has none, or does not know them.
    // By its own cached data: if its accounting's database is away, as last known. Errors as read().
    virtual base::Expected<RmUser> user(const std::string& name) = 0;

    // Whether its daemon on this host is alive, when the host's agent is silent. The only call that any
    // thread may make, in parallel with others; blocks for little longer than twice `patience`.
    virtual Life ask_host(const std::string& host, base::Duration patience) = 0;

    // Its terms, for display.
    virtual RmWords words() const = 0;

    // The user the resource manager runs as, who may do everything restartd may (Slurm: SlurmUser); none if
    // not known yet.
    virtual std::optional<std::uint32_t> owner() = 0;
};

} // namespace restart
