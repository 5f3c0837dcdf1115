// A TEST DOUBLE of cuBLAS and cuBLASLt for the GPUs of cuda_double.cpp: products are computed on the CPU,
// their times are simulated there. It has the functions of check/cuda_blas_abi.h and must never be installed.
// Verified like cuda_double.cpp.
#include "doubles/cuda_double.hpp"

#include "check/cuda_blas_abi.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

struct cublasContext {
    CUstream stream = nullptr;
};
struct cublasLtContext {};

namespace {

cublasContext the_handle;
unsigned long long wide_products = 0;
cublasLtContext the_lt;

struct Layout {
    int type;
    std::uint64_t rows, columns;
};
struct Desc {
    int transposed = CUBLAS_OP_N;
};

double element(const void* from, int type, std::size_t i) {
    if (type == CUDA_R_64F) return static_cast<const double*>(from)[i];
    if (type == CUDA_R_32F) return static_cast<double>(static_cast<const float*>(from)[i]);
    if (type == CUDA_R_16BF) {
        const unsigned bits = static_cast<unsigned>(static_cast<const unsigned short*>(from)[i]) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return static_cast<double>(value);
    }
    // E4M3; subnormal numbers are not used here.
    const unsigned bits = static_cast<const unsigned char*>(from)[i];
    double size = 1 + (bits & 7) / 8.0;
    for (int exponent = static_cast<int>(bits >> 3 & 15) - 7; exponent != 0;
         exponent += exponent < 0 ? 1 : -1)
        size = exponent > 0 ? size * 2 : size / 2;
    return (bits & 0x80) != 0 ? -size : size;
}

cublasStatus_t product(int m, int n, int k, const void* a, int type, bool transposed, const void* b, void* c,
                       int type_c, const char* rate, CUstream stream) {
    const auto rows = static_cast<std::size_t>(m), columns = static_cast<std::size_t>(n),
               depth = static_cast<std::size_t>(k);
    std::vector<double> left(rows * depth), right(depth * columns), sums(rows);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t d = 0; d < depth; ++d)
            left[d * rows + i] = element(a, type, transposed ? i * depth + d : d * rows + i);
    for (std::size_t i = 0; i < right.size(); ++i)
        right[i] = element(b, type, i);
    for (std::size_t j = 0; j < columns; ++j) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t d = 0; d < depth; ++d)
            for (std::size_t i = 0; i < rows; ++i)
                sums[i] += left[d * rows + i] * right[j * depth + d];
        for (std::size_t i = 0; i < rows; ++i)
            if (type_c == CUDA_R_64F)
                static_cast<double*>(c)[j * rows + i] = sums[i];
            else
                static_cast<float*>(c)[j * rows + i] = static_cast<float>(sums[i]);
    }
    const auto bytes = rows * columns * (type_c == CUDA_R_64F ? 8 : 4);
    // Silent corruption that small whole numbers do not reveal.
    const auto wide = railyard_double_planted("flip_wide", 0);
    if (wide != 0 && left.front() != std::trunc(left.front()) && ++wide_products % wide == 0)
        static_cast<unsigned char*>(c)[bytes / 2] ^= 1;
    return railyard_double_product(2.0 * m * n * k, rate, c, bytes, stream) == CUDA_SUCCESS
               ? CUBLAS_STATUS_SUCCESS
               : 13;
}

} // namespace

extern "C" {

#define PROTOTYPE(name, parameters) cublasStatus_t name parameters;
RAILYARD_CUBLAS_FUNCTIONS(PROTOTYPE)
RAILYARD_CUBLASLT_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    *handle = &the_handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
    *version = 130100;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, int, int, int m, int n, int k, const void*, const void* a,
                            int type_a, int, const void* b, int, int, const void*, void* c, int type_c, int,
                            int compute, int) {
    const char* rate = compute == CUBLAS_COMPUTE_64F             ? "tflops_fp64"
                       : compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? "tflops_tf32"
                       : type_a == CUDA_R_16BF                   ? "tflops_bf16"
                                                                 : "tflops_fp32";
    return product(m, n, k, a, type_a, false, b, c, type_c, rate, handle->stream);
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    *handle = &the_lt;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, int, int) {
    *desc = new Desc;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    delete static_cast<Desc*>(desc);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, int attribute, const void* value,
                                              size_t) {
    if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
        std::memcpy(&static_cast<Desc*>(desc)->transposed, value, sizeof(int));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, int type, uint64_t rows,
                                          uint64_t columns, int64_t) {
    *layout = new Layout{type, rows, columns};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete static_cast<Layout*>(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    *preference = new Desc;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete static_cast<Desc*>(preference);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, int, const void*, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t* found, int* count) {
    // FP8 supports only products with A transposed.
    const bool has = railyard_double_planted("tflops_fp8", 500) != 0 &&
                     static_cast<Desc*>(desc)->transposed == CUBLAS_OP_T;
    std::memset(found, 0, sizeof *found);
    *count = has ? 1 : 0;
    return has ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void* a,
                              cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b,
                              const void*, const void*, cublasLtMatrixLayout_t, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*, size_t,
                              CUstream stream) {
    const auto& left = *static_cast<Layout*>(layout_a);
    const auto& right = *static_cast<Layout*>(layout_b);
    return product(static_cast<int>(left.columns), static_cast<int>(right.columns),
                   static_cast<int>(left.rows), a, left.type, true, b, d,
                   static_cast<Layout*>(layout_d)->type, "tflops_fp8", stream);
}

} // extern "C"
