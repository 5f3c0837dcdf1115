// What step() may do and when: the keys of railyard.conf(5) that decide this.
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"
#include "restart/core/facts/idle_check.hpp"
#include "restart/core/facts/ladder.hpp"
#include "restart/core/facts/rm.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace restart {

struct Policy {
    bool observe_only = true;

    // Bounds of new drains; for the absolute ones 0 means no bound. A share is rounded up to whole hosts.
    double max_drained_percent = 10;
    std::uint64_t max_drained_absolute = 0;
    std::uint64_t max_drained_per_unit = 0, max_drained_per_leaf = 0, max_drained_per_pod = 0;
    std::uint64_t max_drained_per_hour = 0; // begun

    // Node loss.
    base::Duration report_interval{1'000};
    base::Duration silent{3'000};
    base::Duration witness_wait{30'000};
    base::Duration group_wait{600'000}; // how long hosts silent together are attributed to one cause
    // Bounds on losses that the resource manager alone confirms, within the window.
    base::Duration lost_window{3'600'000};
    double max_lost_percent = 10;
    std::uint64_t max_lost_per_unit = 0;

    // What hosts share: the rack of each by [topology] groups, and how long to wait for a switch.
    std::map<std::string, std::string, std::less<>> racks{};
    base::Duration switch_restart{};

    // Checkpoints.
    base::Duration mtbf_node{}, repair_time{}; // assumed until the journal shows otherwise,
    base::Duration lemon_half_life = std::chrono::days(14);
    double prior_faults = 1; // with the weight of this many faults
    base::Duration min_interval{}, max_interval{};
    double save_factor = 3;
    base::Duration save_min{}, save_max{};

    // A job that failed on its own this often (halved by each day of progress), or this often since its
    // newest checkpoint, is held. 0 means no bound; --restart-max replaces both.
    std::uint64_t max_requeues = 0;
    std::uint64_t no_progress = 0;

    // What decisions by cost assume (decide/cost.hpp).
    base::Duration horizon{}, requeue_time{}, restart_time{};

    RepairPolicy repair{}; // how hosts come back

    // Judgements of a job's pace (straggle/): how often, 0 never; the least share of its time that a cause
    // must cost; and the least confidence for naming it.
    base::Duration straggler_every{30'000};
    double straggler_least = 0.05, straggler_confidence = 0.6;

    IdleCheckPolicy idle_checks{}; // of hosts that no job uses

    // A gang that did not start within this time on the hosts it was given is placed again (LSF).
    base::Duration start_within{60'000};
    // After this long without an answer an agent ends the processes that a job's own starter keeps (LSF); 0:
    // never.
    base::Duration cut_off_after{20'000};

    // Failed actions are tried again after 1 s, 2 s, … at most this much.
    base::Duration retry_most{30'000};

    RmWords words{}; // the resource manager's; not from the configuration

    static Policy from(const base::Conf& conf);

    // Hosts that gave their last signs of life within this time of each other fell silent, or went dark,
    // together: a failing network affects all at once, but not all report at the same moment.
    base::Duration together() const { return 4 * silent; }

    bool operator==(const Policy&) const = default;
};

} // namespace restart
