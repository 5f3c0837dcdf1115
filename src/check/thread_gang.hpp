// A simulated gang, to test the search: a thread for each member, which passes pieces round a ring as an
// all-reduce does. Each has its own clock that advances by the cost of a piece at the slower of both ends, so
// that results are the same on every machine; the sums are real and are compared.
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
    std::optional<std::size_t> spoils; // a member that forwards wrong data
    int runs = 0;

    // Gb/s of the ring over one rail, or over all together. Errors: Code::unavailable with a dead member,
    // Code::input for a wrong sum.
    base::Expected<double> run(const GangRun& asked);
    // The search in the whole gang, for members below nine tenths of the nominal rate.
    GangVerdict search();

private:
    double cost(std::size_t from, std::size_t to, std::optional<int> rail) const;

    std::vector<std::array<double, rails>> rates_;
};

} // namespace check
