// The repair of a host (repair/repair.hpp), as the state holds it.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/ladder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

enum class RepairStage {
    waiting,   // for its turn: the next rung has not begun
    acting,    // the rung's action is under way
    watching,  // for the host to come back without a fault
    returning, // it is being resumed
    hands,     // restartd has given up
    checking   // without a fault for long enough: the site's program checks it
};
std::string_view to_string(RepairStage stage);

struct Repair {
    std::uint64_t incident = 0;
    FaultClass fault = FaultClass::other;
    std::uint32_t at = 0; // rung of the ladder: the present one, or in stage waiting the next
    RepairStage stage = RepairStage::waiting;
    bool healed = false;                    // the fault ended before anything was done: only watched
    base::Time begun{};                     // of the stage
    std::string boot_id;                    // before the rung
    std::optional<base::Time> clean_since;  // without a fault
    std::optional<base::Time> faulty_since; // back, and with a fault
    bool passed = false;                    // its check found it good, and no fault has come since
    bool failed = false;                    // or bad, which its agent does not see
    std::uint32_t untried = 0;              // checks in a row that ended without a verdict
    bool operator==(const Repair&) const = default;
};

// How a host last came back.
struct Returned {
    FaultClass fault = FaultClass::other;
    std::uint32_t at = 0; // the rung that helped
    base::Time when{};
    bool operator==(const Returned&) const = default;
};

} // namespace restart
