// Results of a gathering: rails, leaves, hosts and cables that are slow, by bandwidth or latency, with the
// numbers; and what could not be measured. Pure.
#pragma once

#include "check/net/culprits.hpp"
#include "check/net/gathering.hpp"

#include <string>
#include <vector>

namespace check::net {

// The cabling of the ends, as far as it is known: leaf names, and the leaf of each end, by host, then rail.
struct Leaves {
    std::vector<std::string> names;
    std::vector<std::optional<std::uint32_t>> of_end;
};

struct Slow {
    Culprit culprit;
    std::string host, device, leaf; // those of the culprit; empty: not applicable
    double bandwidth_share = 1;     // of the others'
    double latency_times = 1;       // the others'
    std::string how_much{};         // "46 % of the others' bandwidth"
    std::string says{};             // "n3 mlx5_2:1 (rail 2): 46 % of the others' bandwidth"
};

struct Bars {
    Bar bandwidth{};              // 5 % less
    std::optional<Bar> latency{}; // none: latency is reported but not judged
};

struct Verdict {
    Fit bandwidth, latency;
    std::vector<Slow> slow; // the slowest first
    // Rails whose device is unusable: "n3 eth2: UCX has no such device".
    std::vector<std::string> unusable;
    bool sound(const Gathered& of) const { return slow.empty() && unusable.empty() && of.lost.empty(); }
};

// A pair that failed over a rail although both hosts are there counts as a thousand times slower than the
// rest.
Verdict judge(const Gathered& gathered, const Leaves& leaves, const Bars& bars = {});

} // namespace check::net
