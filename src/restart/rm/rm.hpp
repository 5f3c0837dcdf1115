// The resource manager as restartd sees it. One implementation a product: slurm_rm.hpp.
//
// Calls block, for milliseconds when all is well and for tens of seconds when the controller is gone, and are
// made by one thread at a time, in the order in which their results are given to step() (event.hpp): a thread
// of their own, never one that serves agents.
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

    // What an earlier life of this daemon knew of jobs, before the first read(): for what this resource
    // manager does not keep itself.
    virtual void recall(const std::vector<RmJob>&) {}

    // Whether gangs start only on hosts that restartd chooses for them (PlaceJob): RmJob::home.
    virtual bool places_gangs() const { return false; }

    // What two readings are apart at least, whoever wants them; 0: they may follow each other.
    virtual base::Duration between_reads() const { return {}; }

    // All nodes and jobs at one moment; cheap when nothing has changed since the last call. Error:
    // Code::unavailable when it does not answer.
    virtual base::Expected<RmSnapshot> read() = 0;

    // What placement depends on, fresh; where gangs are placed, as of the last read(). Errors as read().
    virtual base::Expected<RmQueue> queue() = 0;

    // Puts the text where all who can see the job read it (QueueJob::shown), as sched::as_phrase has it with
    // at most sched::longest_shown bytes; "" takes it out. A job that is not there any more, or says so
    // already, is left alone. What another writes there in the same moment may be lost. Errors:
    // Code::unavailable, Code::denied.
    virtual base::Expected<void> write_why(base::JobId job, const std::string& text) = 0;

    // Whether the action can be done yet. One that cannot is kept, and this is asked again once a second.
    virtual bool is_ready(const Action&) { return true; }

    // Does the action, or finds that it has been done before: a host that is drained by our tag is not
    // drained again, a job that is past the action's epoch is only updated. What a job's user excluded stays
    // excluded, and a culprit that its user named is no longer asked for. Errors:
    // Code::unavailable when it does not answer, Code::not_found when host or job are not there any more,
    // Code::denied when a person's drain stands in the way or this process has no right to do it, Code::unfit
    // with its own words when it refuses for another reason.
    virtual base::Expected<void> perform(const Action& action) = 0;

    // What its accounting grants this user; as to every user where it has none, or does not know them. As it
    // knows it itself: where its accounting's database is away, what it knew last. Errors as read().
    virtual base::Expected<RmUser> user(const std::string& name) = 0;

    // Whether its daemon on this host lives, the host's agent being silent. Alone of all to be called by any
    // thread, beside other calls, and blocks for little longer than twice `patience`.
    virtual Life ask_host(const std::string& host, base::Duration patience) = 0;

    // Its words for people.
    virtual RmWords words() const = 0;

    // The user the resource manager runs as, who may do all that restartd may (Slurm: SlurmUser); none when
    // it is not known yet.
    virtual std::optional<std::uint32_t> owner() = 0;
};

} // namespace restart
