// Open MPI at run time, whichever release: without it, or with another MPI, there is an error message.
#pragma once

#include "base/expected.hpp"
#include "check/mpi/mpi_abi.h"

#include <span>
#include <string>
#include <type_traits>

namespace check::mpi {

struct Calls {
#define RAILYARD_MPI_MEMBER(name, signature) std::add_pointer_t<signature> name = nullptr;
    RAILYARD_MPI_FUNCTIONS(RAILYARD_MPI_MEMBER)
#undef RAILYARD_MPI_MEMBER
#define RAILYARD_MPI_MEMBER(name) Handle name = nullptr;
    RAILYARD_MPI_OBJECTS(RAILYARD_MPI_MEMBER)
#undef RAILYARD_MPI_MEMBER
};

// Loads the one of `paths` whose name begins with libmpi, else libmpi.so.40 or libmpi.so, as found by the
// dynamic linker. Errors: Code::not_found, listing what was tried; Code::unavailable for an MPI other than
// Open MPI.
base::Expected<Calls> open_mpi(std::span<const std::string> paths);

} // namespace check::mpi
