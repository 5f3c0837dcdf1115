/* The part of CUDA's driver interface that Railyard uses, declared again so that neither NVIDIA's header nor
 * its library is needed to build: railcheck resolves these names with dlsym, tests/doubles/cuda_double.cpp
 * defines them.
 *
 * Names, numbers and layouts are those of cuda.h, 11.4 and later (CUDA Driver API Reference; a symbol's
 * suffix fixes its parameters permanently). */
#ifndef RAILYARD_CUDA_ABI_H
#define RAILYARD_CUDA_ABI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int CUresult; /* an enum in cuda.h; its values: */
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_UNKNOWN = 999
};

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef struct {
    char bytes[16];
} CUuuid;

/* cuDeviceGetAttribute */
enum {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};

/* X(name, parameters): every function we use. */
#define RAILYARD_CUDA_FUNCTIONS(X)                                                                           \
    X(cuInit, (unsigned int flags))                                                                          \
    X(cuDriverGetVersion, (int* version))                                                                    \
    X(cuGetErrorString, (CUresult result, const char** words))                                               \
    X(cuDeviceGetCount, (int* count))                                                                        \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                                         \
    X(cuDeviceGetName, (char* name, int length, CUdevice device))                                            \
    X(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                                                  \
    X(cuDeviceGetPCIBusId, (char* id, int length, CUdevice device))                                          \
    X(cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))                                    \
    X(cuDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer))                                     \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                      \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                       \
    X(cuCtxSetCurrent, (CUcontext context))                                                                  \
    X(cuCtxEnablePeerAccess, (CUcontext peer, unsigned int flags))                                           \
    X(cuCtxSynchronize, (void))                                                                              \
    X(cuMemGetInfo_v2, (size_t * free, size_t * total))                                                      \
    X(cuMemAlloc_v2, (CUdeviceptr * at, size_t bytes))                                                       \
    X(cuMemFree_v2, (CUdeviceptr at))                                                                        \
    X(cuMemHostAlloc, (void** at, size_t bytes, unsigned int flags))                                         \
    X(cuMemFreeHost, (void* at))                                                                             \
    X(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))                 \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream))               \
    X(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream))                     \
    X(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,    \
                          size_t bytes, CUstream stream))                                                    \
    X(cuStreamCreate, (CUstream * stream, unsigned int flags))                                               \
    X(cuStreamSynchronize, (CUstream stream))                                                                \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))                               \
    X(cuEventCreate, (CUevent * event, unsigned int flags))                                                  \
    X(cuEventRecord, (CUevent event, CUstream stream))                                                       \
    X(cuEventSynchronize, (CUevent event))                                                                   \
    X(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end))                                 \
    X(cuModuleLoadData, (CUmodule * module, const void* image))                                              \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))                       \
    X(cuLaunchKernel, (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,   \
                       unsigned int block_x, unsigned int block_y, unsigned int block_z,                     \
                       unsigned int shared_bytes, CUstream stream, void** parameters, void** extra))

#define RAILYARD_CUDA_TYPE(name, parameters) typedef CUresult name##_fn parameters;
RAILYARD_CUDA_FUNCTIONS(RAILYARD_CUDA_TYPE)
#undef RAILYARD_CUDA_TYPE

#ifdef __cplusplus
}
#endif

#endif
