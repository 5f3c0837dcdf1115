// What slurmctld is configured with, asked at submission.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace spank {

// JobSubmitPlugins; none when slurmctld has not answered within `patience`. A process of its own asks, so
// that a busy slurmctld delays the submission no longer, and the user does not see libslurm's error messages.
std::optional<std::string> job_submit_plugins(std::chrono::milliseconds patience);

// Whether rail is in that list.
bool lists_rail(const std::string& plugins);

} // namespace spank
