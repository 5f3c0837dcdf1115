// Whose a process is, and of which job.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace probe {

// The number of the user that runs it (its real one). Absent: there is no such process (any more).
std::optional<std::uint32_t> user_of_process(std::uint32_t pid);

// The number of the Slurm job in whose control group it is, by proctrack/cgroup. Absent: it is in none, or
// there is no such process (any more). A user who may make control groups can have any number there.
std::optional<std::uint32_t> job_of_process(std::uint32_t pid);
// The same of what /proc/PID/cgroup says.
std::optional<std::uint32_t> job_in_cgroups(std::string_view text);

} // namespace probe
