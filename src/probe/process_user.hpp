// The user and the job of a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace probe {

// The real user ID of the process. Absent: there is no such process (any more).
std::optional<std::uint32_t> user_of_process(std::uint32_t pid);

// The number of the Slurm job whose control group contains it, as set by proctrack/cgroup. Absent: it is in
// none, or there is no such process (any more). A user who may create control groups can have any number
// there.
std::optional<std::uint32_t> job_of_process(std::uint32_t pid);
// The same, from the text of /proc/PID/cgroup.
std::optional<std::uint32_t> job_in_cgroups(std::string_view text);

} // namespace probe
