// How far a host may be given to jobs, whatever the resource manager calls it.
#pragma once

#include <cstdint>

namespace base {

// Better to worse.
enum class HostState : std::uint8_t {
    free,    // may be given to a job
    mixed,   // has room beside the jobs that run on it
    busy,    // taken by jobs
    drained, // an administrator or restartd keeps jobs away
    down     // does not answer
};

} // namespace base
