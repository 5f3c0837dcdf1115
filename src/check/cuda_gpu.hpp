// One GPU through libcuda: its memory, our kernels on it, and times taken by its own clock. The first failure
// is kept, and calls after it do nothing: the caller checks once at the end. One thread at a time.
#pragma once

#include "check/cuda_library.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace check {

// cuda_kernels.cu as PTX; empty if Railyard was built without a CUDA compiler.
std::string_view cuda_ptx();
// The same as machine code: a GPU runs code assembled for its major number and no higher minor one. Empty if
// there is none.
std::string_view cuda_cubin(int major, int minor);

class CudaGpu {
public:
    // Device memory or page-locked host memory; freed by the destructor. Null if the allocation failed.
    class Memory {
    public:
        Memory() = default;
        Memory(Memory&& other) noexcept { swap(other); }
        Memory& operator=(Memory&& other) noexcept {
            swap(other);
            return *this;
        }
        ~Memory();
        explicit operator bool() const { return at_ != 0; }
        CUdeviceptr at() const { return at_; }
        void* host() const { return reinterpret_cast<void*>(at_); }
        std::size_t bytes() const { return bytes_; }

    private:
        friend class CudaGpu;
        void swap(Memory& other) {
            std::swap(calls_, other.calls_);
            std::swap(at_, other.at_);
            std::swap(bytes_, other.bytes_);
            std::swap(of_host_, other.of_host_);
        }
        const CudaCalls* calls_ = nullptr;
        CUdeviceptr at_ = 0;
        std::size_t bytes_ = 0;
        bool of_host_ = false;
    };

    // Makes the primary context of device `ordinal` current in this thread, and loads the kernels if
    // `kernels`. A failure is in failure().
    CudaGpu(std::shared_ptr<const CudaCalls> calls, int ordinal, bool kernels = true);
    CudaGpu(const CudaGpu&) = delete;
    CudaGpu& operator=(const CudaGpu&) = delete;

    const CudaCalls& calls() const { return *calls_; }
    CUcontext context() const { return context_; }
    CUstream stream() const { return streams_[0]; }
    int multiprocessors() const { return multiprocessors_; }

    bool failed() const { return failure_.result != CUDA_SUCCESS; }
    const CudaFailure& failure() const { return failure_; }
    // Records the failure of a call of another library, in its words.
    void fail(CUresult result, std::string text);

    // Bytes that are free now.
    std::size_t free_bytes();
    // Null when there is not enough memory, which is not a failure.
    Memory allocate(std::size_t bytes);
    Memory allocate_host(std::size_t bytes); // page-locked, near the CPUs that this thread may use

    // Starts a kernel over all multiprocessors, a few blocks each; `parameters` as cuLaunchKernel expects
    // them.
    template <class... Parameters> void launch(const char* kernel, Parameters... parameters) {
        launch_each(0, kernel, parameters...);
    }
    // The same with one thread per element. A GPU starts blocks in order, so concurrent accesses stay close
    // together: writes and copies are up to 7 % faster than with striding threads (H200).
    template <class... Parameters>
    void launch_each(std::uint64_t elements, const char* kernel, Parameters... parameters) {
        void* pointers[] = {static_cast<void*>(&parameters)...};
        launch_with(kernel, elements, pointers);
    }
    // `second`: on the second stream, concurrently with the first.
    void to_device(CUdeviceptr to, const void* from, std::size_t bytes, bool second = false);
    void to_host(void* to, CUdeviceptr from, std::size_t bytes, bool second = false);
    void zero(CUdeviceptr at, std::size_t bytes);
    void wait(); // until all work that was started has ended

    // Seconds that `work` takes, by the GPU's clock; `work` starts it and does not wait. Both streams count.
    // 0 after a failure.
    double seconds(const std::function<void()>& work);
    // The value at an address, once all earlier work has ended.
    template <class T> T read(CUdeviceptr from) {
        T value{};
        to_host(&value, from, sizeof value);
        wait();
        return value;
    }

    // Whether the call succeeded; keeps its failure.
    bool ok(CUresult result, std::string_view call);

private:
    void load_kernels();
    void launch_with(const char* kernel, std::uint64_t elements, void** parameters); // elements 0: few blocks
                                                                                     // each

    std::shared_ptr<const CudaCalls> calls_;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUmodule module_ = nullptr;
    CUstream streams_[2] = {};
    CUevent start_ = nullptr, fork_ = nullptr, end_ = nullptr;
    int multiprocessors_ = 0;
    CudaFailure failure_;
};

} // namespace check
