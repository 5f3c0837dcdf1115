// Parts of hosts that checks found bad, as far as that counts: results come from the preflights of jobs,
// whose users could say anything, and an expectation may be wrong. So one user's word moves that user's jobs
// alone, and what two say, or an idle check, makes placement avoid the host where there is a choice; nothing
// is drained for it.
//
// A part counts by results of jobs of two users or of one idle check, none older than a week nor than the
// host's last repair. A sound result ends those before it of the same level of railcheck and below, as a
// quick look does not see what a long one found: an idle check's and root's (an administrator who tries what
// was repaired) end all, another user's those of jobs alone, or anybody could call a bad host sound. A check
// that is bad thus on more than a quarter of the hosts that it was tried on, and on more than one, is itself
// in doubt (what it expects, what it shares with others): it counts against none of them.
// And so does a GPU whose products have other bits than most (odd_bits.hpp).
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
    std::uint32_t users = 0;           // that say so
    bool idle = false;                 // an idle check does (idle_check.hpp)
    std::size_t others = 0; // its products have other bits than GPUs of so many hosts (odd_bits.hpp)
};

// Whether it is not older than a week, nor than the host's last repair.
bool still_counts(const HostState& host, const CheckReading& reading, base::Time now);

// By host, in the order in which each check and component became known; hosts without any are left out.
// Linear in what is kept of all hosts; refers to the state.
std::map<std::string_view, std::vector<AgreedCheck>> agreed_checks(const State& state, base::Time now);

} // namespace restart
