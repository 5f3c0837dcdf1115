#include "probe/nvml_gpus.hpp"

#include "probe/nvml_abi.h"
#include "probe/process_user.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace probe {

namespace {

// Reasons to lower the clocks of which newer drivers count the time.
constexpr auto counted_reasons =
    NVML_REASON_SW_THERMAL_SLOWDOWN | NVML_REASON_HW_THERMAL_SLOWDOWN | NVML_REASON_HW_POWER_BRAKE;

// Events of which a sample tells more than the event does.
constexpr auto stirring = NVML_EVENT_TYPE_SINGLE_BIT_STORM | NVML_EVENT_TYPE_ROW_REMAPPED |
                          NVML_EVENT_TYPE_ROW_REMAP_FAILED | NVML_EVENT_TYPE_POISON |
                          NVML_EVENT_TYPE_POISON_FATAL | NVML_EVENT_TYPE_UNAVAILABLE |
                          NVML_EVENT_TYPE_RECOVERY_ACTION;

} // namespace

// The loaded library, its functions and the GPUs found.
struct NvmlGpus::Library {
    ~Library() {
        if (events) calls.nvmlEventSetFree(events);
        if (started) calls.nvmlShutdown();
        if (handle) ::dlclose(handle);
    }

    struct Gpu {
        nvmlDevice_t device = nullptr;
        std::string pci; // nobody changes it: wait_xids reads it beside sample
        GpuSample last;
        GpuSample seldom; // what is asked seldom, as of the last time
    };

    base::Expected<void> load(const std::string& name);
    base::Expected<void> start();
    // Who computes on it: how many processes, and as many of them as there is room for.
    struct Processes {
        unsigned count = 0;
        std::array<nvmlProcessInfo_t, 64> some{};
    };
    std::optional<Processes> processes_of(nvmlDevice_t device) const;
    // Absent: not known of each.
    std::optional<std::vector<std::uint32_t>> users_of(nvmlDevice_t device) const;
    // Whether this GPU's XIDs will come as events.
    bool register_events(nvmlDevice_t device) const;
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
    int samples = 0;
    std::atomic<bool> stirred = false; // an event says that something asked seldom has changed
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
            gpu.device = nullptr;
            gpu.last.lost = result == NVML_ERROR_GPU_IS_LOST;
            if (!gpu.last.lost) gpu.last.silent = words(result);
        } else if (nvmlPciInfo_t pci{}; calls.nvmlDeviceGetPciInfo_v3 &&
                                        calls.nvmlDeviceGetPciInfo_v3(gpu.device, &pci) == NVML_SUCCESS) {
            gpu.pci = gpu.last.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
        }
        gpus.push_back(std::move(gpu));
    }
    if (!calls.nvmlEventSetCreate || !calls.nvmlEventSetFree || !calls.nvmlDeviceRegisterEvents ||
        !calls.nvmlEventSetWait_v2 || calls.nvmlEventSetCreate(&events) != NVML_SUCCESS)
        return {};
    for (const auto& gpu : gpus)
        if (gpu.device && register_events(gpu.device)) has_xid_events = true;
    return {};
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

namespace {

// This driver or this GPU does not have it, or has not all links: nothing is hidden from us.
bool is_absent(nvmlReturn_t result) {
    return result == NVML_ERROR_NOT_SUPPORTED || result == NVML_ERROR_FUNCTION_NOT_FOUND ||
           result == NVML_ERROR_INVALID_ARGUMENT || result == NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

std::optional<std::uint64_t> number_of(const nvmlFieldValue_t& field) {
    switch (field.valueType) {
    case NVML_TYPE_UNSIGNED_INT: return field.value.uiVal;
    case NVML_TYPE_UNSIGNED_LONG: return field.value.ulVal;
    case NVML_TYPE_UNSIGNED_LONG_LONG: return field.value.ullVal;
    case NVML_TYPE_SIGNED_LONG_LONG:
        return field.value.sllVal < 0 ? std::nullopt : std::optional<std::uint64_t>(field.value.sllVal);
    case NVML_TYPE_SIGNED_INT:
        return field.value.siVal < 0 ? std::nullopt : std::optional<std::uint64_t>(field.value.siVal);
    default: return std::nullopt;
    }
}

// A sample in so many also has what is asked seldom.
constexpr int samples_between = 10;

} // namespace

// One question: its answer goes into the sample, a refusal among what cannot be seen.
struct NvmlGpus::Asking {
    const Library& library;
    nvmlDevice_t device;
    GpuSample& into;

