// How much work a search may do before it returns the best it has found. Counted, not timed, so that the
// same question has the same answer on a busy machine and on an idle one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sched {

// One budget a request, for all its searches together. Loops that can stop early spend steps as they do
// them; what every placement needs (counting the hosts, checking whether the gang fits) is linear in the
// hosts and not counted.
class Budget {
public:
    // A step takes about a nanosecond on a core of 3 GHz.
    explicit constexpr Budget(std::uint64_t steps) : steps_(steps) {}

    // What one request may cost a scheduler, which is blocked meanwhile: `usual` on 4,096 hosts, in
    // proportion on more, and on fewer at least two fifths of that. `usual`: steps, [placement] budget in
    // nanoseconds.
    static constexpr Budget of(std::size_t hosts, std::uint64_t usual = 5'000'000) {
        return Budget(std::max(usual * 2 / 5, usual * hosts / 4096));
    }

    // False: the budget is spent, and the caller has to skip the work.
    constexpr bool spend(std::uint64_t steps) {
        spent_ += steps;
        if (spent_ > steps_) ++cuts_;
        return spent_ <= steps_;
    }
    // Whether this many more steps may be done. False counts as a cut.
    constexpr bool affords(std::uint64_t steps) {
        if (steps <= left()) return true;
        ++cuts_;
        return false;
    }
    // The search skipped something for another reason.
    constexpr void cut() { ++cuts_; }

    constexpr std::uint64_t left() const { return spent_ < steps_ ? steps_ - spent_ : 0; }
    constexpr std::uint64_t spent() const { return spent_; } // a little more than there was, when it ran out
    // How often work was skipped so far: unchanged by a search that looked at everything.
    constexpr std::uint64_t cuts() const { return cuts_; }

private:
    std::uint64_t steps_, spent_ = 0, cuts_ = 0;
};

} // namespace sched
