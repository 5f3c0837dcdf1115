// Whether a job that a fault slows down is moved at once: the comparison of costs, by the present state.
#pragma once

#include "restart/core/decide/cost.hpp"
#include "restart/core/facts/incident.hpp"

#include <optional>

namespace restart {

// The cost of leaving the job on the incident's culprit, and of moving it; none if not compared: the culprit
// is lost, a finding is fatal, or nothing there asks to leave it any more.
std::optional<JobCost> weigh(const State& state, const Policy& policy, base::Time now,
                             const Incident& incident, const JobState& job);

} // namespace restart
