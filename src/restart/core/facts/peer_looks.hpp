// Other hosts that are asked to look at one whose agent is silent, and what they saw: kept in the State. The
// rules are in detect/peers.hpp.
#pragma once

#include "base/clock.hpp"
#include "base/knock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restart {

enum class LookStage {
    over,   // answered, or given up
    host,   // asked to look at the silent host
    compare // did not reach it, and asked to look at a live one: does it reach anything?
};

struct PeerLook {
    std::string peer;
    LookStage stage = LookStage::over;
    std::uint64_t number = 0; // of the question; 0: none yet
    base::Time asked{};
    std::string compared;                       // the host that it looks at for comparison, in stage compare
    base::Knocked saw = base::Knocked::unknown; // in its last answer
    base::Time from{};                          // when that was requested: it was so at that time or later
    bool operator==(const PeerLook&) const = default;
};

// What the peers of a host report together.
enum class PeerView {
    none,      // too little
    differ,    // only one reaches it, others do not
    mute,      // none gets an answer, but its kernel accepts connections
    unreached, // none reaches it
    reached    // at least two do
};

struct PeerLooks {
    base::Time since{};              // when the first was asked
    std::vector<PeerLook> peers;     // in the order in which they were chosen
    PeerView noted = PeerView::none; // as it was last noted
    bool operator==(const PeerLooks&) const = default;
};

} // namespace restart
