// What is known of LSF's jobs over time. LSF lists what is now: how often a job began, that one which is gone
// from the list was only requeued, and which hosts it must not use, follow from what was seen before. Pure;
// times are the caller's.
//
// A job that is requeued shows as EXIT, or not at all, for some seconds before it shows as PEND: its end
// counts only when it has lasted for `settles`.
#pragma once

#include "base/clock.hpp"
#include "base/job_id.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/core/facts/rm_queue.hpp"
#include "restart/rm/lsf_shares.hpp"
#include "restart/rm/lsf_text.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace restart {

// The queues that gangs go through (railyard.conf(5), table [lsf]).
struct LsfQueues {
    std::vector<std::string> parking; // they wait in one of these,
    std::string run;                  // and are started from this one; empty where they
    bool held = false;                // wait held (PSUSP), and start from the queue they wait in
    bool parks(const std::string& queue) const;
    bool manages(const std::string& queue) const { return (!held && queue == run) || parks(queue); }
};

class LsfJobs {
public:
    // `own`: the user as whom this runs, whose jobs may be those that try idle hosts (check_job.hpp); empty:
    // there are none of these.
    LsfJobs(LsfQueues queues, base::Duration settles, std::string own = {})
        : queues_(std::move(queues)), settles_(settles), own_(std::move(own)) {}

    // Before the first list: what an earlier life knew.
    void recall(const std::vector<RmJob>& known);

    // The time of day was set, by so much: what `settles` and ages are counted from moves with it.
    void clock_set(base::Duration by);

    // A new list. Rows that are there twice are left as they were; `odd()` names them.
    void take(const std::vector<LsfJobRow>& rows, base::Time now);
    const std::vector<base::JobId>& odd() const { return odd_; }

    // Jobs in managed queues, and `own`'s, whose details are not known, are older than `age`, or may have
    // changed; among them those that are gone and whose end is not known yet. At most `most`: those that do
    // not wait first, then those of which nothing is known, as LSF lists them.
    std::vector<base::JobId> unknown(base::Time now, base::Duration age, std::size_t most) const;
    // The details of these; without them, they are not there any more.
    void take(const std::vector<base::JobId>& asked, const std::map<base::JobId, LsfJobDetails>& details,
              base::Time now);

    // Adds hosts to those that the job must not use, and takes others out. False: the job is not known.
    bool exclude(base::JobId id, const std::vector<std::string>& add,
                 const std::vector<std::string>& readmit);

    // The job is about to be held by us, as one that `waits` or from where it runs: that hold is not its
    // user's. One that is held already is ours only if it became so while nobody saw it, between two lives of
    // this daemon.
    void expect_hold(base::JobId id, bool waits, base::Time now);
    void expect_no_hold(base::JobId id); // it was refused, or undone
    // Started while they were being held, and stopped by that: to be resumed.
    std::vector<base::JobId> stopped(base::Time now) const;

    // Null: not known.
    // What failed was ended by a person: it is not shown any more.
    void set_over(base::JobId id);
    const RmJob* find(base::JobId id) const;
    const LsfJobDetails* details(base::JobId id) const;
    std::vector<const RmJob*> gangs_on(const std::string& host) const; // that run there

    // Whether a job waits that could use the host: nobody holds it, and the host is not excluded from it.
    // Which hosts its queue has is not known.
    bool is_wanted(const std::string& host) const;
    bool is_tried(const std::string& host) const; // by a job of ours, whether it runs or waits

    // All whose details are known as far as they are needed, by id.
    std::vector<RmJob> jobs(const std::function<std::uint32_t(const std::string&)>& uid) const;
    // Those that wait in parking queues, or run. Those that wait for hosts come first, in LSF's order: queues
    // of a higher priority before others, in one with shares by fair_order(), else as listed.
    std::vector<QueueJob> queue(const std::map<std::string, std::int64_t>& priorities,
                                const LsfShares& shares,
                                const std::function<std::uint32_t(const std::string&)>& uid) const;

    // Of the gangs that wait in queues of these.
    std::set<std::string> users(const LsfShares& shares) const;

private:
    struct Known {
        RmJob job;
        std::string user, state;
        std::uint32_t slots = 0;
        std::size_t place = 0;           // in the list
        std::optional<base::Time> gone;  // from the list since, or ended in it
        std::optional<base::Time> asked; // its details
        std::optional<LsfJobDetails> details;
        sched::Hints hints;
        std::optional<base::Time> ordered_hold; // ours is under way since then,
        bool ordered_waiting = false;           // ordered while it waited
        bool held_before = false;               // as an earlier life knew it
        bool unseen_hold = false;               // it became held between two lives of this daemon
        bool fresh = true;                      // whose hold it has is read off its line
        bool over = false;                      // its end is known
        bool unreadable = false;                // its details are not those of the job in the list
        bool recalled = false; // what an earlier life knew of it stands until its details are asked for
    };

    static void begin(Known& known, const LsfJobRow& row, base::Time now);
    void take_row(const LsfJobRow& row, std::size_t place, base::Time now);
    static void take_hold(Known& known, const std::string& before, base::Time now);
    void end_of(Known& known, base::Time now) const;
    static bool managed(const Known& known) { return !known.job.home.empty(); }
    bool is_looked_into(const Known& known) const {
        return managed(known) || (!own_.empty() && known.user == own_);
    }
    bool waits_for_hosts(const Known& known) const;
    QueueJob queue_job(const Known& known) const;
    std::vector<std::pair<const Known*, std::optional<double>>>
    in_order(const std::map<std::string, std::int64_t>& priorities, const LsfShares& shares) const;

    LsfQueues queues_;
    base::Duration settles_;
    std::string own_;
    std::map<base::JobId, Known> jobs_;
    std::vector<base::JobId> odd_;
};

} // namespace restart
