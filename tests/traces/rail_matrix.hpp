// Made-up measures of pairs over rails, of which is known what is slow: for tests and the benchmark of the
// fit.
#pragma once

#include "check/net/fit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace trace {

struct MatrixShape {
    std::uint32_t hosts = 1024, rails = 8;
    double noise = 0.05;             // standard deviation of one measure's logarithm
    double hiccups = 0.01;           // of measures that are half as fast, whoever takes part
    std::uint32_t hosts_a_leaf = 32; // and rail
};

// What a transfer is slowed by at each end, as a logarithm: 0.357 is 30 % less.
class RailMatrix {
public:
    explicit RailMatrix(const MatrixShape& shape)
        : shape_(shape), slow_(static_cast<std::size_t>(shape.hosts) * shape.rails) {}

    void slow_cable(std::uint32_t host, std::uint32_t rail, double by) { slow_[at(host, rail)] = by; }
    void slow_host(std::uint32_t host, double by);
    void slow_leaf(std::uint32_t leaf, std::uint32_t rail, double by);

    // So many rounds of the tournament, taken at random; 0: all. More of the same seed begin with the same.
    std::vector<check::net::Cell> measure(std::uint64_t seed, std::uint32_t rounds) const;
    std::vector<std::optional<std::uint32_t>> leaves() const; // by host, then rail
    double slow(std::uint32_t host, std::uint32_t rail) const { return slow_[at(host, rail)]; }

private:
    std::size_t at(std::uint32_t host, std::uint32_t rail) const {
        return static_cast<std::size_t>(host) * shape_.rails + rail;
    }
    MatrixShape shape_;
    std::vector<double> slow_;
};

} // namespace trace
