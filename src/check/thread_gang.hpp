// A gang that is made up, to prove the search in one by: a thread for each member, which passes pieces round
// a ring as an all-reduce does. Each has a clock of its own that goes on by what a piece costs at the slower
// of both ends, so that what is reached is the same on every machine; the sums are real and are compared.
#pragma once

#include "base/expected.hpp"
#include "check/gang_search.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace check {

class ThreadGang {
public:
    static constexpr int rails = 4;
    static constexpr double gbps = 100; // of a rail

    explicit ThreadGang(std::size_t members);
    void slow(std::size_t member, int rail, double rate);
    std::optional<std::size_t> dead;   // a member that never answers
    std::optional<std::size_t> spoils; // a member that passes on what it did not get
    int runs = 0;

    // Gb/s of the ring over one rail, or over all together. Errors: Code::unavailable with a dead member,
    // Code::input where a sum is wrong.
    base::Expected<double> run(const GangRun& asked);
    // The search in all of it, for what reaches less than nine tenths of what it should.
    GangVerdict search();

private:
    double cost(std::size_t from, std::size_t to, std::optional<int> rail) const;

    std::vector<std::array<double, rails>> rates_;
};

} // namespace check
