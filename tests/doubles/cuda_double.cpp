// A TEST DOUBLE of CUDA's driver library: it has libcuda's soname and the functions of check/cuda_abi.h, its
// GPUs are memory of the host, their kernels are those of check/cuda_kernels.cu run on a CPU, one thread
// after the other, and their times are computed from rates. It measures nothing and must never be installed.
//
// Verified by: cuda_abi.h, through which both this file and railcheck are compiled;
// tests/doubles/cuda_abi_test.py, which compares cuda_abi.h with NVIDIA's cuda.h if it is installed.
//
// The file named by RAIL_CUDA_STATE is read once; each line is KEY=VALUE (decimal or 0x…):
//   count=2          GPUs (at most 16)              init=100       what cuInit returns
//   mem_mib=4        memory of each, or N.mem_mib   sms=2          multiprocessors of each
//   no_cubin=1       only PTX is accepted           no_ptx=1       only machine code is accepted
//   N.hbm=3000 N.pcie=55 N.link=400                 GB/s of its memory, to the host, to another GPU
//   N.tflops_fp64=60 …_fp32 …_tf32 …_bf16 …_fp8     of products; fp8 0: cuBLASLt has none
//   N.flip_fill=1    flips a bit of a pattern after a kernel has written it
//   N.flip_product=1 the same for a product         N.flip_copy=1  the same for data sent by the host
//   N.flip_wide=1    the same for cuBLAS products of numbers that are not whole; 2: for every second one
//   N.hang_launch=1 N.hang_copy=1 N.hang_alloc=1 N.hang_context=1  the call never returns
//   N.fail_launch=214 N.fail_copy=… N.fail_alloc=… N.fail_context=…  the call returns this
//   N.peer=0         it cannot access other GPUs' memory
// N may be "*" for all GPUs. GPU N has the PCI address of GPU N of nvml_double.c.
#include "doubles/cuda_double.hpp"

#include "check/cuda_abi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

// The kernels, one CPU thread at a time.
static unsigned long long thread_number, thread_count;
static inline unsigned long long railyard_thread() {
    return thread_number;
}
static inline unsigned long long railyard_threads() {
    return thread_count;
}
#define RAILYARD_KERNELS_ON_HOST
#include "check/cuda_kernels.cu"

struct CUctx_st {
    int gpu = 0;
};
struct CUstream_st {
    int gpu = 0;
    double seconds = 0; // on this stream's clock
};
struct CUevent_st {
    double seconds = 0;
};
struct CUmod_st {};

namespace {

constexpr int most_gpus = 16;

std::map<std::string, unsigned long long> state;
std::vector<int> visible; // GPUs, by the ordinal that this process sees
CUctx_st contexts[most_gpus];
CUmod_st the_module;
int current = 0;
std::map<CUdeviceptr, std::pair<int, std::size_t>> memory; // GPU and bytes
std::size_t used[most_gpus];
CUstream_st default_streams[most_gpus];

unsigned long long whole(const std::string& key, unsigned long long otherwise) {
    const auto found = state.find(key);
    return found == state.end() ? otherwise : found->second;
}

unsigned long long planted(int gpu, const std::string& key, unsigned long long otherwise) {
    return whole(std::to_string(gpu) + "." + key, whole("*." + key, otherwise));
}

void read_state() {
    state.clear();
    const char* path = std::getenv("RAIL_CUDA_STATE");
    std::FILE* file = path != nullptr ? std::fopen(path, "re") : nullptr;
    if (file == nullptr) return;
    char text[256];
    while (std::fgets(text, sizeof text, file) != nullptr)
        if (char* equals = std::strchr(text, '='); equals != nullptr && text[0] != '#') {
            *equals = 0;
            state[text] = std::strtoull(equals + 1, nullptr, 0);
        }
    std::fclose(file);
}

std::string uuid_of(int gpu) {
    char text[64];
    std::snprintf(text, sizeof text, "GPU-%02x0d0b1e-0000-0000-0000-000000000000",
                  static_cast<unsigned>(gpu));
    return text;
}

void see_gpus() {
    visible.clear();
    const auto count = static_cast<int>(std::min<unsigned long long>(whole("count", 2), most_gpus));
    const char* wanted = std::getenv("CUDA_VISIBLE_DEVICES");
    for (int gpu = 0; gpu < count; ++gpu)
        if (wanted == nullptr || uuid_of(gpu) == wanted || std::to_string(gpu) == wanted)
            visible.push_back(gpu);
}

// The start of each call: hangs or fails, if that is configured.
CUresult reach(int gpu, const char* call) {
    if (planted(gpu, std::string("hang_") + call, 0) != 0)
        for (;;)
            ::pause();
    return static_cast<CUresult>(planted(gpu, std::string("fail_") + call, CUDA_SUCCESS));
}

CUstream_st& clock_of(CUstream stream) {
    return stream != nullptr ? *stream : default_streams[current];
}

void spend(CUstream stream, double amount, double a_second) {
    clock_of(stream).seconds += 1e-12 + amount / std::max(a_second, 1.0);
}

// TFLOP/s of a sound GPU.
unsigned long long usual_of(const std::string& rate) {
    static const std::map<std::string, unsigned long long> usual{{"tflops_fp64", 60},
                                                                 {"tflops_fp32", 55},
                                                                 {"tflops_tf32", 400},
                                                                 {"tflops_bf16", 700},
                                                                 {"tflops_fp8", 1400}};
    return usual.at(rate);
}

double gbps(int gpu, const char* key, unsigned long long otherwise) {
    return static_cast<double>(planted(gpu, key, otherwise)) * 1e9;
}

void flip(void* at, std::size_t bytes) {
    static_cast<unsigned char*>(at)[bytes / 2] ^= 0x10;
}

int gpu_of(CUdeviceptr at) {
    auto after = memory.upper_bound(at);
    return after == memory.begin() ? current : std::prev(after)->second.first;
}

template <class T> T& parameter(void** parameters, int i) {
    return *static_cast<T*>(parameters[i]);
}

template <class Kernel> void on_all_threads(unsigned long long threads, const Kernel& kernel) {
    thread_count = threads;
    for (thread_number = 0; thread_number < threads; ++thread_number)
        kernel();
}

using Word = unsigned long long;
Word word(void** p, int i) {
    return parameter<Word>(p, i);
}
template <class T> T* at(void** p, int i) {
    return reinterpret_cast<T*>(parameter<CUdeviceptr>(p, i));
}

} // namespace

