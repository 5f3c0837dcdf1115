#include "probe/nvml_gpus.hpp"

#include "probe/nvml_abi.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <fmt/format.h>

namespace probe {

// The loaded library, its functions and the GPUs found.
struct NvmlGpus::Library {
    ~Library() {
        if (events) calls.nvmlEventSetFree(events);
        if (started) calls.nvmlShutdown();
        if (handle) ::dlclose(handle);
    }

    struct Gpu {
        nvmlDevice_t device = nullptr;
        std::string pci;
        GpuSample last;
    };

    base::Expected<void> load(const std::string& name);
    base::Expected<void> start();
    std::string words(nvmlReturn_t result) const {
        return fmt::format("NVML: {} ({})", error_string ? error_string(result) : "error", result);
    }

    void* handle = nullptr;
    struct {
#define RAILYARD_NVML_MEMBER(name, parameters) name##_fn* name = nullptr;
        RAILYARD_NVML_FUNCTIONS(RAILYARD_NVML_MEMBER)
#undef RAILYARD_NVML_MEMBER
    } calls;
    nvmlErrorString_fn* error_string = nullptr;
    bool started = false;
    std::vector<Gpu> gpus;
    nvmlEventSet_t events = nullptr;
    std::atomic<bool> has_xid_events = false;
};

base::Expected<void> NvmlGpus::Library::load(const std::string& name) {
    handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* why = ::dlerror();
        return base::Error{base::Code::not_found, why ? why : name + ": cannot be loaded"};
    }
#define RAILYARD_NVML_LOAD(function, parameters)                                                             \
    calls.function = reinterpret_cast<function##_fn*>(::dlsym(handle, #function));
    RAILYARD_NVML_FUNCTIONS(RAILYARD_NVML_LOAD)
#undef RAILYARD_NVML_LOAD
    error_string = reinterpret_cast<nvmlErrorString_fn*>(::dlsym(handle, "nvmlErrorString"));
    if (!calls.nvmlDeviceGetCurrentClocksEventReasons)
        calls.nvmlDeviceGetCurrentClocksEventReasons = calls.nvmlDeviceGetCurrentClocksThrottleReasons;
    if (!calls.nvmlInit_v2 || !calls.nvmlShutdown || !calls.nvmlDeviceGetCount_v2 ||
        !calls.nvmlDeviceGetHandleByIndex_v2 || !calls.nvmlDeviceGetCurrentClocksEventReasons)
        return base::Error{base::Code::unavailable, name + ": is no NVML, or older than driver 418"};
    return {};
}

base::Expected<void> NvmlGpus::Library::start() {
    if (const auto result = calls.nvmlInit_v2(); result != NVML_SUCCESS)
        return base::Error{base::Code::unavailable, words(result)};
    started = true;
    unsigned count = 0;
    if (const auto result = calls.nvmlDeviceGetCount_v2(&count); result != NVML_SUCCESS)
        return base::Error{base::Code::unavailable, words(result)};
    for (unsigned i = 0; i < std::min(count, 64U); ++i) {
        Gpu gpu;
        gpu.last.index = i;
        const auto result = calls.nvmlDeviceGetHandleByIndex_v2(i, &gpu.device);
        if (result != NVML_SUCCESS) {
            if (result != NVML_ERROR_GPU_IS_LOST) continue; // not visible to us (a container's, a cgroup's)
            gpu.device = nullptr;
            gpu.last.lost = true;
        } else if (nvmlPciInfo_t pci{}; calls.nvmlDeviceGetPciInfo_v3 &&
                                        calls.nvmlDeviceGetPciInfo_v3(gpu.device, &pci) == NVML_SUCCESS) {
            gpu.last.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
        }
        gpus.push_back(std::move(gpu));
    }
    if (!calls.nvmlEventSetCreate || !calls.nvmlEventSetFree || !calls.nvmlDeviceRegisterEvents ||
        !calls.nvmlEventSetWait_v2 || calls.nvmlEventSetCreate(&events) != NVML_SUCCESS)
        return {};
    for (const auto& gpu : gpus)
        if (gpu.device &&
            calls.nvmlDeviceRegisterEvents(gpu.device, NVML_EVENT_TYPE_XID_CRITICAL, events) == NVML_SUCCESS)
            has_xid_events = true;
    return {};
}

