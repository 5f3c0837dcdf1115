// Which host sets to offer a resource manager for a gang, one after the other. Pure: no I/O, no clock.
//
// sched::place chooses the hosts; the resource manager then decides on cores, memory and devices and may
// reject them. So there is more than one attempt:
//   1 the hosts place() takes from those that are free now, or else at the earliest moment at which enough
//     of them are (a binary search over the times in `free_at`: hosts only become free, and a wish ends; only
//     whether the gang fits is tested for each moment, and the hosts are chosen once);
//   2 for a span, every window (unit, pod, island) with enough candidates, as a whole, so that the manager
//     may take other hosts in it: earliest moment first, then the tightest, then the first; if a wish ends,
//     the last one is all candidates from then on;
//   3 for segments, instead of 2, which would not keep them whole: attempt 1 again without any host
//     that was offered before.
// A job with neither only gets attempt 1 for the present: it must never wait for a better place. A job of a
// single host that may be shared (Ask::mixed) gets more of these, since only the manager knows whether a host
// has room: after a host in use was rejected, all those in use, then the best idle one.
#pragma once

#include "sched/ask/request.hpp"
#include "sched/ask/segments.hpp"
#include "sched/place.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// The question, with hosts as fabric indices.
struct Ask {
    static constexpr std::int64_t never = INT64_MAX; // not a candidate

    Request request;                   // its order is ignored: attempts are sets
    std::int64_t span_until = never;   // from this moment on any span is accepted
    std::vector<std::int64_t> free_at; // seconds; 0 = free now, never = not a candidate
    std::vector<float> health;         // as in Snapshot
    // Non-zero: other jobs are on it, and it has room for more. Empty: unknown, or the job does not share
    // hosts.
    std::vector<std::uint8_t> mixed{};
};

struct Attempt {
    std::vector<std::uint32_t> hosts; // ascending
    std::int64_t earliest = 0;        // no start before this moment; 0 = now
    std::string why;                  // a sentence for the log
    bool exact = true;                // as in Placement
};

class Attempts {
public:
    // `placer` must outlive this. Ask::free_at has an entry for each host of its fabric. `budget`: for all
    // attempts together.
    Attempts(const Placer& placer, Ask ask, Budget budget);
    Attempts(const Placer& placer, Ask ask) : Attempts(placer, std::move(ask), placer.budget()) {}

    // The next attempt, or nothing. Costs, besides what is spent of the budget: linear in the hosts, times
    // log2 of the distinct times if not enough hosts are free now; the windows together are linear in the
    // hosts.
    std::optional<Attempt> next();

    // What has been spent so far.
    const Budget& budget() const { return budget_; }

    // Whether the job must wait rather than be placed elsewhere: it has a span or segments, or too few hosts
    // would stay free now.
    bool waits() const {
        return ask_.request.span != Span::any || largest_segment(ask_.request) > 1 || enough_free_ > 0;
    }

    // Whether hosts that were not offered so far might be accepted, or memory was too short to know. If this
    // is false and no attempt was accepted, no hosts fit.
    bool undecided() const {
        return failed_ || (given_ > 0 &&
                           (largest_segment(ask_.request) > 1 || !listed_ || next_window_ < windows_.size()));
    }

    // Why the hosts given to place() do not fit; empty while they do.
    const std::string& unfit() const { return unfit_; }

private:
    std::optional<Attempt> find();
    std::optional<Attempt> chosen();
    bool is_one() const;
    std::optional<Attempt> one_host();
    Snapshot snapshot_at(std::int64_t moment) const;
    Request request_at(std::int64_t moment) const;
    bool fits_at(std::int64_t moment);
    std::optional<Attempt> chosen_at(std::int64_t moment);
    std::optional<Attempt> other_hosts();
    void list_windows();
    void list_parts();
    std::optional<Attempt> window_of_all() const;

    const Placer& placer_;
    Ask ask_;
    Budget budget_;
    std::int64_t enough_free_; // from then on, hosts for restarts stay free besides the gang
    std::string unfit_;
    std::vector<std::uint32_t> offered_; // in earlier attempts; only for segments
    enum class Next : std::uint8_t { best, in_use, idle, none } next_ = Next::best; // for is_one()
    std::vector<Attempt> windows_;
    std::size_t next_window_ = 0;
    std::size_t given_ = 0; // attempts
    bool chose_ = false, listed_ = false, failed_ = false;
};

} // namespace sched