struct CUfunc_st {
    const char* name;
    // Runs the kernel, and returns its cost in bytes of memory or in operations of FP64 or FP32.
    void (*run)(void** parameters, Word threads);
    double (*cost)(void** parameters);
    const char* rate; // the rate that applies to the cost
};

namespace {

double pairs_moved(void** p) {
    return 16.0 * static_cast<double>(word(p, 1));
}
double nothing(void**) {
    return 0;
}
double operations(void** p) {
    return 2.0 * static_cast<double>(word(p, 3)) * static_cast<double>(word(p, 4)) *
           static_cast<double>(word(p, 5));
}

// Runs the kernel on all threads, with the parameters of its launch.
template <class P> P parameter_as(void** p, std::size_t i) {
    if constexpr (std::is_pointer_v<P>)
        return reinterpret_cast<P>(parameter<CUdeviceptr>(p, static_cast<int>(i)));
    else
        return parameter<P>(p, static_cast<int>(i));
}
template <class... P> void run_on_all(void (*kernel)(P...), void** p, Word n) {
    const auto call = [&]<std::size_t... i>(std::index_sequence<i...>) {
        kernel(parameter_as<P>(p, i)...);
    };
    on_all_threads(n, [&] { call(std::index_sequence_for<P...>()); });
}
template <auto kernel> void run(void** p, Word n) {
    run_on_all(kernel, p, n);
}
template <auto kernel, class T> void run_and_flip(void** p, Word n) {
    run<kernel>(p, n);
    if (planted(current, "flip_product", 0) != 0) flip(at<T>(p, 0), sizeof(T) * word(p, 3));
}

CUfunc_st functions[] = {
    {"railyard_write", run<railyard_write>, pairs_moved, "hbm"},
    {"railyard_read", run<railyard_read>, pairs_moved, "hbm"},
    {"railyard_copy", run<railyard_copy>, [](void** p) { return 32.0 * static_cast<double>(word(p, 2)); },
     "hbm"},
    {"railyard_fill",
     [](void** p, Word n) {
         run<railyard_fill>(p, n);
         if (planted(current, "flip_fill", 0) != 0) flip(at<char>(p, 0), word(p, 1) * 16);
     },
     pairs_moved, "hbm"},
    {"railyard_check", run<railyard_check>, pairs_moved, "hbm"},
    {"railyard_matrix", run<railyard_matrix>, nothing, "hbm"},
    {"railyard_depth", run<railyard_depth>, nothing, "hbm"},
    {"railyard_product", run<railyard_product>, nothing, "hbm"},
    {"railyard_random", run<railyard_random>, nothing, "hbm"},
    {"railyard_sum", run<railyard_sum>, nothing, "hbm"},
    {"railyard_gemm_f32", run_and_flip<railyard_gemm_f32, float>, operations, "hbm"},
    {"railyard_gemm_f64", run_and_flip<railyard_gemm_f64, double>, operations, "hbm"},
};

} // namespace