    bool answered(std::string_view what, nvmlReturn_t result) const {
        if (result == NVML_SUCCESS) return true;
        if (result == NVML_ERROR_GPU_IS_LOST)
            into.lost = true;
        else if (!is_absent(result))
            into.unseen.push_back(fmt::format("{}: {}", what, library.words(result)));
        return false;
    }
    template <class Function, class Number>
    void number(std::string_view what, Function* function, std::optional<Number>& answer) const {
        unsigned value = 0;
        if (function && answered(what, function(device, &value))) answer = value;
    }

    // What NVML keeps itself, and answers within a microsecond.
    void now() const {
        const auto& calls = library.calls;
        unsigned long long reasons = 0;
        if (answered("clock event reasons", calls.nvmlDeviceGetCurrentClocksEventReasons(device, &reasons)))
            into.reasons = reasons;
        if (into.lost) return;
        number("PCIe generation", calls.nvmlDeviceGetCurrPcieLinkGeneration, into.pcie_generation);
        number("PCIe generation", calls.nvmlDeviceGetMaxPcieLinkGeneration, into.pcie_generation_max);
        const auto clock = [&](int which, std::optional<std::uint32_t>& answer) {
            unsigned mhz = 0;
            if (calls.nvmlDeviceGetClockInfo &&
                answered("clocks", calls.nvmlDeviceGetClockInfo(device, which, &mhz)))
                answer = mhz;
        };
        clock(NVML_CLOCK_SM, into.sm_mhz);
        clock(NVML_CLOCK_MEM, into.mem_mhz);
        number("power", calls.nvmlDeviceGetPowerUsage, into.power_mw);
        nvmlUtilization_t rates{};
        if (calls.nvmlDeviceGetUtilizationRates &&
            answered("utilization", calls.nvmlDeviceGetUtilizationRates(device, &rates)))
            into.busy_percent = rates.gpu;
        const auto ecc = [&](int type, std::optional<std::uint64_t>& answer) {
            unsigned long long errors = 0;
            if (calls.nvmlDeviceGetTotalEccErrors &&
                answered("ECC errors",
                         calls.nvmlDeviceGetTotalEccErrors(device, type, NVML_ECC_VOLATILE, &errors)))
                answer = errors;
        };
        ecc(NVML_MEMORY_ERROR_CORRECTED, into.ecc_corrected);
        ecc(NVML_MEMORY_ERROR_UNCORRECTED, into.ecc_uncorrected);
        unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
        if (calls.nvmlDeviceGetRemappedRows &&
            answered("row remapping",
                     calls.nvmlDeviceGetRemappedRows(device, &corrected, &uncorrected, &pending, &failed))) {
            into.remap_pending = pending != 0;
            into.remap_failed = failed != 0;
        }
    }

