// How much work a search may do before it returns the best it has found. Counted, not timed, so that the same
// question has the same answer on a busy and on an idle machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sched {

// One budget per request, for all its searches together. Loops that can stop early spend steps as they run;
// what every placement needs (counting the hosts, checking whether the gang fits) is linear in the hosts and
// not counted.
class Budget {
public:
    // A step takes about a nanosecond on a core of 3 GHz.
    explicit constexpr Budget(std::uint64_t steps) : steps_(steps) {}

    // The limit for one request to a scheduler, which is blocked during it: `usual` for 4,096 hosts,
    // proportionally more for more, and at least two fifths of it for fewer. `usual`: steps, [placement]
    // budget in nanoseconds.
    static constexpr Budget of(std::size_t hosts, std::uint64_t usual = 5'000'000) {
        return Budget(std::max(usual * 2 / 5, usual * hosts / 4096));
    }

    // False: the budget is spent, and the caller must skip the work.
    constexpr bool spend(std::uint64_t steps) {
        spent_ += steps;
        if (spent_ > steps_) ++cuts_;
        return spent_ <= steps_;
    }
    // Whether this many more steps are available. False counts as a cut.
    constexpr bool affords(std::uint64_t steps) {
        if (steps <= left()) return true;
        ++cuts_;
        return false;
    }
    // The search skipped something for another reason.
    constexpr void cut() { ++cuts_; }

    constexpr std::uint64_t left() const { return spent_ < steps_ ? steps_ - spent_ : 0; }
    constexpr std::uint64_t spent() const { return spent_; } // slightly more than the budget, if it ran out
    // How often work has been skipped so far: unchanged by a search that examined everything.
    constexpr std::uint64_t cuts() const { return cuts_; }

private:
    std::uint64_t steps_, spent_ = 0, cuts_ = 0;
};

} // namespace sched