extern "C" {

#define PROTOTYPE(name, parameters) CUresult name parameters;
RAILYARD_CUDA_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

unsigned long long railyard_double_planted(const char* key, unsigned long long otherwise) {
    return planted(current, key, otherwise);
}

int railyard_double_product(double made, const char* rate, void* product, std::size_t bytes,
                            CUstream stream) {
    if (const auto result = reach(current, "launch"); result != CUDA_SUCCESS) return result;
    spend(stream, made, static_cast<double>(planted(current, rate, usual_of(rate))) * 1e12);
    if (planted(current, "flip_product", 0) != 0) flip(product, bytes);
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int) {
    read_state();
    see_gpus();
    for (int gpu = 0; gpu < most_gpus; ++gpu)
        contexts[gpu].gpu = gpu;
    return static_cast<CUresult>(whole("init", visible.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS));
}

CUresult cuDriverGetVersion(int* version) {
    *version = 12040;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char** words) {
    switch (result) {
    case CUDA_SUCCESS: *words = "no error"; return CUDA_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY: *words = "out of memory"; return CUDA_SUCCESS;
    case CUDA_ERROR_NO_DEVICE: *words = "no CUDA-capable device is detected"; return CUDA_SUCCESS;
    case CUDA_ERROR_ECC_UNCORRECTABLE: *words = "uncorrectable ECC error encountered"; return CUDA_SUCCESS;
    default: *words = nullptr; return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuDeviceGetCount(int* count) {
    *count = static_cast<int>(visible.size());
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    if (ordinal < 0 || ordinal >= static_cast<int>(visible.size())) return CUDA_ERROR_INVALID_DEVICE;
    *device = visible[static_cast<std::size_t>(ordinal)];
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice) {
    std::snprintf(name, static_cast<std::size_t>(length), "NVIDIA H100 80GB HBM3 (railyard test double)");
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
    const unsigned char head[] = {static_cast<unsigned char>(device), 0x0d, 0x0b, 0x1e};
    std::memset(uuid, 0, sizeof *uuid);
    std::memcpy(uuid, head, sizeof head);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
    std::snprintf(id, static_cast<std::size_t>(length), "%04X:%02X:00.0", static_cast<unsigned>(device) / 8,
                  0x14 + static_cast<unsigned>(device) % 8 * 28);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT       ? static_cast<int>(whole("sms", 2))
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
                                                                         : 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    *can = planted(device, "peer", 1) != 0 && planted(peer, "peer", 1) != 0;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    *context = &contexts[device];
    return reach(device, "context");
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    current = context->gpu;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) {
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    *total = static_cast<std::size_t>(planted(current, "mem_mib", whole("mem_mib", 4))) << 20;
    *free = *total - std::min(*total, used[current]);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* to, size_t bytes) {
    if (const auto result = reach(current, "alloc"); result != CUDA_SUCCESS) return result;
    std::size_t free = 0, total = 0;
    cuMemGetInfo_v2(&free, &total);
    if (bytes > free) return CUDA_ERROR_OUT_OF_MEMORY;
    void* block = std::calloc(1, bytes);
    if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *to = reinterpret_cast<CUdeviceptr>(block);
    memory[*to] = {current, bytes};
    used[current] += bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr from) {
    const auto found = memory.find(from);
    if (found == memory.end()) return CUDA_ERROR_INVALID_VALUE;
    used[found->second.first] -= found->second.second;
    memory.erase(found);
    std::free(reinterpret_cast<void*>(from));
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** to, size_t bytes, unsigned int) {
    *to = std::calloc(1, bytes);
    return *to != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void* from) {
    std::free(from);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    if (const auto result = reach(current, "copy"); result != CUDA_SUCCESS) return result;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    spend(stream, static_cast<double>(bytes), gbps(current, "pcie", 55));
    if (bytes > 4096 && planted(current, "flip_copy", 0) != 0) flip(reinterpret_cast<void*>(to), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    if (const auto result = reach(current, "copy"); result != CUDA_SUCCESS) return result;
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    spend(stream, static_cast<double>(bytes), gbps(current, "pcie", 55));
    return CUDA_SUCCESS;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                           CUstream stream) {
    if (const auto result = reach(current, "copy"); result != CUDA_SUCCESS) return result;
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    spend(stream, static_cast<double>(bytes),
          std::min(gbps(gpu_of(from), "link", 400), gbps(gpu_of(to), "link", 400)));
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned int) {
    *stream = new CUstream_st{current, 0};
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream) {
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
    auto& clock = clock_of(stream);
    clock.seconds = std::max(clock.seconds, event->seconds);
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned int) {
    *event = new CUevent_st;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    event->seconds = clock_of(stream).seconds;
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent) {
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    *milliseconds = static_cast<float>(1000 * (end->seconds - start->seconds));
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    *module = &the_module;
    const auto* text = static_cast<const char*>(image);
    const bool cubin = std::memcmp(text, "\177ELF", 4) == 0;
    if (whole(cubin ? "no_cubin" : "no_ptx", 0) != 0) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    return cubin || std::strstr(text, ".version") != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
    for (auto& one : functions)
        if (std::strcmp(one.name, name) == 0) {
            *function = &one;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int, unsigned int,
                        unsigned int block_x, unsigned int, unsigned int, unsigned int, CUstream stream,
                        void** parameters, void**) {
    if (const auto result = reach(current, "launch"); result != CUDA_SUCCESS) return result;
    function->run(parameters, Word{grid_x} * block_x);
    spend(stream, function->cost(parameters), gbps(current, function->rate, 3000));
    return CUDA_SUCCESS;
}

} // extern "C"
