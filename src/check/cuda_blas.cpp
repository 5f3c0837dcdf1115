#include "check/cuda_blas.hpp"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>

namespace check {
namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20; // what NVIDIA recommends for Hopper

} // namespace

std::string_view to_string(Precision precision) {
    static constexpr std::array<std::string_view, 5> words{"fp64", "fp32", "tf32", "bf16", "fp8"};
    return words[static_cast<std::size_t>(precision)];
}

struct CudaBlas::Calls {
#define RAILYARD_CUBLAS_MEMBER(name, parameters) name##_fn* name = nullptr;
    RAILYARD_CUBLAS_FUNCTIONS(RAILYARD_CUBLAS_MEMBER)
    RAILYARD_CUBLASLT_FUNCTIONS(RAILYARD_CUBLAS_MEMBER)
#undef RAILYARD_CUBLAS_MEMBER
};

CudaBlas::CudaBlas(std::unique_ptr<Calls> calls, CudaGpu& gpu) : calls_(std::move(calls)), gpu_(gpu) {}

CudaBlas::~CudaBlas() {
    if (handle_ != nullptr) calls_->cublasDestroy_v2(handle_);
    if (lt_ != nullptr) calls_->cublasLtDestroy(lt_);
}

base::Expected<std::unique_ptr<CudaBlas>> CudaBlas::open(std::span<const std::string> paths, CudaGpu& gpu) {
    // The newest on this machine; what we use is the same in each.
    static constexpr std::array<std::string_view, 4> names{"libcublas.so.13", "libcublas.so.12",
                                                           "libcublas.so.11", "libcublas.so"};
    static constexpr std::array<std::string_view, 4> lt_names{"libcublasLt.so.13", "libcublasLt.so.12",
                                                              "libcublasLt.so.11", "libcublasLt.so"};
    const auto library = load_library(paths, "libcublas.", names);
    if (!library) return library.error();
    auto calls = std::make_unique<Calls>();
    std::string missing;
#define RAILYARD_CUBLAS_LOAD(name, parameters)                                                               \
    calls->name = reinterpret_cast<name##_fn*>(::dlsym(*library, #name));                                    \
    if (calls->name == nullptr && missing.empty()) missing = #name;
    RAILYARD_CUBLAS_FUNCTIONS(RAILYARD_CUBLAS_LOAD)
#undef RAILYARD_CUBLAS_LOAD
    if (!missing.empty())
        return base::Error{base::Code::unavailable, fmt::format("libcublas: has no {}", missing)};
    std::string missing_lt;
    if (const auto lt = load_library(paths, "libcublasLt.", lt_names); lt) {
#define RAILYARD_CUBLAS_LOAD(name, parameters)                                                               \
    calls->name = reinterpret_cast<name##_fn*>(::dlsym(*lt, #name));                                         \
    if (calls->name == nullptr && missing_lt.empty()) missing_lt = #name;
        RAILYARD_CUBLASLT_FUNCTIONS(RAILYARD_CUBLAS_LOAD)
#undef RAILYARD_CUBLAS_LOAD
    } else {
        missing_lt = "libcublasLt";
    }
    std::unique_ptr<CudaBlas> blas(new CudaBlas(std::move(calls), gpu));
    if (const auto status = blas->calls_->cublasCreate_v2(&blas->handle_); status != CUBLAS_STATUS_SUCCESS)
        return base::Error{base::Code::unavailable, fmt::format("cublasCreate_v2: status {}", status)};
    blas->calls_->cublasSetStream_v2(blas->handle_, gpu.stream());
    if (missing_lt.empty() && blas->calls_->cublasLtCreate(&blas->lt_) != CUBLAS_STATUS_SUCCESS)
        blas->lt_ = nullptr;
    return blas;
}

int CudaBlas::version() const {
    int version = 0;
    return calls_->cublasGetVersion_v2(handle_, &version) == CUBLAS_STATUS_SUCCESS ? version : 0;
}

