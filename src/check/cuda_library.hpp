// libcuda at run time: without a GPU, a driver or the library, there is an error message. Only names of
// cuda_abi.h are used.
#pragma once

#include "base/expected.hpp"
#include "check/cuda_abi.h"
#include "check/result.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace check {

// Loads the first of `paths` whose file name begins with `stem` ("libcuda."), else the first of `names` that
// the dynamic linker finds. Never unloaded: a driver's threads would lose their code. Errors:
// Code::not_found, listing all that was tried.
base::Expected<void*> load_library(std::span<const std::string> paths, std::string_view stem,
                                   std::span<const std::string_view> names);

struct CudaCalls {
#define RAILYARD_CUDA_MEMBER(name, parameters) name##_fn* name = nullptr;
    RAILYARD_CUDA_FUNCTIONS(RAILYARD_CUDA_MEMBER)
#undef RAILYARD_CUDA_MEMBER
};

// An error of CUDA: "cuMemAlloc_v2: out of memory (2)", and what it means for the GPU.
struct CudaFailure {
    CUresult result = CUDA_SUCCESS;
    std::string text;
    // Bad if the GPU or a link failed; not run if the software, permissions or other users are the cause.
    Verdict verdict() const;
};

// Loads libcuda and starts it. `paths`: Request::libraries. Errors: Code::not_found without the library,
// Code::unavailable when a name is missing or it does not start ("libcuda: no CUDA-capable device is detected
// (100)").
base::Expected<std::shared_ptr<const CudaCalls>> open_cuda(std::span<const std::string> paths);

std::string cuda_words(const CudaCalls& calls, CUresult result);

} // namespace check
