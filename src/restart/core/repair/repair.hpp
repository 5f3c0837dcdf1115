// A host that a fault put out of use, on its way back. A repair is an incident of its own, which begins when
// the fault's has ended: the host is drained by us and free of jobs. It climbs the ladder of the fault's
// class (ladder.hpp) rung by rung, at most one at a time, until the host has been without a fault for a
// while and is resumed, or a person is to see to it.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/ladder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace restart {

enum class RepairStage {
    waiting,   // for its turn: the next rung has not begun
    acting,    // the rung's action is under way
    watching,  // for the host to come back without a fault
    returning, // it is being resumed
    hands,     // restartd has given it up
    checking   // without a fault for long enough: the site's program tries it
};
std::string_view to_string(RepairStage stage);

struct Repair {
    std::uint64_t incident = 0;
    FaultClass fault = FaultClass::other;
    std::uint32_t at = 0; // rung of the ladder: the present one, or while waiting the next
    RepairStage stage = RepairStage::waiting;
    bool healed = false;                    // the fault was over before anything was done: it is only watched
    base::Time begun{};                     // of the stage
    std::string boot_id;                    // before the rung
    std::optional<base::Time> clean_since;  // without a fault
    std::optional<base::Time> faulty_since; // back, and with one
    bool passed = false;                    // its check found it sound, and no fault has come since
    bool failed = false;                    // or bad, which its agent does not see
    std::uint32_t untried = 0;              // checks in a row that ended without a verdict
    bool operator==(const Repair&) const = default;
};

// How a host came back last.
struct Returned {
    FaultClass fault = FaultClass::other;
    std::uint32_t at = 0; // the rung that helped
    base::Time when{};
    bool operator==(const Returned&) const = default;
};

struct HostState;
struct Incident;
struct Policy;
struct State;
class StepContext;

// The class of what is wrong with the host now; other when nothing is.
FaultClass fault_now(const State& state, const HostState& host);
// A fault's incident is decided on: what it is about is remembered for the repair.
void note_fault(StepContext& ctx, const Incident& incident);

// Whether what is done to the host makes it silent, which is no fault.
bool quiet_for_repair(const HostState& host);

// Opens repairs of hosts that are out of use for a fault and free of jobs, or only held by jobs that run
// without them; after a snapshot.
void begin_repairs(StepContext& ctx);
// False: it is over and may be removed.
bool advance_repair(StepContext& ctx, Incident& incident);

// What the host's repair does next if the present rung does not help; hands at the end.
Rung next_rung(const State& state, const Policy& policy, const HostState& host);
// The rung that it is on, or begins next.
Rung present_rung(const Policy& policy, const Repair& repair);
// Rungs that did something, tried within forget_after.
std::size_t attempts_of(const HostState& host, const Policy& policy, base::Time now);

} // namespace restart
