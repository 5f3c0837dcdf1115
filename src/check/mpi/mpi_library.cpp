#include "check/mpi/mpi_library.hpp"

#include "check/cuda_library.hpp"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string_view>

namespace check::mpi {

base::Expected<Calls> open_mpi(std::span<const std::string> paths) {
    static constexpr std::array<std::string_view, 2> names{"libmpi.so.40", "libmpi.so"};
    const auto handle = load_library(paths, "libmpi", names);
    if (!handle)
        return base::Error{base::Code::not_found,
                           fmt::format("Open MPI: {}: --library names its libmpi", handle.error().text)};
    Calls calls;
    std::string missing;
#define RAILYARD_MPI_LOAD(name, signature)                                                                   \
    calls.name = reinterpret_cast<std::add_pointer_t<signature>>(::dlsym(*handle, #name));                   \
    if (calls.name == nullptr && missing.empty()) missing = #name;
    RAILYARD_MPI_FUNCTIONS(RAILYARD_MPI_LOAD)
#undef RAILYARD_MPI_LOAD
#define RAILYARD_MPI_LOAD(name)                                                                              \
    calls.name = ::dlsym(*handle, #name);                                                                    \
    if (calls.name == nullptr && missing.empty()) missing = #name;
    RAILYARD_MPI_OBJECTS(RAILYARD_MPI_LOAD)
#undef RAILYARD_MPI_LOAD
    if (missing.empty()) return calls;
    return base::Error{
        base::Code::unavailable,
        fmt::format("libmpi has no {}: it is not Open MPI's, whose libmpi --library names", missing)};
}

} // namespace check::mpi
