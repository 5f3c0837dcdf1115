// What step() may do and when: the part of railyard.conf(5) that decides.
#pragma once

#include "base/clock.hpp"
#include "base/conf.hpp"

#include <cstdint>

namespace restart {

struct Policy {
    bool observe_only = true;

    // Bounds of new drains; 0 sets none for the absolute ones. A share is rounded up to whole hosts.
    double max_drained_percent = 10;
    std::uint64_t max_drained_absolute = 0;
    std::uint64_t max_drained_per_unit = 0;

    // Node loss.
    base::Duration report_interval{1'000};
    base::Duration silent{3'000};
    base::Duration witness_wait{30'000};

    // Checkpoints.
    base::Duration mtbf_node{};
    base::Duration min_interval{}, max_interval{};
    double save_factor = 3;
    base::Duration save_min{}, save_max{};

    // A job requeued this often in all, or this often in a row without a newer checkpoint, is held.
    // 0 sets no bound.
    std::uint64_t max_requeues = 0;
    std::uint64_t no_progress = 0;

    // Failed actions are tried again after 1 s, 2 s, … at most this much.
    base::Duration retry_most{30'000};

    static Policy from(const base::Conf& conf);
};

} // namespace restart
