#include "check/cuda_gpu.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace check {
namespace {

constexpr unsigned threads_a_block = 256, blocks_a_multiprocessor = 8;
constexpr std::uint64_t most_blocks = 0x7fffffff; // CUDA C++ Programming Guide, "Compute Capabilities"

} // namespace

CudaGpu::Memory::~Memory() {
    if (at_ == 0) return;
    if (of_host_)
        calls_->cuMemFreeHost(host());
    else
        calls_->cuMemFree_v2(at_);
}

CudaGpu::CudaGpu(std::shared_ptr<const CudaCalls> calls, int ordinal, bool kernels)
    : calls_(std::move(calls)) {
    if (!ok(calls_->cuDeviceGet(&device_, ordinal), "cuDeviceGet")) return;
    const auto retained = calls_->cuDevicePrimaryCtxRetain(&context_, device_);
    if (retained == CUDA_ERROR_OUT_OF_MEMORY)
        fail(retained, "less of the GPU's memory is free than a context takes, 527 MiB of an H100");
    if (!ok(retained, "cuDevicePrimaryCtxRetain") ||
        !ok(calls_->cuCtxSetCurrent(context_), "cuCtxSetCurrent"))
        return;
    ok(calls_->cuDeviceGetAttribute(&multiprocessors_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_),
       "cuDeviceGetAttribute");
    for (auto& stream : streams_)
        if (!failed())
            ok(calls_->cuStreamCreate(&stream, 1), "cuStreamCreate"); // 1: not ordered after the default
                                                                      // stream
    for (auto* event : {&start_, &fork_, &end_})
        if (!failed()) ok(calls_->cuEventCreate(event, 0), "cuEventCreate");
    if (!failed() && kernels) load_kernels();
}

// The GPU's own code loads at once; the driver takes 0.25 to 0.54 s to compile PTX not in its cache. A driver
// that cannot load the former takes the latter.
void CudaGpu::load_kernels() {
    int major = 0, minor = 0;
    calls_->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_);
    calls_->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_);
    if (const auto cubin = cuda_cubin(major, minor);
        !cubin.empty() && calls_->cuModuleLoadData(&module_, cubin.data()) == CUDA_SUCCESS)
        return;
    if (cuda_ptx().empty()) {
        fail(CUDA_ERROR_NOT_FOUND,
             "this railcheck was built without kernels: neither clang nor nvcc was there; "
             "build it where one is");
        return;
    }
    if (const auto result = calls_->cuModuleLoadData(&module_, cuda_ptx().data()); result != CUDA_SUCCESS) {
        int version = 0;
        calls_->cuDriverGetVersion(&version);
        fail(result, fmt::format("cuModuleLoadData: {}; the driver is of CUDA {}.{}",
                                 cuda_words(*calls_, result), version / 1000, version % 1000 / 10));
    }
}

bool CudaGpu::ok(CUresult result, std::string_view call) {
    if (result != CUDA_SUCCESS) fail(result, fmt::format("{}: {}", call, cuda_words(*calls_, result)));
    return result == CUDA_SUCCESS;
}

void CudaGpu::fail(CUresult result, std::string text) {
    if (!failed()) failure_ = {result, std::move(text)};
}

std::size_t CudaGpu::free_bytes() {
    std::size_t free = 0, total = 0;
    if (!failed()) ok(calls_->cuMemGetInfo_v2(&free, &total), "cuMemGetInfo_v2");
    return free;
}

CudaGpu::Memory CudaGpu::allocate(std::size_t bytes) {
    Memory memory;
    if (failed() || bytes == 0) return memory;
    const auto result = calls_->cuMemAlloc_v2(&memory.at_, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return {};
    if (!ok(result, "cuMemAlloc_v2")) return {};
    memory.calls_ = calls_.get();
    memory.bytes_ = bytes;
    return memory;
}

CudaGpu::Memory CudaGpu::allocate_host(std::size_t bytes) {
    Memory memory;
    void* at = nullptr;
    if (failed() || !ok(calls_->cuMemHostAlloc(&at, bytes, 0), "cuMemHostAlloc")) return memory;
    memory.at_ = reinterpret_cast<CUdeviceptr>(at);
    memory.of_host_ = true;
    memory.calls_ = calls_.get();
    memory.bytes_ = bytes;
    return memory;
}

void CudaGpu::launch_with(const char* kernel, std::uint64_t elements, void** parameters) {
    if (failed()) return;
    CUfunction function = nullptr;
    if (!ok(calls_->cuModuleGetFunction(&function, module_, kernel), kernel)) return;
    const auto striding = static_cast<std::uint64_t>(multiprocessors_) * blocks_a_multiprocessor;
    const auto blocks = static_cast<unsigned>(
        std::clamp((elements + threads_a_block - 1) / threads_a_block, striding, most_blocks));
    ok(calls_->cuLaunchKernel(function, blocks, 1, 1, threads_a_block, 1, 1, 0, streams_[0], parameters,
                              nullptr),
       kernel);
}

void CudaGpu::to_device(CUdeviceptr to, const void* from, std::size_t bytes, bool second) {
    if (!failed())
        ok(calls_->cuMemcpyHtoDAsync_v2(to, from, bytes, streams_[second ? 1 : 0]), "cuMemcpyHtoDAsync_v2");
}

void CudaGpu::to_host(void* to, CUdeviceptr from, std::size_t bytes, bool second) {
    if (!failed())
        ok(calls_->cuMemcpyDtoHAsync_v2(to, from, bytes, streams_[second ? 1 : 0]), "cuMemcpyDtoHAsync_v2");
}

void CudaGpu::zero(CUdeviceptr at, std::size_t bytes) {
    if (!failed()) ok(calls_->cuMemsetD8Async(at, 0, bytes, streams_[0]), "cuMemsetD8Async");
}

void CudaGpu::wait() {
    for (auto* stream : streams_)
        if (!failed()) ok(calls_->cuStreamSynchronize(stream), "cuStreamSynchronize");
}

double CudaGpu::seconds(const std::function<void()>& work) {
    if (failed()) return 0;
    const auto record = [&](CUevent event, CUstream stream) {
        if (!failed()) ok(calls_->cuEventRecord(event, stream), "cuEventRecord");
    };
    const auto follow = [&](CUstream stream, CUevent event) {
        if (!failed()) ok(calls_->cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
    };
    // The second stream begins after the start and ends before the end.
    record(start_, streams_[0]);
    follow(streams_[1], start_);
    work();
    record(fork_, streams_[1]);
    follow(streams_[0], fork_);
    record(end_, streams_[0]);
    if (!failed()) ok(calls_->cuEventSynchronize(end_), "cuEventSynchronize");
    float milliseconds = 0;
    if (!failed()) ok(calls_->cuEventElapsedTime(&milliseconds, start_, end_), "cuEventElapsedTime");
    return failed() ? 0 : milliseconds / 1000.0;
}

} // namespace check
