// Compiles only if check/cuda_abi.h and check/cuda_blas_abi.h agree with NVIDIA's cuda.h, cublas_api.h and
// cublasLt.h in every function, layout and number that Railyard uses (run by cuda_abi_test.py if these are
// installed).
#include "abi_same.hpp"

#include <cublasLt.h>
#include <cublas_api.h>
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ours {
#include "check/cuda_blas_abi.h"
}

#define FUNCTION(name, parameters)                                                                           \
    static_assert(same<decltype(::name), ours::name##_fn>, #name " differs from NVIDIA's header");
RAILYARD_CUDA_FUNCTIONS(FUNCTION)
RAILYARD_CUBLASLT_FUNCTIONS(FUNCTION)
FUNCTION(cublasCreate_v2, )
FUNCTION(cublasGetVersion_v2, )
FUNCTION(cublasDestroy_v2, )
FUNCTION(cublasSetStream_v2, )
// C++ has a second overload.
using Gemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                            const void*, cudaDataType, int, const void*, cudaDataType, int, const void*,
                            void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
[[maybe_unused]] constexpr Gemm* gemm = &::cublasGemmEx;
static_assert(same<Gemm, ours::cublasGemmEx_fn>);

#define NUMBER(name)                                                                                         \
    static_assert(static_cast<long long>(ours::name) == static_cast<long long>(::name),                      \
                  #name " differs from NVIDIA's header")
NUMBER(CUDA_SUCCESS);
NUMBER(CUDA_ERROR_INVALID_VALUE);
NUMBER(CUDA_ERROR_OUT_OF_MEMORY);
NUMBER(CUDA_ERROR_DEVICE_UNAVAILABLE);
NUMBER(CUDA_ERROR_NO_DEVICE);
NUMBER(CUDA_ERROR_INVALID_DEVICE);
NUMBER(CUDA_ERROR_ECC_UNCORRECTABLE);
NUMBER(CUDA_ERROR_NVLINK_UNCORRECTABLE);
NUMBER(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
NUMBER(CUDA_ERROR_NOT_FOUND);
NUMBER(CUDA_ERROR_ILLEGAL_ADDRESS);
NUMBER(CUDA_ERROR_LAUNCH_TIMEOUT);
NUMBER(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
NUMBER(CUDA_ERROR_HARDWARE_STACK_ERROR);
NUMBER(CUDA_ERROR_ILLEGAL_INSTRUCTION);
NUMBER(CUDA_ERROR_LAUNCH_FAILED);
NUMBER(CUDA_ERROR_SYSTEM_NOT_READY);
NUMBER(CUDA_ERROR_UNKNOWN);
NUMBER(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
NUMBER(CUBLAS_STATUS_SUCCESS);
NUMBER(CUBLAS_STATUS_ALLOC_FAILED);
NUMBER(CUBLAS_STATUS_NOT_SUPPORTED);
NUMBER(CUBLAS_OP_N);
NUMBER(CUBLAS_OP_T);
NUMBER(CUDA_R_32F);
NUMBER(CUDA_R_64F);
NUMBER(CUDA_R_16BF);
NUMBER(CUDA_R_8F_E4M3);
NUMBER(CUBLAS_COMPUTE_32F);
NUMBER(CUBLAS_COMPUTE_64F);
NUMBER(CUBLAS_COMPUTE_32F_FAST_TF32);
NUMBER(CUBLAS_GEMM_DEFAULT);
NUMBER(CUBLASLT_MATMUL_DESC_TRANSA);
NUMBER(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);

static_assert(sizeof(ours::CUuuid) == sizeof(::CUuuid));
static_assert(sizeof(ours::cublasLtMatmulHeuristicResult_t) == sizeof(::cublasLtMatmulHeuristicResult_t));
#define FIELD(name)                                                                                          \
    static_assert(offsetof(ours::cublasLtMatmulHeuristicResult_t, name) ==                                   \
                  offsetof(::cublasLtMatmulHeuristicResult_t, name))
FIELD(algo);
FIELD(workspaceSize);
FIELD(state);
