// Open MPI at run time, whichever the site has: a host without it, or with another MPI, gets a sentence.
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

// The one of `paths` whose name begins with libmpi, else libmpi.so.40 or libmpi.so, as the dynamic linker
// finds them. Errors: Code::not_found, naming what was tried; Code::unavailable for another MPI than Open
// MPI.
base::Expected<Calls> open_mpi(std::span<const std::string> paths);

} // namespace check::mpi
