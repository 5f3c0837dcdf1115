// What is known about LSF's jobs over time. LSF lists only the present: how often a job began, that one
// missing from the list was only requeued, and which hosts it must not use, follow from earlier lists. Pure;
// times are the caller's.
//
// A requeued job shows as EXIT, or not at all, for some seconds before it shows as PEND: its end counts only
// when it has lasted for `settles`.
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
    std::string run;                  // and are started from this one; empty if they
    bool held = false;                // wait held (PSUSP), and start from the queue they wait in
    bool parks(const std::string& queue) const;
    bool manages(const std::string& queue) const { return (!held && queue == run) || parks(queue); }
};

class LsfJobs {
public:
    // `own`: the user as whom this runs, whose jobs may be idle checks (check_job.hpp); empty: none of them
    // are.
    LsfJobs(LsfQueues queues, base::Duration settles, std::string own = {})
        : queues_(std::move(queues)), settles_(settles), own_(std::move(own)) {}

    // Before the first list: what was known before a restart.
    void recall(const std::vector<RmJob>& known);

    // The time of day was set, by this much: the start of `settles` and ages moves with it.
    void clock_set(base::Duration by);

    // A new list. Rows that appear twice are left as they were; `odd()` names them.
    void take(const std::vector<LsfJobRow>& rows, base::Time now);
    const std::vector<base::JobId>& odd() const { return odd_; }

    // Jobs in managed queues, and `own`'s, whose details are not known, are older than `age`, or may have
    // changed; among them those that are gone and whose end is not known yet. At most `most`: those that do
    // not wait first, then those without any details, in LSF's order.
    std::vector<base::JobId> unknown(base::Time now, base::Duration age, std::size_t most) const;
    // The details of these; those without details no longer exist.
    void take(const std::vector<base::JobId>& asked, const std::map<base::JobId, LsfJobDetails>& details,
              base::Time now);

    // Adds hosts to those that the job must not use, and removes others. False: the job is not known.
    bool exclude(base::JobId id, const std::vector<std::string>& add,
                 const std::vector<std::string>& readmit);

    // We are about to hold the job, as one that `waits` or from where it runs: that hold is not its user's. A
    // hold that exists already is ours only if it began unseen, during a restart of this daemon.
    void expect_hold(base::JobId id, bool waits, base::Time now);
    void expect_no_hold(base::JobId id); // it was refused, or undone
    // Started while they were being held, and stopped by that: to be resumed.
    std::vector<base::JobId> stopped(base::Time now) const;

    // Null: not known.
    // A failed job that was ended by a user or administrator: it is no longer shown.
    void set_over(base::JobId id);
    const RmJob* find(base::JobId id) const;
    const LsfJobDetails* details(base::JobId id) const;
    std::vector<const RmJob*> gangs_on(const std::string& host) const; // that run there

    // Whether a waiting job could use the host: it is not held, and does not exclude the host. Which hosts
    // its queue has is not known.
    bool is_wanted(const std::string& host) const;
    bool is_tried(const std::string& host) const; // by a job of ours, running or waiting

    // All whose details are known as far as needed, by id.
    std::vector<RmJob> jobs(const std::function<std::uint32_t(const std::string&)>& uid) const;
    // Those that wait in parking queues, or run. Those that wait for hosts come first, in LSF's order: queues
    // of a higher priority before others, in one with shares by fair_order(), else as listed.
    std::vector<QueueJob> queue(const std::map<std::string, std::int64_t>& priorities,
                                const LsfShares& shares,
                                const std::function<std::uint32_t(const std::string&)>& uid) const;

    // Of the gangs that wait in these queues.
    std::set<std::string> users(const LsfShares& shares) const;

private:
    struct Known {
        RmJob job;
        std::string user, state;
        std::uint32_t slots = 0;
        std::size_t place = 0;           // in the list
        std::optional<base::Time> gone;  // since when it is missing in the list, or ended in it
        std::optional<base::Time> asked; // its details
        std::optional<LsfJobDetails> details;
        sched::Hints hints;
        std::optional<base::Time> ordered_hold; // our hold is under way since then,
        bool ordered_waiting = false;           // ordered while it waited
        bool held_before = false;               // as known before a restart
        bool unseen_hold = false;               // its hold began during a restart of this daemon
        bool fresh = true;                      // whether its user holds it is read from its line
        bool over = false;                      // its end is known
        bool unreadable = false;                // its details are not those of the job in the list
        bool recalled = false; // what was known before a restart is used until its details are read
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
