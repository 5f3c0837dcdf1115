// MPI's all-reduce and barrier.
#pragma once

#include "check/mpi/collective.hpp"
#include "check/mpi/mpi_library.hpp"

#include <string>

namespace check::mpi {

// `calls` outlives the collectives.
MakeCollective mpi_collectives(const Calls& calls);

// The error text is the library's: "MPI_Init_thread: …"; Code::unavailable.
base::Expected<void> done(const Calls& calls, int result, const char* name);

} // namespace check::mpi
