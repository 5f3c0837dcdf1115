// Whether a host may be given to jobs, independent of the resource manager's terms.
#pragma once

#include <cstdint>

namespace base {

// From better to worse.
enum class HostState : std::uint8_t {
    free,    // may be given to a job
    mixed,   // has room next to the jobs that run on it
    busy,    // taken by jobs
    drained, // an administrator or restartd keeps jobs away
    down     // does not answer
};

} // namespace base