    // What it asks the driver for at each call, which costs a millisecond or two together.
    void seldom() const {
        pcie();
        fields();
        links();
        violations();
        fabric();
        into.users = library.users_of(device);
    }
    void pcie() const;
    // All that new drivers give in one call.
    void fields() const;
    // Links that are up; and their counters, where there are no fields of them.
    void links() const;
    // The older way, where there are no fields of them.
    void violations() const;
    std::optional<nvmlGpuFabricInfo_v2_t> fabric_info() const;
    void fabric() const;
};

void NvmlGpus::Asking::pcie() const {
    const auto& calls = library.calls;
    number("PCIe width", calls.nvmlDeviceGetCurrPcieLinkWidth, into.pcie_width);
    number("PCIe width", calls.nvmlDeviceGetMaxPcieLinkWidth, into.pcie_width_max);
    number("PCIe replays", calls.nvmlDeviceGetPcieReplayCounter, into.pcie_replays);
}

void NvmlGpus::Asking::fields() const {
    const auto ask = library.calls.nvmlDeviceGetFieldValues;
    if (!ask) return;
    constexpr unsigned all_links = ~0U;
    constexpr auto wanted = std::to_array<std::pair<unsigned, unsigned>>({
        {NVML_FIELD_NVLINK_CRC_FLIT_TOTAL, 0},
        {NVML_FIELD_NVLINK_CRC_DATA_TOTAL, 0},
        {NVML_FIELD_NVLINK_REPLAY_TOTAL, 0},
        {NVML_FIELD_NVLINK_RECOVERY_TOTAL, 0},
        {NVML_FIELD_NVLINK5_RECOVERY_EVENTS, all_links},
        {NVML_FIELD_NVLINK5_RCV_ERRORS, all_links},
        {NVML_FIELD_POWER_VIOLATION_NS, 0},
        {NVML_FIELD_SW_THERMAL_NS, 0},
        {NVML_FIELD_HW_THERMAL_NS, 0},
        {NVML_FIELD_HW_POWER_BRAKE_NS, 0},
        {NVML_FIELD_RECOVERY_ACTION, 0},
    });
    std::array<nvmlFieldValue_t, wanted.size()> asked{};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        asked[i].fieldId = wanted[i].first;
        asked[i].scopeId = wanted[i].second;
        asked[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED; // what is left as it is was not answered
    }
    if (!answered("field values", ask(device, static_cast<int>(asked.size()), asked.data()))) return;
    const auto value = [&](std::size_t at, std::string_view what) -> std::optional<std::uint64_t> {
        return answered(what, asked[at].nvmlReturn) ? number_of(asked[at]) : std::nullopt;
    };
    const auto flit = value(0, "NVLink errors"), data = value(1, "NVLink errors");
    if (flit || data) into.nvlink_crc = flit.value_or(0) + data.value_or(0);
    into.nvlink_replays = value(2, "NVLink errors");
    // NVLink 5 counts its recoveries elsewhere.
    const auto before = value(3, "NVLink errors"), since = value(4, "NVLink errors");
    if (before || since) into.nvlink_recoveries = before.value_or(0) + since.value_or(0);
    into.nvlink_rcv_errors = value(5, "NVLink errors");
    const auto milliseconds = [](std::optional<std::uint64_t> ns) {
        return ns ? std::optional(*ns / 1'000'000) : std::nullopt;
    };
    into.power_violation_ms = milliseconds(value(6, "power violation time"));
    into.sw_thermal_ms = milliseconds(value(7, "thermal violation time"));
    into.hw_thermal_ms = milliseconds(value(8, "thermal violation time"));
    into.power_brake_ms = milliseconds(value(9, "power brake time"));
    if (into.sw_thermal_ms && into.hw_thermal_ms)
        into.thermal_violation_ms = *into.sw_thermal_ms + *into.hw_thermal_ms;
    if (const auto action = value(10, "recovery action"))
        into.recovery_action = static_cast<std::uint32_t>(*action);
}

void NvmlGpus::Asking::links() const {
    const auto& calls = library.calls;
    if (!calls.nvmlDeviceGetNvLinkState) return;
    const bool counted = into.nvlink_crc || into.nvlink_replays || into.nvlink_recoveries;
    for (unsigned link = 0; link < NVML_MOST_LINKS && !into.lost; ++link) {
        int active = 0;
        const auto result = calls.nvmlDeviceGetNvLinkState(device, link, &active);
        if (is_absent(result)) return; // no more links
        if (!answered("NVLink state", result)) return;
        into.nvlinks_active = into.nvlinks_active.value_or(0) + (active != 0 ? 1 : 0);
        if (counted || active == 0 || !calls.nvmlDeviceGetNvLinkErrorCounter) continue;
        const auto add = [&](int counter, std::optional<std::uint64_t>& sum) {
            unsigned long long n = 0;
            if (answered("NVLink errors", calls.nvmlDeviceGetNvLinkErrorCounter(device, link, counter, &n)))
                sum = sum.value_or(0) + n;
        };
        add(NVML_LINK_CRC_FLIT, into.nvlink_crc);
        add(NVML_LINK_CRC_DATA, into.nvlink_crc);
        add(NVML_LINK_REPLAY, into.nvlink_replays);
        add(NVML_LINK_RECOVERY, into.nvlink_recoveries);
    }
}

void NvmlGpus::Asking::violations() const {
    const auto ask = library.calls.nvmlDeviceGetViolationStatus;
    const auto read = [&](std::string_view what, int policy, std::optional<std::uint64_t>& answer) {
        nvmlViolationTime_t time{};
        if (!answer && ask && answered(what, ask(device, policy, &time)))
            answer = time.violationTime / 1'000'000;
    };
    read("power violation time", NVML_POLICY_POWER, into.power_violation_ms);
    read("thermal violation time", NVML_POLICY_THERMAL, into.thermal_violation_ms);
}

// Both versions of the answer have what is used of it.
std::optional<nvmlGpuFabricInfo_v2_t> NvmlGpus::Asking::fabric_info() const {
    const auto& calls = library.calls;
    nvmlGpuFabricInfo_v2_t info{};
    info.version = NVML_GPU_FABRIC_INFO_V2;
    const auto result = calls.nvmlDeviceGetGpuFabricInfoV ? calls.nvmlDeviceGetGpuFabricInfoV(device, &info)
                                                          : NVML_ERROR_FUNCTION_NOT_FOUND;
    if (!is_absent(result)) return answered("fabric state", result) ? std::optional(info) : std::nullopt;
    nvmlGpuFabricInfo_t older{};
    if (!calls.nvmlDeviceGetGpuFabricInfo ||
        !answered("fabric state", calls.nvmlDeviceGetGpuFabricInfo(device, &older)))
        return {};
    std::copy(std::begin(older.clusterUuid), std::end(older.clusterUuid), std::begin(info.clusterUuid));
    info.status = older.status;
    info.cliqueId = older.cliqueId;
    info.state = older.state;
    return info;
}

void NvmlGpus::Asking::fabric() const {
    const auto info = fabric_info();
    if (!info) return;
    into.fabric_state = info->state;
    if (info->state == NVML_FABRIC_COMPLETED) into.fabric_status = static_cast<std::uint32_t>(info->status);
}

std::optional<std::vector<std::uint32_t>> NvmlGpus::Library::users_of(nvmlDevice_t device) const {
    const auto found = processes_of(device);
    if (!found || found->count > found->some.size()) return std::nullopt;
    std::vector<std::uint32_t> users;
    for (std::size_t i = 0; i < found->count; ++i) {
        const auto user = user_of_process(found->some[i].pid);
        if (!user) return std::nullopt; // of another namespace, or gone by now
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

// What refused every question about the GPU, by the questions of each look; empty: something was answered.
std::string refusal_of(const GpuSample& gpu) {
    if (gpu.lost || gpu.unseen.empty() || gpu.reasons || gpu.pcie_generation || gpu.sm_mhz || gpu.power_mw ||
        gpu.busy_percent || gpu.ecc_corrected || gpu.remap_pending)
        return {};
    const auto& last = gpu.unseen.back();
    return last.substr(last.find("NVML"));
}

} // namespace

std::vector<GpuSample> NvmlGpus::sample() {
    std::vector<GpuSample> samples;
    const bool due = library_->samples++ % samples_between == 0;
    const bool seldom = library_->stirred.exchange(false) || due;
    for (auto& gpu : library_->gpus) {
        GpuSample fresh;
        fresh.index = gpu.last.index;
        fresh.pci = gpu.last.pci;
        if (!gpu.device) fresh.lost = gpu.last.lost, fresh.silent = gpu.last.silent;
        if (gpu.device) {
            if (seldom || (gpu.last.reasons.value_or(0) & counted_reasons) != 0) {
                gpu.seldom = fresh;
                Asking{*library_, gpu.device, gpu.seldom}.seldom();
            }
            fresh = gpu.seldom; // with what it could not see
            fresh.lost = false;
            Asking{*library_, gpu.device, fresh}.now();
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
        // A lost GPU makes the wait itself fail: sample() reports it, and waiting again would spin.
        if (result != NVML_SUCCESS) {
            if (result != NVML_ERROR_TIMEOUT && result != NVML_ERROR_GPU_IS_LOST)
                library_->has_xid_events = false;
            return events;
        }
        wait = 0; // take what else has come, then return
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
