// How much work a search may do before it has to make do with the best it has found. Counted, not timed, so
// that the same question has the same answer on a busy machine and on a quiet one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sched {

// One for all that is done for one request, however many searches that takes. Steps are spent as they are
// done, by loops that can stop; what every placement needs (to count the hosts, to tell whether the gang
// fits) is linear in the hosts and not counted.
class Budget {
public:
    // A step takes about a nanosecond on a core of 3 GHz.
    explicit constexpr Budget(std::uint64_t steps) : steps_(steps) {}

    // What one request may cost slurmctld, which answers nobody meanwhile: 5 ms on 4,096 hosts, in proportion
    // on more, and no less than 2 ms.
    static constexpr Budget of(std::size_t hosts) {
        return Budget(std::max<std::uint64_t>(2'000'000, std::uint64_t{5'000'000} * hosts / 4096));
    }

    // False: it is spent, and what comes next has to be left out.
    constexpr bool spend(std::uint64_t steps) {
        spent_ += steps;
        if (spent_ > steps_) ++cuts_;
        return spent_ <= steps_;
    }
    // Whether so much more may be done. What is left out for it is a cut.
    constexpr bool affords(std::uint64_t steps) {
        if (steps <= left()) return true;
        ++cuts_;
        return false;
    }
    // Something else kept a search from looking at everything.
    constexpr void cut() { ++cuts_; }

    constexpr std::uint64_t left() const { return spent_ < steps_ ? steps_ - spent_ : 0; }
    constexpr std::uint64_t spent() const { return spent_; } // a little more than there was, when it ran out
    // How often something was left out so far: the same before and after a search that looked at everything.
    constexpr std::uint64_t cuts() const { return cuts_; }

private:
    std::uint64_t steps_, spent_ = 0, cuts_ = 0;
};

} // namespace sched
