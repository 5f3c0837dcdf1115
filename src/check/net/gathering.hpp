// The hosts of a tournament, coordinated by the first host's process: it admits authenticated processes,
// assigns partners round by round, and collects the measures. The others connect to it by TCP.
//
// Every wait is bounded. A host that does not join, ends or falls silent is named, with the round, and the
// others go on; when the first host's process ends, all end.
#pragma once

#include "check/net/entry.hpp"
#include "check/net/launch.hpp"
#include "check/net/link.hpp"
#include "check/net/message.hpp"

#include <functional>

namespace check::net {

struct Plan {
    Effort effort;
    std::uint32_t rounds = 0; // of the tournament, chosen at random; 0: all
    // Additional rounds if the first ones name anything. If those were all, they are repeated and the better
    // measure of each pair counts: a disturbance may be temporary.
    std::uint32_t again = 0;
    std::uint64_t seed = 1;
    double join_s = 30;   // for all to join
    double whole_s = 600; // no round begins later
};

struct Measure {
    std::uint32_t a = 0, b = 0, rail = 0;
    std::optional<Measured> measured;
    std::string trouble; // the reason, if nothing was measured
};

struct Lost {
    std::uint32_t host = 0;
    std::string why;
};

struct Gathered {
    std::vector<std::string> hosts;
    std::vector<std::vector<Hello::Rail>> rails; // by host; empty for a host that did not join
    std::vector<Measure> measures;
    std::vector<Lost> lost;
    std::uint32_t rounds = 0, all_rounds = 0; // run; of the tournament of the hosts that joined
    std::uint32_t refused = 0;                // those without a proof
    double seconds = 0;                       // from the first join to the end
    bool in_time = true;                      // whole_s was enough

    std::size_t most_rails() const;
};

// `again` is called once, after plan.rounds, to ask whether more rounds are needed, if plan.again is not 0;
// `told` is called for each round. Errors: Code::unavailable when fewer than two hosts join.
base::Expected<Gathered> gather(Listener listener, const Launch& launch, const Entry& entry, const Plan& plan,
                                const std::function<bool(const Gathered&)>& again,
                                const std::function<void(const std::string&)>& told);

// Measures all rails with the partner of a Go. Never takes longer than the patience for each rail.
using MeasureRails = std::function<std::vector<Done::Rail>(const Go&)>;

// A host's own part, until the end. Errors: Code::unavailable (no coordinator, or it ended), Code::denied.
base::Expected<void> take_part(const Launch& launch, const std::vector<std::uint16_t>& ports,
                               const Entry& entry, const Plan& plan, std::vector<Hello::Rail> rails,
                               const MeasureRails& measure);

} // namespace check::net
