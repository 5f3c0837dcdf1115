#include "check/cuda_library.hpp"

#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace check {

base::Expected<void*> load_library(std::span<const std::string> paths, std::string_view stem,
                                   std::span<const std::string_view> names) {
    std::string tried;
    const auto open = [&](const std::string& name) -> void* {
        if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE)) return handle;
        const char* why = ::dlerror();
        tried += fmt::format("{}{}", tried.empty() ? "" : "; ", why != nullptr ? why : name);
        return nullptr;
    };
    for (const auto& path : paths)
        if (std::filesystem::path(path).filename().string().starts_with(stem)) {
            // A path that the user named explicitly.
            if (void* handle = open(path)) return handle;
            return base::Error{base::Code::not_found, tried};
        }
    for (const auto name : names)
        if (void* handle = open(std::string(name))) return handle;
    return base::Error{base::Code::not_found, tried};
}

Verdict CudaFailure::verdict() const {
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS: // caused by kernels that use no such address on a sound GPU
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN: return Verdict::bad;
    default: return Verdict::not_run;
    }
}

std::string cuda_words(const CudaCalls& calls, CUresult result) {
    const char* words = nullptr;
    if (calls.cuGetErrorString == nullptr || calls.cuGetErrorString(result, &words) != CUDA_SUCCESS ||
        words == nullptr)
        words = "unknown error";
    return fmt::format("{} ({})", words, result);
}

base::Expected<std::shared_ptr<const CudaCalls>> open_cuda(std::span<const std::string> paths) {
    static constexpr std::array<std::string_view, 2> names{"libcuda.so.1", "libcuda.so"};
    const auto handle = load_library(paths, "libcuda.", names);
    if (!handle) return handle.error();
    auto calls = std::make_shared<CudaCalls>();
    std::string missing;
#define RAILYARD_CUDA_LOAD(name, parameters)                                                                 \
    calls->name = reinterpret_cast<name##_fn*>(::dlsym(*handle, #name));                                     \
    if (calls->name == nullptr && missing.empty()) missing = #name;
    RAILYARD_CUDA_FUNCTIONS(RAILYARD_CUDA_LOAD)
#undef RAILYARD_CUDA_LOAD
    if (!missing.empty())
        return base::Error{
            base::Code::unavailable,
            fmt::format("libcuda: has no {}: its driver is older than 470, or it is none", missing)};
    if (const auto result = calls->cuInit(0); result != CUDA_SUCCESS)
        return base::Error{base::Code::unavailable, fmt::format("libcuda: {}", cuda_words(*calls, result))};
    return std::shared_ptr<const CudaCalls>(std::move(calls));
}

} // namespace check
