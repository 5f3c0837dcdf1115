#include "probe/nvml_gpus.hpp"

#include "probe/nvml_library.hpp"
#include "probe/process_user.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace probe {

namespace {

// Clock event reasons for which newer drivers count the time.
constexpr auto counted_reasons =
    NVML_REASON_SW_THERMAL_SLOWDOWN | NVML_REASON_HW_THERMAL_SLOWDOWN | NVML_REASON_HW_POWER_BRAKE;

// Events after which a sample shows more than the event itself.
constexpr auto stirring = NVML_EVENT_TYPE_SINGLE_BIT_STORM | NVML_EVENT_TYPE_ROW_REMAPPED |
                          NVML_EVENT_TYPE_ROW_REMAP_FAILED | NVML_EVENT_TYPE_POISON |
                          NVML_EVENT_TYPE_POISON_FATAL | NVML_EVENT_TYPE_UNAVAILABLE |
                          NVML_EVENT_TYPE_RECOVERY_ACTION;

} // namespace

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
            gpu.device = nullptr;
            gpu.last.lost = result == NVML_ERROR_GPU_IS_LOST;
            if (!gpu.last.lost) gpu.last.silent = words(result);
        } else if (nvmlPciInfo_t pci{}; calls.nvmlDeviceGetPciInfo_v3 &&
                                        calls.nvmlDeviceGetPciInfo_v3(gpu.device, &pci) == NVML_SUCCESS) {
            gpu.pci = gpu.last.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
        }
        if (gpu.device) prepare(gpu.activity, gpu.device);
        gpus.push_back(std::move(gpu));
    }
    if (!calls.nvmlEventSetCreate || !calls.nvmlEventSetFree || !calls.nvmlDeviceRegisterEvents ||
        !calls.nvmlEventSetWait_v2 || calls.nvmlEventSetCreate(&events) != NVML_SUCCESS)
        return {};
    for (const auto& gpu : gpus)
        if (gpu.device && register_events(gpu.device)) has_xid_events = true;
    return {};
}

void NvmlGpus::Library::prepare(Activity& activity, nvmlDevice_t device) const {
    nvmlGpmSupport_t has{};
    has.version = NVML_GPM_VERSION;
    if (!calls.nvmlGpmQueryDeviceSupport || !calls.nvmlGpmSampleAlloc || !calls.nvmlGpmSampleFree ||
        !calls.nvmlGpmSampleGet || !calls.nvmlGpmMetricsGet ||
        calls.nvmlGpmQueryDeviceSupport(device, &has) != NVML_SUCCESS || has.isSupportedDevice == 0 ||
        calls.nvmlGpmSampleAlloc(&activity.now) != NVML_SUCCESS)
        return;
    if (calls.nvmlGpmSampleAlloc(&activity.before) != NVML_SUCCESS) activity.before = nullptr;
}

