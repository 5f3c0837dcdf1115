// slurmctld's configuration, queried at submission.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace spank {

// JobSubmitPlugins; none if slurmctld has not answered within `patience`. A separate process asks, so that a
// busy slurmctld delays the submission no longer than that, and the user does not see libslurm's error
// messages.
std::optional<std::string> job_submit_plugins(std::chrono::milliseconds patience);

// Whether rail is in that list.
bool lists_rail(const std::string& plugins);

} // namespace spank
