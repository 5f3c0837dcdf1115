// What slurmctld is configured with, asked at submission.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace spank {

// JobSubmitPlugins; none when slurmctld has not told it within `patience`. A process of its own asks, so that
// a busy slurmctld costs the submission no more than that, and libslurm's complaints are not the user's.
std::optional<std::string> job_submit_plugins(std::chrono::milliseconds patience);

// Whether rail is in that list.
bool lists_rail(const std::string& plugins);

} // namespace spank
