// Time in rules: how long a condition holds, and how much a counter has grown recently. Pure.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace restart {

// A condition that needs a window to start firing and a time of absence to stop.
//
// A level rises while the condition is present and falls as fast while it is absent, from 0 to `window`; it
// fires when full. So a condition that is always present fires after exactly `window`, one that is present in
// four samples of five after 5/3 of it, one that is present half of the time never. Firing ends only after
// `clear` without a single presence.
class Hold {
public:
    // One sample. The time between two samples counts with the older one's value, but at most `longest_step`:
    // a longer gap is unknown.
    void look(base::Time now, bool present, base::Duration window, base::Duration clear,
              base::Duration longest_step);

    bool firing() const { return firing_; }
    // When the presence that led to this state began; meaningful while firing or filling.
    base::Time since() const { return since_; }
    base::Time last_present() const { return last_present_; }
    // When it last ended; none: it never did, or it fires again.
    std::optional<base::Time> ended() const { return ended_; }

private:
    base::Duration level_{0};
    base::Time since_{};
    base::Time last_look_{};
    base::Time last_present_{};
    std::optional<base::Time> ended_;
    bool present_ = false;
    bool firing_ = false;
    bool looked_ = false;
};

// The growth of a counter within the last `period`. Counting starts at the first value.
//
// Growth that is not a fault is never counted. A value below the last one means that the counter was reset
// (perfquery -R, a driver reload) or has wrapped: counting restarts there, losing at most the growth since
// the last look. If it is back at its old height within a minute, the lower value was misread, and only the
// excess over the old height counts. All bits of 32 or 64 set mean a saturated counter or a device that does
// not answer: not a value. InfiniBand's error counters saturate, they do not wrap (IBTA 16.1.3.5).
class Growth {
public:
    explicit Growth(base::Duration period) : period_(period) {}

    // Whether a lifetime value is valid: not with all bits of 32 or 64 set.
    static bool is_count(std::uint64_t value);

    // Takes a new lifetime value; returns the growth within the period that ends now.
    std::uint64_t take(base::Time now, std::uint64_t value);
    // Counting restarts at the next value: what came before is unknown.
    void interrupt() { last_.reset(); }
    // The time of the first growth within that period.
    std::optional<base::Time> since() const;

private:
    std::uint64_t step(base::Time now, std::uint64_t value);

    base::Duration period_;
    std::optional<std::uint64_t> last_;
    std::optional<std::pair<base::Time, std::uint64_t>> fallen_; // when, and from which value
    std::uint64_t sum_ = 0;
    // Growth by time, at most some 64: not a deque, which takes half a kilobyte even when empty.
    std::vector<std::pair<base::Time, std::uint64_t>> steps_;
};

} // namespace restart
