// Whose a process is.
#pragma once

#include <cstdint>
#include <optional>

namespace probe {

// The number of the user that runs it (its real one). Absent: there is no such process (any more).
std::optional<std::uint32_t> user_of_process(std::uint32_t pid);

} // namespace probe
