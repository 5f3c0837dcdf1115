// The part of Open MPI's binary interface that railcheck uses, as declared in mpi.h of releases 4 and 5
// (libmpi.so.40): handles are addresses of objects that the library exports, and the interface has not
// changed since 1.7. tests/unit/check/mpi_abi_test.cpp compares it with the installed mpi.h. Other
// implementations of MPI have other handles: they are recognized by the lack of these objects.
#pragma once

namespace check::mpi {

using Handle = void*; // a communicator, a group, a type or an operation

inline constexpr int success = 0, thread_funneled = 1;

// X(name, result and parameters)
#define RAILYARD_MPI_FUNCTIONS(X)                                                                            \
    X(MPI_Init_thread, int(int*, char***, int, int*))                                                        \
    X(MPI_Finalize, int())                                                                                   \
    X(MPI_Abort, int(Handle, int))                                                                           \
    X(MPI_Get_library_version, int(char*, int*))                                                             \
    X(MPI_Error_string, int(int, char*, int*))                                                               \
    X(MPI_Comm_rank, int(Handle, int*))                                                                      \
    X(MPI_Comm_size, int(Handle, int*))                                                                      \
    X(MPI_Comm_group, int(Handle, Handle*))                                                                  \
    X(MPI_Group_incl, int(Handle, int, const int*, Handle*))                                                 \
    X(MPI_Group_free, int(Handle*))                                                                          \
    X(MPI_Comm_create_group, int(Handle, Handle, int, Handle*))                                              \
    X(MPI_Comm_free, int(Handle*))                                                                           \
    X(MPI_Barrier, int(Handle))                                                                              \
    X(MPI_Bcast, int(void*, int, Handle, int, Handle))                                                       \
    X(MPI_Gather, int(const void*, int, Handle, void*, int, Handle, int, Handle))                            \
    X(MPI_Allreduce, int(const void*, void*, int, Handle, Handle, Handle))

#define RAILYARD_MPI_OBJECTS(X)                                                                              \
    X(ompi_mpi_comm_world)                                                                                   \
    X(ompi_mpi_byte)                                                                                         \
    X(ompi_mpi_float)                                                                                        \
    X(ompi_mpi_double)                                                                                       \
    X(ompi_mpi_op_sum)                                                                                       \
    X(ompi_mpi_op_max)

inline constexpr int longest_version = 256, longest_error = 256; // MPI_MAX_…, with the NUL

} // namespace check::mpi
