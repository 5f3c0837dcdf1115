// How much slower a job is on a host with a finding: data, with the source of each number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace restart {

struct SlowdownRule {
    std::string_view rule; // of findings; with a '.' at its end, of all that begin so
    double factor;         // the share of the job's work that is lost; of a rail, of what its rails carry
    bool of_rail;          // the finding takes one of the host's rails, so that `factor` is divided by them
    std::string_view source;
};
std::span<const SlowdownRule> slowdown_rules();

// What a finding without a row costs: the job may stop at any moment, as when an error that was contained
// repeats.
inline constexpr double unknown_slowdown = 1;
// Rails of a host that no fabric file lists.
inline constexpr std::uint32_t usual_rails = 8;

// The share of its work that a job loses while it stays on a host that has the finding, 0 … 1; none: no row
// knows it. `rails` is how many the host has, 0 where that is not known.
std::optional<double> slowdown_of(std::string_view rule, std::uint32_t rails);

} // namespace restart
