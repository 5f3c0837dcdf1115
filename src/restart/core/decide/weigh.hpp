// Whether a job that a fault slows down is moved at once: what is weighed, by the present state.
#pragma once

#include "restart/core/decide/cost.hpp"
#include "restart/core/facts/incident.hpp"

#include <optional>

namespace restart {

// What leaving the job on the incident's culprit costs, and moving it; none where that is not weighed: the
// culprit is lost, a finding is fatal, or nothing there asks to leave it any more.
std::optional<JobCost> weigh(const State& state, const Policy& policy, base::Time now,
                             const Incident& incident, const JobState& job);

} // namespace restart
