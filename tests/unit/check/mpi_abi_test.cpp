// The declarations of mpi_abi.h beside those of the Open MPI that is installed, where one is.
#include "check/mpi/mpi_abi.h"

#include <catch2/catch.hpp>

#if __has_include(<mpi.h>)
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

#include <type_traits>

#ifdef OPEN_MPI
namespace {

using check::mpi::Handle;

// A handle is a pointer, whatever to.
template <class A, class B>
constexpr bool alike = std::is_same_v<A, B> || (std::is_pointer_v<A> && std::is_pointer_v<B>);

template <class R, class... A, class S, class... B> constexpr bool same_call(R (*)(A...), S (*)(B...)) {
    if constexpr (sizeof...(A) != sizeof...(B))
        return false;
    else
        return std::is_same_v<R, S> && (alike<A, B> && ...);
}

#define SAME(name, signature)                                                                                \
    static_assert(same_call(std::add_pointer_t<signature>(), std::add_pointer_t<decltype(::name)>()), #name);
RAILYARD_MPI_FUNCTIONS(SAME)
#undef SAME
#define IS_OBJECT(name) static_assert(sizeof(&::name) == sizeof(check::mpi::Handle), #name);
RAILYARD_MPI_OBJECTS(IS_OBJECT)
#undef IS_OBJECT

static_assert(MPI_SUCCESS == check::mpi::success && MPI_THREAD_FUNNELED == check::mpi::thread_funneled);
static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= check::mpi::longest_version);
static_assert(MPI_MAX_ERROR_STRING <= check::mpi::longest_error);
static_assert(sizeof(MPI_Comm) == sizeof(check::mpi::Handle));

} // namespace

TEST_CASE("Open MPI's declarations are those of mpi.h") {
    SUCCEED("the compiler has compared them");
}
#else
TEST_CASE("Open MPI's declarations are those of mpi.h") {
    WARN("no mpi.h of Open MPI is here: they were not compared");
}
#endif