bool NvmlGpus::Library::register_events(nvmlDevice_t device) const {
    const auto registers = [&](unsigned long long types) {
        return calls.nvmlDeviceRegisterEvents(device, types, events) == NVML_SUCCESS;
    };
    unsigned long long known = 0;
    if (calls.nvmlDeviceGetSupportedEventTypes &&
        calls.nvmlDeviceGetSupportedEventTypes(device, &known) == NVML_SUCCESS && (known & stirring) != 0 &&
        registers(NVML_EVENT_TYPE_XID_CRITICAL | (known & stirring)))
        return true;
    return registers(NVML_EVENT_TYPE_XID_CRITICAL);
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

std::optional<std::vector<std::uint32_t>> NvmlGpus::Library::users_of(nvmlDevice_t device) const {
    const auto found = processes_of(device);
    if (!found || found->count > found->some.size()) return std::nullopt;
    std::vector<std::uint32_t> users;
    for (std::size_t i = 0; i < found->count; ++i) {
        const auto user = user_of_process(found->some[i].pid);
        if (!user) return std::nullopt; // in another namespace, or already gone
        users.push_back(*user);
    }
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    return users;
}

std::optional<NvmlGpus::Library::Processes> NvmlGpus::Library::processes_of(nvmlDevice_t device) const {
    const auto ask = calls.nvmlDeviceGetComputeRunningProcesses_v3;
    if (ask == nullptr) return std::nullopt;
    Processes found;
    found.count = static_cast<unsigned>(found.some.size());
    const auto result = ask(device, &found.count, found.some.data());
    if (result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE) return std::nullopt;
    return found;
}

namespace {

// The error, if every query about the GPU made in each sample failed; empty: at least one was answered.
std::string refusal_of(const GpuSample& gpu) {
    if (gpu.lost || gpu.unseen.empty() || gpu.reasons || gpu.pcie_generation || gpu.sm_mhz || gpu.power_mw ||
        gpu.busy_percent || gpu.ecc_corrected || gpu.remap_pending)
        return {};
    const auto& last = gpu.unseen.back();
    return last.substr(last.find("NVML"));
}

} // namespace

std::vector<GpuSample> NvmlGpus::sample(Ask ask) {
    std::vector<GpuSample> samples;
    const int number = library_->samples++;
    const bool stirred = library_->stirred.exchange(false);
    // Stagger the GPUs, so that no sample has to wait for all of them.
    const auto due = [&](std::size_t place, int between) {
        return ask == Ask::all || number == 0 || (number + static_cast<int>(place)) % between == 0;
    };
    for (std::size_t place = 0; place < library_->gpus.size(); ++place) {
        auto& gpu = library_->gpus[place];
        GpuSample fresh;
        fresh.index = gpu.last.index;
        fresh.pci = gpu.last.pci;
        if (!gpu.device) fresh.lost = gpu.last.lost, fresh.silent = gpu.last.silent;
        if (gpu.device) {
            const bool slowed = (gpu.last.reasons.value_or(0) & counted_reasons) != 0;
            if (stirred || due(place, Library::samples_between)) {
                gpu.seldom = fresh;
                Asking{*library_, gpu.device, gpu.seldom}.seldom();
            }
            if (slowed || due(5 * place, Library::samples_between_times)) {
                gpu.times = {};
                Asking{*library_, gpu.device, gpu.times}.times();
                gpu.take_times(number);
            }
            fresh = gpu.seldom; // including its errors
            gpu.hand_times(fresh);
            fresh.lost = false;
            const Asking asking{*library_, gpu.device, fresh};
            if (due(50 * place, Library::samples_between_limits)) asking.power_limit(gpu.limit_mw);
            fresh.power_limit_mw = gpu.limit_mw;
            asking.now();
            asking.activity(gpu.activity, number, static_cast<int>(place));
            fresh.silent = refusal_of(fresh);
        }
        gpu.last = fresh;
        samples.push_back(std::move(fresh));
    }
    return samples;
}

bool NvmlGpus::has_silent() const {
    return std::any_of(library_->gpus.begin(), library_->gpus.end(),
                       [](const auto& gpu) { return !gpu.last.silent.empty(); });
}

std::vector<std::string> NvmlGpus::nvlink_domains() const {
    std::vector<std::string> domains;
    for (const auto& gpu : library_->gpus) {
        auto& domain = domains.emplace_back();
        if (!gpu.device) continue;
        GpuSample unused;
        const auto info = Asking{*library_, gpu.device, unused}.fabric_info();
        if (!info || info->state != NVML_FABRIC_COMPLETED || info->status != NVML_SUCCESS) continue;
        const auto& uuid = info->clusterUuid;
        if (std::all_of(std::begin(uuid), std::end(uuid), [](unsigned char c) { return c == 0; })) continue;
        for (std::size_t i = 0; i < std::size(uuid); ++i)
            domain += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
        domain += fmt::format(".{}", info->cliqueId);
    }
    return domains;
}

std::string NvmlGpus::used_by(std::uint32_t index) const {
    const auto gpu = std::find_if(library_->gpus.begin(), library_->gpus.end(),
                                  [&](const auto& one) { return one.last.index == index; });
    if (gpu == library_->gpus.end() || gpu->device == nullptr) return {};
    const auto found = library_->processes_of(gpu->device);
    if (!found || found->count == 0) return {};
    if (found->count == 1) return fmt::format("process {}", found->some.front().pid);
    return fmt::format("{} processes, such as {}", found->count, found->some.front().pid);
}

std::optional<std::uint32_t> NvmlGpus::only_user(const std::string& pci) const {
    const auto gpu = std::find_if(library_->gpus.begin(), library_->gpus.end(),
                                  [&](const auto& one) { return one.pci == pci; });
    if (gpu == library_->gpus.end() || gpu->device == nullptr) return std::nullopt;
    const auto users = library_->users_of(gpu->device);
    if (!users || users->size() != 1) return std::nullopt;
    return users->front();
}

std::vector<XidEvent> NvmlGpus::wait_xids(base::Duration longest) {
    std::vector<XidEvent> events;
    if (!library_->has_xid_events) return events;
    const auto& calls = library_->calls;
    auto wait = static_cast<unsigned>(std::clamp<base::Duration::rep>(longest.count(), 0, 60'000));
    for (;;) {
        nvmlEventData_t data{};
        const auto result = calls.nvmlEventSetWait_v2(library_->events, &data, wait);
        // A lost GPU makes the wait itself fail: sample() reports the GPU, and waiting again would busy-loop.
        if (result != NVML_SUCCESS) {
            if (result != NVML_ERROR_TIMEOUT && result != NVML_ERROR_GPU_IS_LOST)
                library_->has_xid_events = false;
            return events;
        }
        wait = 0; // take what else has arrived, then return
        if ((data.eventType & NVML_EVENT_TYPE_XID_CRITICAL) == 0) {
            library_->stirred = true;
            continue;
        }
        const auto gpu = std::find_if(library_->gpus.begin(), library_->gpus.end(),
                                      [&](const auto& g) { return g.device == data.device; });
        XidEvent event;
        event.code = static_cast<std::uint32_t>(data.eventData);
        if (gpu != library_->gpus.end()) event.pci = gpu->pci;
        events.push_back(std::move(event));
        if (events.size() >= 1000) return events;
    }
}

bool NvmlGpus::has_xid_events() const {
    return library_->has_xid_events;
}

} // namespace probe
