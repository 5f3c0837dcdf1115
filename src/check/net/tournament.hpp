// Which hosts measure together: a round-robin tournament by the circle method. Each pair of hosts meets
// exactly once, in hosts - 1 rounds for an even number of hosts (the minimum) and in `hosts` rounds for an
// odd one, where each host rests in one round; in every round all other hosts are busy. A host's opponent is
// computed, so that no table of all pairs is needed.
//
// Source: E. Lucas, Recreations mathematiques II (1883); D. de Werra, Scheduling in sports (1981).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace check::net {

class Tournament {
public:
    explicit Tournament(std::uint32_t hosts) : hosts_(hosts) {}

    std::uint32_t hosts() const { return hosts_; }
    std::uint32_t rounds() const { return hosts_ < 2 ? 0 : hosts_ - 1 + hosts_ % 2; }

    // None when the host rests. `round` < rounds(), `host` < hosts(). Constant time.
    std::optional<std::uint32_t> opponent(std::uint32_t round, std::uint32_t host) const;
    // The pairs of a round, each with the smaller number first.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(std::uint32_t round) const;

private:
    std::uint32_t hosts_;
};

// `count` different rounds out of `rounds`, in random order, as a few rounds already reveal much; the choice
// depends on the seed alone. All of them, in order, when `count` is 0 or not below `rounds`.
std::vector<std::uint32_t> some_rounds(std::uint32_t rounds, std::uint32_t count, std::uint64_t seed);

} // namespace check::net
