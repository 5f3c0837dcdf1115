// Which jobs hold which hosts until when, for the dispatcher: the hosts' states at any later moment if every
// job runs until its limit. Pure.
//
// Jobs without a limit end after `beyond`, one per second in the order in which they started: so jobs with
// and without an end time are ordered on the same time line.
#pragma once

#include "sched/lsf/dispatch.hpp"

#include <span>
#include <vector>

namespace sched::lsf {

// Later than any real moment (the year 4970): a job that "ends" then has no limit.
inline constexpr base::Time beyond{std::chrono::hours(24 * 365 * 3000LL)};

// Hosts that a gang takes from one moment to another; refers to the list of hosts.
struct Claim {
    base::Time from, to;
    const std::vector<std::uint32_t>* hosts;
    std::uint32_t slots; // 0: the whole hosts
};

class Timeline {
public:
    // Keeps references to both. The queue's snapshot has as many hosts as the fabric.
    Timeline(const Queue& queue, const Options& options);

    base::Time now() const { return queue_.now; }
    // The end of a gang that starts at `from`; without a limit, or if `from` is unknown: never.
    static base::Time end_of(base::Time from, std::optional<base::Duration> limit);
    // Starts a gang now, until `to`, or without a limit: then it ends after all others without one.
    void start(const std::vector<std::uint32_t>& hosts, std::uint32_t slots, base::Time to);

    // The moments after now at which hosts become free, ascending.
    std::vector<base::Time> moments() const;

    // The hosts as seen at `from` by a gang that requests `slots` on each, without those that a claim takes
    // at any moment before `to`. Valid until the next call.
    const Snapshot& at(base::Time from, base::Time to, std::uint32_t slots, std::span<const Claim> claims);
    // As if no job held anything and no host were drained: the most that the gang can ever have.
    const Snapshot& empty(std::uint32_t slots);

    // The jobs without a limit that end by `until` and hold one of these hosts, ascending.
    std::vector<base::JobId> unlimited(base::Time until, const std::vector<std::uint32_t>& hosts) const;

private:
    struct Hold {
        base::Time until{};
        std::uint32_t slots = 0; // 0: the whole host
    };

    std::uint32_t slots_of(std::size_t host) const {
        return host < queue_.slots.size() ? queue_.slots[host] : 0;
    }
    void hold(std::uint32_t host, Hold hold);
    void read_holders();
    HostState shared_state(std::uint32_t host, base::Time from, std::uint32_t slots,
                           std::uint32_t claimed) const;

    const Queue& queue_;
    const bool share_;
    std::int64_t unlimited_ = 1;           // jobs without a limit so far, and one for the unnamed ones
    std::vector<base::Time> until_;        // by host: when all its holders have ended
    std::vector<std::vector<Hold>> holds_; // by host; only if hosts are shared
    std::vector<std::pair<base::Time, const Holder*>> endless_; // holders without a limit and their ends
    std::vector<std::uint32_t> claimed_;                        // by host, in at(): slots taken by claims
    Snapshot view_;
};

} // namespace sched::lsf
