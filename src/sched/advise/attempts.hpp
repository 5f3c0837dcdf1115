// Which host sets to offer a resource manager for a gang, one after the other. Pure: no I/O, no clock.
//
// sched::place chooses the hosts; the resource manager then has the last word on cores, memory and devices
// and may refuse them. So there is more than one attempt:
//   1 the hosts place() takes from those that are free now, or else at the earliest moment at which enough
//     of them are (a binary search over the times in `free_at`: hosts only become free, and a wish ends; what
//     is asked of a moment is whether the gang fits then, and the hosts are chosen once);
//   2 for a span, every window (unit, pod, island) with enough candidates, whole, so that it may take
//     other hosts of it: earliest moment first, then the tightest, then the first; for a wish that ends, last
//     all candidates from then on;
//   3 for segments, in place of 2, since it would not keep them whole: attempt 1 again without any host
//     that was offered before.
// A job with neither gets attempt 1 for now only: it must never wait for a better place. One of a single host
// that may share it (Ask::mixed) gets more of these, since whether it has room is known to the manager alone:
// after a host in use that was refused any of those in use, then the best idle one.
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

// The question, by host index of the fabric.
struct Ask {
    static constexpr std::int64_t never = INT64_MAX; // not a candidate

    Request request;                   // its order is not looked at: attempts are sets
    std::int64_t span_until = never;   // the moment from which on any span will do
    std::vector<std::int64_t> free_at; // seconds; 0 = free now, never = not a candidate
    std::vector<float> health;         // as in Snapshot
    // Non-zero: other jobs are on it, and it has room beside them. Empty: not known, or the job shares none.
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

    // The next attempt, or nothing. Costs beside what is spent of the budget: linear in the hosts, times log2
    // of the distinct times where not enough hosts are free now; the windows together are linear in the
    // hosts.
    std::optional<Attempt> next();

    // What was spent of it so far.
    const Budget& budget() const { return budget_; }

    // Whether the job must wait rather than be placed otherwise: a span or segments, or too few hosts would
    // stay free now.
    bool waits() const {
        return ask_.request.span != Span::any || largest_segment(ask_.request) > 1 || enough_free_ > 0;
    }

    // Whether it might have taken hosts that it was not offered so far, or memory was too short to know.
    // While this is false and no attempt was taken, no hosts do.
    bool undecided() const {
        return failed_ || (given_ > 0 &&
                           (largest_segment(ask_.request) > 1 || !listed_ || next_window_ < windows_.size()));
    }

    // Why the hosts place() was given do not fit; empty while they do.
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
    std::int64_t enough_free_; // the moment from which the hosts kept for restarts stay free beside the gang
    std::string unfit_;
    std::vector<std::uint32_t> offered_; // by earlier attempts; only for segments
    enum class Next : std::uint8_t { best, in_use, idle, none } next_ = Next::best; // for is_one()
    std::vector<Attempt> windows_;
    std::size_t next_window_ = 0;
    std::size_t given_ = 0; // attempts
    bool chose_ = false, listed_ = false, failed_ = false;
};

} // namespace sched
