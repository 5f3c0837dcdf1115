// Parts of hosts that checks found bad, as far as that counts. Results come from the preflights of jobs,
// whose users could report anything, and an expectation may be wrong. So one user's report moves only that
// user's jobs. What two users or an idle check report makes placement avoid the host where there is a choice;
// nothing is drained for it.
//
// A part counts by results of jobs of two users or of one idle check, none older than a week nor than the
// host's last repair. A good result cancels earlier ones of the same level of railcheck and below, as a quick
// look does not see what a long one found. One from an idle check or from root (an administrator who tests
// what was repaired) cancels all; one from another user cancels only those of jobs, or anyone could clear a
// bad host. A check that is bad in this sense on more than a quarter of the hosts that ran it, and on more
// than one, is itself in doubt (what it expects, what it shares with others): it counts against none of them.
// A GPU whose products have other bits than most (odd_bits.hpp) counts as well.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/state.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace restart {

struct AgreedCheck {
    std::string_view check, component; // of the state
    std::uint32_t users = 0;           // that report it
    bool idle = false;                 // reported by an idle check (idle_check.hpp)
    std::size_t others = 0; // its products have other bits than GPUs of this many hosts (odd_bits.hpp)
};

// Whether it is no older than a week, nor than the host's last repair.
bool still_counts(const HostState& host, const CheckReading& reading, base::Time now);

// By host, in the order in which each check and component became known; hosts without any are left out.
// Linear in what is kept of all hosts; refers to the state.
std::map<std::string_view, std::vector<AgreedCheck>> agreed_checks(const State& state, base::Time now);

} // namespace restart
