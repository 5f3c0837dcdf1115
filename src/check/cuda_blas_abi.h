/* The part of cuBLAS's and cuBLASLt's interface that Railyard uses, declared again as in cuda_abi.h. Names,
 * numbers and layouts are those of cublas_api.h and cublasLt.h, 11.8 and later (FP8; otherwise 11.0). */
#ifndef RAILYARD_CUDA_BLAS_ABI_H
#define RAILYARD_CUDA_BLAS_ABI_H

#include "check/cuda_abi.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int cublasStatus_t; /* an enum in cublas_api.h; its values: */
enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_NOT_SUPPORTED = 15 };
typedef struct cublasContext* cublasHandle_t;
typedef struct cublasLtContext* cublasLtHandle_t;
typedef void* cublasLtMatmulDesc_t; /* opaque pointers of cuBLASLt */
typedef void* cublasLtMatrixLayout_t;
typedef void* cublasLtMatmulPreference_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;

enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16BF = 14, CUDA_R_8F_E4M3 = 28 }; /* cudaDataType */
enum {                                                                          /* cublasComputeType_t */
       CUBLAS_COMPUTE_32F = 68,
       CUBLAS_COMPUTE_64F = 70,
       CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum { CUBLAS_GEMM_DEFAULT = -1 };
enum { CUBLASLT_MATMUL_DESC_TRANSA = 3 };
enum { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

/* X(name, parameters): every function we use of libcublas, and of libcublasLt. */
#define RAILYARD_CUBLAS_FUNCTIONS(X)                                                                         \
    X(cublasCreate_v2, (cublasHandle_t * handle))                                                            \
    X(cublasDestroy_v2, (cublasHandle_t handle))                                                             \
    X(cublasSetStream_v2, (cublasHandle_t handle, CUstream stream))                                          \
    X(cublasGetVersion_v2, (cublasHandle_t handle, int* version))                                            \
    X(cublasGemmEx, (cublasHandle_t handle, int op_a, int op_b, int m, int n, int k, const void* alpha,      \
                     const void* a, int type_a, int lda, const void* b, int type_b, int ldb,                 \
                     const void* beta, void* c, int type_c, int ldc, int compute, int algorithm))
#define RAILYARD_CUBLASLT_FUNCTIONS(X)                                                                       \
    X(cublasLtCreate, (cublasLtHandle_t * handle))                                                           \
    X(cublasLtDestroy, (cublasLtHandle_t handle))                                                            \
    X(cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t * desc, int compute, int scale_type))                  \
    X(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t desc))                                                \
    X(cublasLtMatmulDescSetAttribute,                                                                        \
      (cublasLtMatmulDesc_t desc, int attribute, const void* value, size_t bytes))                           \
    X(cublasLtMatrixLayoutCreate,                                                                            \
      (cublasLtMatrixLayout_t * layout, int type, uint64_t rows, uint64_t columns, int64_t ld))              \
    X(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                                          \
    X(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * preference))                             \
    X(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))                              \
    X(cublasLtMatmulPreferenceSetAttribute,                                                                  \
      (cublasLtMatmulPreference_t preference, int attribute, const void* value, size_t bytes))               \
    X(cublasLtMatmulAlgoGetHeuristic,                                                                        \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,                         \
       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,                         \
       cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t* found,            \
       int* count))                                                                                          \
    X(cublasLtMatmul,                                                                                        \
      (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,                 \
       cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b, const void* beta,    \
       const void* c, cublasLtMatrixLayout_t layout_c, void* d, cublasLtMatrixLayout_t layout_d,             \
       const cublasLtMatmulAlgo_t* algo, void* workspace, size_t workspace_bytes, CUstream stream))

#define RAILYARD_CUBLAS_TYPE(name, parameters) typedef cublasStatus_t name##_fn parameters;
RAILYARD_CUBLAS_FUNCTIONS(RAILYARD_CUBLAS_TYPE)
RAILYARD_CUBLASLT_FUNCTIONS(RAILYARD_CUBLAS_TYPE)
#undef RAILYARD_CUBLAS_TYPE

#ifdef __cplusplus
}
#endif

#endif
