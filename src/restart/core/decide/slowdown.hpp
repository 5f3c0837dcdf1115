// How much slower a job is on a host with a finding: data, with the source of each number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace restart {

struct SlowdownRule {
    std::string_view rule; // of findings; ending in '.': all that begin with it
    double factor;         // the share of the job's work that is lost; for a rail, of its rails' traffic
    bool of_rail;          // the finding is about one rail: `factor` is divided by the host's rails
    std::string_view source;
};
std::span<const SlowdownRule> slowdown_rules();

// For a finding without a row: the job may stop at any moment, as when a contained error repeats.
inline constexpr double unknown_slowdown = 1;
// Rails of a host that no fabric file lists.
inline constexpr std::uint32_t usual_rails = 8;

// The share of its work that a job loses while it stays on a host that has the finding, 0 … 1; none: no row
// matches. `rails` is the number of the host's rails, 0 if not known.
std::optional<double> slowdown_of(std::string_view rule, std::uint32_t rails);

} // namespace restart