NvmlGpus::NvmlGpus(std::unique_ptr<Library> library) : library_(std::move(library)) {}
NvmlGpus::NvmlGpus(NvmlGpus&&) noexcept = default;
NvmlGpus& NvmlGpus::operator=(NvmlGpus&&) noexcept = default;
NvmlGpus::~NvmlGpus() = default;

base::Expected<NvmlGpus> NvmlGpus::open(const std::string& library) {
    auto opened = std::make_unique<Library>();
    if (auto loaded = opened->load(library); !loaded) return std::move(loaded).error();
    if (auto started = opened->start(); !started) return std::move(started).error().within(library);
    return NvmlGpus(std::move(opened));
}

std::vector<GpuSample> NvmlGpus::sample() {
    const auto& calls = library_->calls;
    std::vector<GpuSample> samples;
    for (auto& gpu : library_->gpus) {
        if (!gpu.device) {
            samples.push_back(gpu.last);
            continue;
        }
        unsigned long long reasons = 0;
        const auto first = calls.nvmlDeviceGetCurrentClocksEventReasons(gpu.device, &reasons);
        gpu.last.lost = first == NVML_ERROR_GPU_IS_LOST;
        if (gpu.last.lost) {
            gpu.last.reasons = 0;
            samples.push_back(gpu.last);
            continue;
        }
        gpu.last.reasons = first == NVML_SUCCESS ? reasons : 0;

        const auto number = [&](auto* function, auto& into) {
            unsigned value = 0;
            if (function && function(gpu.device, &value) == NVML_SUCCESS) into = value;
        };
        number(calls.nvmlDeviceGetCurrPcieLinkGeneration, gpu.last.pcie_generation);
        number(calls.nvmlDeviceGetMaxPcieLinkGeneration, gpu.last.pcie_generation_max);
        number(calls.nvmlDeviceGetCurrPcieLinkWidth, gpu.last.pcie_width);
        number(calls.nvmlDeviceGetMaxPcieLinkWidth, gpu.last.pcie_width_max);
        number(calls.nvmlDeviceGetPcieReplayCounter, gpu.last.pcie_replays);

        const auto ecc = [&](int type, std::optional<std::uint64_t>& into) {
            unsigned long long errors = 0;
            if (calls.nvmlDeviceGetTotalEccErrors &&
                calls.nvmlDeviceGetTotalEccErrors(gpu.device, type, NVML_ECC_VOLATILE, &errors) ==
                    NVML_SUCCESS)
                into = errors;
        };
        ecc(NVML_MEMORY_ERROR_CORRECTED, gpu.last.ecc_corrected);
        ecc(NVML_MEMORY_ERROR_UNCORRECTED, gpu.last.ecc_uncorrected);

        unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
        if (calls.nvmlDeviceGetRemappedRows &&
            calls.nvmlDeviceGetRemappedRows(gpu.device, &corrected, &uncorrected, &pending, &failed) ==
                NVML_SUCCESS) {
            gpu.last.remap_pending = pending != 0;
            gpu.last.remap_failed = failed != 0;
        }
        samples.push_back(gpu.last);
    }
    return samples;
}

std::vector<XidEvent> NvmlGpus::wait_xids(base::Duration longest) {
    std::vector<XidEvent> events;
    if (!library_->has_xid_events) return events;
    const auto& calls = library_->calls;
    auto wait = static_cast<unsigned>(std::clamp<base::Duration::rep>(longest.count(), 0, 60'000));
    for (;;) {
        nvmlEventData_t data{};
        const auto result = calls.nvmlEventSetWait_v2(library_->events, &data, wait);
        // A lost GPU makes the wait itself fail: sample() reports it, and waiting again would spin.
        if (result != NVML_SUCCESS) {
            if (result != NVML_ERROR_TIMEOUT && result != NVML_ERROR_GPU_IS_LOST)
                library_->has_xid_events = false;
            return events;
        }
        wait = 0; // take what else has come, then return
        if ((data.eventType & NVML_EVENT_TYPE_XID_CRITICAL) == 0) continue;
        const auto gpu = std::find_if(library_->gpus.begin(), library_->gpus.end(),
                                      [&](const auto& g) { return g.device == data.device; });
        events.push_back({gpu == library_->gpus.end() ? std::string() : gpu->last.pci,
                          static_cast<std::uint32_t>(data.eventData),
                          {}});
        if (events.size() >= 1000) return events;
    }
}

bool NvmlGpus::has_xid_events() const {
    return library_->has_xid_events;
}

} // namespace probe
