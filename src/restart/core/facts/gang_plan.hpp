// Where a gang will run, under a resource manager that leaves that to restartd (LSF). The dispatcher makes
// the plan from what waits and what is free (daemon/dispatcher.hpp); an action carries it out; it ends when
// the gang runs. Gangs are placed even while restartd only observes or is paused: nothing else would start
// them.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restart {

enum class GangStage {
    ordered,  // its action is under way
    released, // the resource manager may start it
    parking,  // it is being moved back
    failed,   // not before next_try
    requeuing // it no longer runs, and the resource manager does not know
};

struct GangPlan {
    std::uint32_t number = 0;       // of its last action
    std::uint32_t epoch = 0;        // of the job's start that it is for
    std::vector<std::string> hosts; // in rank order
    base::Time made{};
    GangStage stage = GangStage::ordered;
    base::Time next_try{};
    std::uint32_t tries = 0; // that failed in a row
    bool unsure = false;     // restartd ended while its action was under way; the outcome is not known
    bool operator==(const GangPlan&) const = default;

    // Whether it reserves its hosts for the gang, and whether an action may be under way.
    bool holds() const { return stage != GangStage::failed; }
    bool acts() const { return holds() && stage != GangStage::released; }
};

} // namespace restart