bool CudaBlas::multiply(Precision precision, CUdeviceptr c, CUdeviceptr a, CUdeviceptr b, int m, int n,
                        int k) {
    if (precision == Precision::fp8) return multiply_fp8(c, a, b, m, n, k);
    if (gpu_.failed()) return true;
    static constexpr double one64 = 1, zero64 = 0;
    static constexpr float one32 = 1, zero32 = 0;
    const bool wide = precision == Precision::fp64;
    const int in = wide ? CUDA_R_64F : precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const int compute = wide                           ? CUBLAS_COMPUTE_64F
                        : precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                       : CUBLAS_COMPUTE_32F;
    const auto* one = wide ? static_cast<const void*>(&one64) : &one32;
    const auto* zero = wide ? static_cast<const void*>(&zero64) : &zero32;
    const auto status = calls_->cublasGemmEx(
        handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, one, reinterpret_cast<const void*>(a), in, m,
        reinterpret_cast<const void*>(b), in, k, zero, reinterpret_cast<void*>(c),
        wide ? CUDA_R_64F : CUDA_R_32F, m, compute, CUBLAS_GEMM_DEFAULT);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return false;
    if (status != CUBLAS_STATUS_SUCCESS)
        gpu_.fail(status == CUBLAS_STATUS_ALLOC_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_LAUNCH_FAILED,
                  fmt::format("cublasGemmEx: status {}", status));
    return true;
}

bool CudaBlas::multiply_fp8(CUdeviceptr c, CUdeviceptr a, CUdeviceptr b, int m, int n, int k) {
    if (lt_ == nullptr) return false;
    if (gpu_.failed()) return true;
    if (!workspace_) workspace_ = gpu_.allocate(workspace_bytes);
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t layout_a = nullptr, layout_b = nullptr, layout_c = nullptr;
    cublasLtMatmulPreference_t preference = nullptr;
    const auto& calls = *calls_;
    const int transposed = CUBLAS_OP_T; // the only form that FP8 supports
    const std::size_t room = workspace_.bytes();
    const auto rows = [](int value) { return static_cast<std::uint64_t>(value); };
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const bool made =
        calls.cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
        calls.cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                             sizeof transposed) == CUBLAS_STATUS_SUCCESS &&
        calls.cublasLtMatrixLayoutCreate(&layout_a, CUDA_R_8F_E4M3, rows(k), rows(m), k) ==
            CUBLAS_STATUS_SUCCESS &&
        calls.cublasLtMatrixLayoutCreate(&layout_b, CUDA_R_8F_E4M3, rows(k), rows(n), k) ==
            CUBLAS_STATUS_SUCCESS &&
        calls.cublasLtMatrixLayoutCreate(&layout_c, CUDA_R_32F, rows(m), rows(n), m) ==
            CUBLAS_STATUS_SUCCESS &&
        calls.cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS &&
        calls.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                   &room, sizeof room) == CUBLAS_STATUS_SUCCESS &&
        calls.cublasLtMatmulAlgoGetHeuristic(lt_, desc, layout_a, layout_b, layout_c, layout_c, preference, 1,
                                             &found, &count) == CUBLAS_STATUS_SUCCESS &&
        count > 0;
    if (made) {
        static constexpr float one = 1, zero = 0;
        const auto status = calls.cublasLtMatmul(
            lt_, desc, &one, reinterpret_cast<const void*>(a), layout_a, reinterpret_cast<const void*>(b),
            layout_b, &zero, reinterpret_cast<const void*>(c), layout_c, reinterpret_cast<void*>(c), layout_c,
            &found.algo, reinterpret_cast<void*>(workspace_.at()), room, gpu_.stream());
        if (status != CUBLAS_STATUS_SUCCESS)
            gpu_.fail(CUDA_ERROR_LAUNCH_FAILED, fmt::format("cublasLtMatmul: status {}", status));
    }
    if (preference != nullptr) calls.cublasLtMatmulPreferenceDestroy(preference);
    for (auto* layout : {layout_a, layout_b, layout_c})
        if (layout != nullptr) calls.cublasLtMatrixLayoutDestroy(layout);
    if (desc != nullptr) calls.cublasLtMatmulDescDestroy(desc);
    return made;
}

} // namespace check
