// Time in rules: how long a condition holds, and how much a counter has grown lately. Pure.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace restart {

// A condition with a window before it counts and a time of absence before it ends.
//
// Presence fills, absence drains at the same speed, between 0 and `window`; full means firing. So a condition
// that is always there fires after exactly `window`, one that flickers with four samples of five after 5/3 of
// it, one that is there half of the time never. Firing ends only after `clear` without a single presence.
class Hold {
public:
    // One sample. The time between two samples counts by the older one's value, but at most `longest_step`:
    // what happened during a longer gap is not known.
    void look(base::Time now, bool present, base::Duration window, base::Duration clear,
              base::Duration longest_step);

    bool firing() const { return firing_; }
    // When the presence began that led here; meaningful while firing or filling.
    base::Time since() const { return since_; }
    base::Time last_present() const { return last_present_; }
    // When it last ended; none: it never did, or is back.
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

// How much a counter grew within the last `period`. The first value is where counting begins.
//
// What is no fault never counts as growth. A value below the last one means that the counter was reset
// (perfquery -R, a driver reload) or has wrapped: counting begins anew there, which loses no more than what
// came since the last look; one that is back at its old height within a minute was misread in between, and
// only what it is above that counts. All bits of 32 or 64 set are a counter at its end or a device that does
// not answer: no value. InfiniBand's error counters saturate, they do not wrap (IBTA 16.1.3.5).
class Growth {
public:
    explicit Growth(base::Duration period) : period_(period) {}

    // Whether a lifetime value says anything: not with all bits of 32 or 64 set.
    static bool is_count(std::uint64_t value);

    // Takes a new lifetime value; returns the growth within the period that ends now.
    std::uint64_t take(base::Time now, std::uint64_t value);
    // The next value is where counting begins: what came before it is not known.
    void interrupt() { last_.reset(); }
    // The first growth within that period.
    std::optional<base::Time> since() const;

private:
    std::uint64_t step(base::Time now, std::uint64_t value);

    base::Duration period_;
    std::optional<std::uint64_t> last_;
    std::optional<std::pair<base::Time, std::uint64_t>> fallen_; // when, and from where
    std::uint64_t sum_ = 0;
    // Growth by time, at most some 64: no deque, which takes half a kilobyte even when it is empty.
    std::vector<std::pair<base::Time, std::uint64_t>> steps_;
};

} // namespace restart
