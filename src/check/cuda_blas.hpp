// Products of matrices by cuBLAS and cuBLASLt, loaded at run time.
#pragma once

#include "check/cuda_blas_abi.h"
#include "check/cuda_gpu.hpp"

#include <memory>
#include <span>
#include <string>

namespace check {

// C = A B, column by column: A has m rows and k columns (stored transposed for FP8), B k rows, C m rows and n
// columns.
enum class Precision { fp64, fp32, tf32, bf16, fp8 };
std::string_view to_string(Precision precision);

class CudaBlas {
public:
    // Errors: Code::not_found without libcublas, Code::unavailable when a name is missing or it does not
    // start. FP8 needs libcublasLt.
    static base::Expected<std::unique_ptr<CudaBlas>> open(std::span<const std::string> paths, CudaGpu& gpu);
    CudaBlas(const CudaBlas&) = delete;
    CudaBlas& operator=(const CudaBlas&) = delete;
    ~CudaBlas();

    int version() const; // as encoded by cuBLAS: 130100 is 13.1.0; 0: unknown

    // Starts the product in the GPU's stream; a failure is recorded in the GPU. False: this GPU or library
    // does not support such a product, which is not a failure.
    bool multiply(Precision precision, CUdeviceptr c, CUdeviceptr a, CUdeviceptr b, int m, int n, int k);

private:
    struct Calls;
    CudaBlas(std::unique_ptr<Calls> calls, CudaGpu& gpu);
    bool multiply_fp8(CUdeviceptr c, CUdeviceptr a, CUdeviceptr b, int m, int n, int k);

    std::unique_ptr<Calls> calls_;
    CudaGpu& gpu_;
    cublasHandle_t handle_ = nullptr;
    cublasLtHandle_t lt_ = nullptr;
    CudaGpu::Memory workspace_;
};

} // namespace check
