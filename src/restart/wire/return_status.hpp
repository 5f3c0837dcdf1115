// How far a host's repair has come (restartd-decisions(7), RETURN).
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// The repair of a host that a fault put out of use.
struct ReturnStatus {
    std::string fault; // the class: "gpu_gone"
    std::string stage; // "waiting", "acting", "watching", "returning", "hands"
    std::string rung;  // the present one; while waiting, the next one
    std::vector<std::string> ladder;
    std::string next;                              // if that does not help
    std::uint64_t attempts = 0, most_attempts = 0; // that did something, recently
    base::Time since{};                            // of the stage
    std::optional<base::Time> clean_since;         // without a fault
    std::optional<base::Time> until;               // it is then resumed, or the next rung begins
    bool operator==(const ReturnStatus&) const = default;
};

} // namespace restart
