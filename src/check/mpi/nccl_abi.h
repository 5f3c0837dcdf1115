/* The part of NCCL's interface that Railyard uses, declared again so that neither its header nor its library
 * is needed to build: railcheck resolves these names with dlsym, tests/doubles/nccl_double.cpp defines them.
 *
 * As declared in nccl.h of 2.4 and later (NCCL documentation, API); tests/doubles/nccl_abi_test.py compares
 * them with it where it is installed. A stream is the CUDA driver's. */
#ifndef RAILYARD_NCCL_ABI_H
#define RAILYARD_NCCL_ABI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

typedef struct ncclComm* ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;

/* enums in nccl.h */
typedef int ncclResult_t;
typedef int ncclDataType_t;
typedef int ncclRedOp_t;
enum { ncclSuccess = 0, ncclSystemError = 2, ncclInvalidArgument = 4, ncclInvalidUsage = 5 };
enum { ncclFloat32 = 7, ncclSum = 0 };

/* X(name, result, parameters): every function we use. */
#define RAILYARD_NCCL_FUNCTIONS(X)                                                                           \
    X(ncclGetVersion, ncclResult_t, (int* version))                                                          \
    X(ncclGetUniqueId, ncclResult_t, (ncclUniqueId * id))                                                    \
    X(ncclCommInitRank, ncclResult_t, (ncclComm_t * made, int ranks, ncclUniqueId id, int rank))             \
    X(ncclCommDestroy, ncclResult_t, (ncclComm_t with))                                                      \
    X(ncclGetErrorString, const char*, (ncclResult_t result))                                                \
    X(ncclAllReduce, ncclResult_t,                                                                           \
      (const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t operation,                 \
       ncclComm_t with, struct CUstream_st* stream))                                                         \
    X(ncclAllGather, ncclResult_t,                                                                           \
      (const void* from, void* to, size_t each, ncclDataType_t type, ncclComm_t with,                        \
       struct CUstream_st* stream))

#define RAILYARD_NCCL_TYPE(name, result, parameters) typedef result name##_fn parameters;
RAILYARD_NCCL_FUNCTIONS(RAILYARD_NCCL_TYPE)
#undef RAILYARD_NCCL_TYPE

#ifdef __cplusplus
}
#endif

#endif
