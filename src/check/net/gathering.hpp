// The hosts of a tournament, brought together by the first one's process: it lets in who shows who it is,
// tells each whom to measure with, round by round, and collects what they measured. The others come to it by
// TCP.
//
// Every wait has an end. Who does not come, ends or falls silent is named, with the round, and the others go
// on without it; when the first one's process ends, all do.
#pragma once

#include "check/net/entry.hpp"
#include "check/net/launch.hpp"
#include "check/net/link.hpp"
#include "check/net/message.hpp"

#include <functional>

namespace check::net {

struct Plan {
    Effort effort;
    std::uint32_t rounds = 0; // of the tournament, at random; 0: all
    // So many more where the first ones name anything; where these are all, all of them once more, of which
    // the better measure of a pair counts: what was in the way may be over.
    std::uint32_t again = 0;
    std::uint64_t seed = 1;
    double join_s = 30;   // for all to come
    double whole_s = 600; // no round begins later
};

struct Measure {
    std::uint32_t a = 0, b = 0, rail = 0;
    std::optional<Measured> measured;
    std::string trouble; // else
};

struct Lost {
    std::uint32_t host = 0;
    std::string why;
};

struct Gathered {
    std::vector<std::string> hosts;
    std::vector<std::vector<Hello::Rail>> rails; // by host; of one that did not come none
    std::vector<Measure> measures;
    std::vector<Lost> lost;
    std::uint32_t rounds = 0, all_rounds = 0; // run; of the tournament of those who came
    std::uint32_t refused = 0;                // who had no proof
    double seconds = 0;                       // from the first to come to the end
    bool in_time = true;                      // whole_s was enough

    std::size_t most_rails() const;
};

// `again` is asked once, after plan.rounds, whether more are wanted, where plan.again is not 0; `told` hears
// of each round. Errors: Code::unavailable when fewer than two hosts come.
base::Expected<Gathered> gather(Listener listener, const Launch& launch, const Entry& entry, const Plan& plan,
                                const std::function<bool(const Gathered&)>& again,
                                const std::function<void(const std::string&)>& told);

// What measures: by rail, with the partner of a Go. Never longer than its patience for each rail.
using MeasureRails = std::function<std::vector<Done::Rail>(const Go&)>;

// A host's own part, until the end. Errors: Code::unavailable (nobody gathers, or no longer), Code::denied.
base::Expected<void> take_part(const Launch& launch, const std::vector<std::uint16_t>& ports,
                               const Entry& entry, const Plan& plan, std::vector<Hello::Rail> rails,
                               const MeasureRails& measure);

} // namespace check::net
