// Who started a process.
#pragma once

#include <sys/types.h>

namespace restart::lsf {

// The parent of a process; 0: it has none, or is gone.
pid_t parent_of(pid_t pid);

} // namespace restart::lsf
