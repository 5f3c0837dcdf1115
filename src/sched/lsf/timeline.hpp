// Who holds which hosts until when, as the dispatcher sees it: the hosts' states at any later moment, when
// every job runs until its limit. Pure.
//
// Jobs without a limit end after `beyond`, one a second in the order in which they started: one order of
// moments serves for those with a time and those without.
#pragma once

#include "sched/lsf/dispatch.hpp"

#include <span>
#include <vector>

namespace sched::lsf {

// No real moment is as late (the year 4970): what "ends" then has no limit.
inline constexpr base::Time beyond{std::chrono::hours(24 * 365 * 3000LL)};

// Hosts that a gang takes from one moment to another; refers to the hosts.
struct Claim {
    base::Time from, to;
    const std::vector<std::uint32_t>* hosts;
    std::uint32_t slots; // 0: the whole hosts
};

class Timeline {
public:
    // Refers to both. The queue's snapshot has as many hosts as the fabric.
    Timeline(const Queue& queue, const Options& options);

    base::Time now() const { return queue_.now; }
    // When a gang that starts at `from` ends; without a limit, or from a moment that is not known: never.
    static base::Time end_of(base::Time from, std::optional<base::Duration> limit);
    // A gang starts now, until `to`, or without a limit: then after all others that have none.
    void start(const std::vector<std::uint32_t>& hosts, std::uint32_t slots, base::Time to);

    // The moments after now at which hosts become free, ascending.
    std::vector<base::Time> moments() const;

    // The hosts as a gang that asks for `slots` on each would find them at `from`, less those that a claim
    // takes at any moment before `to`. Valid until the next call.
    const Snapshot& at(base::Time from, base::Time to, std::uint32_t slots, std::span<const Claim> claims);
    // Nobody holds anything and no host is drained: what the gang may ever have.
    const Snapshot& empty(std::uint32_t slots);

    // The jobs without a limit that end up to `until` and hold one of these hosts, ascending.
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
    std::int64_t unlimited_ = 1;           // jobs without a limit so far, and one for the unnamed
    std::vector<base::Time> until_;        // by host: when it is free of all
    std::vector<std::vector<Hold>> holds_; // by host; only when hosts are shared
    std::vector<std::pair<base::Time, const Holder*>> endless_; // holders without a limit with their moments
    std::vector<std::uint32_t> claimed_;                        // by host, in at(): slots that claims take
    Snapshot view_;
};

} // namespace sched::lsf
