// Compiles only if check/mpi/nccl_abi.h agrees with NVIDIA's nccl.h in every function and number that
// Railyard uses (run by cuda_abi_test.py if it is installed).
#include "abi_same.hpp"

#include <nccl.h>

namespace ours {
#include "check/mpi/nccl_abi.h"
}

#define FUNCTION(name, result, parameters)                                                                   \
    static_assert(same<decltype(::name), ours::name##_fn>, #name " differs from nccl.h");
RAILYARD_NCCL_FUNCTIONS(FUNCTION)

#define NUMBER(name) static_assert(int{::name} == int{ours::name}, #name " differs from nccl.h");
NUMBER(ncclSuccess)
NUMBER(ncclSystemError)
NUMBER(ncclInvalidArgument)
NUMBER(ncclInvalidUsage)
NUMBER(ncclFloat32)
NUMBER(ncclSum)
