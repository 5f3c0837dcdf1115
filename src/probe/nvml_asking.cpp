#include "probe/nvml_library.hpp"

#include <iterator>
#include <utility>

namespace probe {
namespace {

// This driver or GPU does not have it, or has fewer links: not an error.
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

} // namespace

bool NvmlGpus::Asking::answered(std::string_view what, nvmlReturn_t result) const {
    if (result == NVML_SUCCESS) return true;
    if (result == NVML_ERROR_GPU_IS_LOST)
        into.lost = true;
    else if (!is_absent(result))
        into.unseen.push_back(fmt::format("{}: {}", what, library.words(result)));
    return false;
}

void NvmlGpus::Asking::now() const {
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

void NvmlGpus::Asking::pcie() const {
    const auto& calls = library.calls;
    number("PCIe width", calls.nvmlDeviceGetCurrPcieLinkWidth, into.pcie_width);
    number("PCIe width", calls.nvmlDeviceGetMaxPcieLinkWidth, into.pcie_width_max);
    number("PCIe replays", calls.nvmlDeviceGetPcieReplayCounter, into.pcie_replays);
}

std::vector<nvmlFieldValue_t> NvmlGpus::Asking::fields(std::initializer_list<Field> wanted) const {
    const auto ask = library.calls.nvmlDeviceGetFieldValues;
    std::vector<nvmlFieldValue_t> asked;
    if (!ask) return asked;
    for (const auto& field : wanted) {
        auto& one = asked.emplace_back();
        one.fieldId = field.id;
        one.scopeId = field.scope;
        one.nvmlReturn = NVML_ERROR_NOT_SUPPORTED; // fields left unchanged were not answered
    }
    if (!answered("field values", ask(device, static_cast<int>(asked.size()), asked.data()))) asked.clear();
    return asked;
}

std::optional<std::uint64_t> NvmlGpus::Asking::value(const nvmlFieldValue_t& field,
                                                     std::string_view what) const {
    return answered(what, field.nvmlReturn) ? number_of(field) : std::nullopt;
}

void NvmlGpus::Asking::nvlink_fields() const {
    constexpr unsigned all_links = ~0U;
    const auto asked = fields({{NVML_FIELD_NVLINK_CRC_FLIT_TOTAL, 0},
                               {NVML_FIELD_NVLINK_CRC_DATA_TOTAL, 0},
                               {NVML_FIELD_NVLINK_REPLAY_TOTAL, 0},
                               {NVML_FIELD_NVLINK_RECOVERY_TOTAL, 0},
                               {NVML_FIELD_NVLINK5_RECOVERY_EVENTS, all_links},
                               {NVML_FIELD_NVLINK5_RCV_ERRORS, all_links},
                               {NVML_FIELD_RECOVERY_ACTION, 0}});
    if (asked.empty()) return;
    const auto flit = value(asked[0], "NVLink errors"), data = value(asked[1], "NVLink errors");
    if (flit || data) into.nvlink_crc = flit.value_or(0) + data.value_or(0);
    into.nvlink_replays = value(asked[2], "NVLink errors");
    // NVLink 5 counts its recoveries in another field.
    const auto before = value(asked[3], "NVLink errors"), since = value(asked[4], "NVLink errors");
    if (before || since) into.nvlink_recoveries = before.value_or(0) + since.value_or(0);
    into.nvlink_rcv_errors = value(asked[5], "NVLink errors");
    if (const auto action = value(asked[6], "recovery action"))
        into.recovery_action = static_cast<std::uint32_t>(*action);
}

void NvmlGpus::Asking::time_fields() const {
    const auto asked = fields({{NVML_FIELD_POWER_VIOLATION_NS, 0},
                               {NVML_FIELD_SW_THERMAL_NS, 0},
                               {NVML_FIELD_HW_THERMAL_NS, 0},
                               {NVML_FIELD_HW_POWER_BRAKE_NS, 0}});
    if (asked.empty()) return;
    const auto milliseconds = [&](const nvmlFieldValue_t& field, std::string_view what) {
        const auto ns = value(field, what);
        return ns ? std::optional(*ns / 1'000'000) : std::nullopt;
    };
    into.power_violation_ms = milliseconds(asked[0], "power violation time");
    into.sw_thermal_ms = milliseconds(asked[1], "thermal violation time");
    into.hw_thermal_ms = milliseconds(asked[2], "thermal violation time");
    into.power_brake_ms = milliseconds(asked[3], "power brake time");
    if (into.sw_thermal_ms && into.hw_thermal_ms)
        into.thermal_violation_ms = *into.sw_thermal_ms + *into.hw_thermal_ms;
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

// Both versions of the structure contain what is used of it.
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

// The counters are read when the GPU begins to be used, shortly after that, and then rarely: most rarely
// while its power shows that it clearly works. When its power drops, older values are discarded.
void NvmlGpus::Asking::activity(Library::Activity& of, int sample, int place) const {
    using Activity = Library::Activity;
    if (of.before == nullptr) return;
    const bool used = into.busy_percent.value_or(0) > 0;
    const bool works = into.power_mw && into.power_limit_mw &&
                       *into.power_mw >= Activity::surely_works * *into.power_limit_mw;
    of.doubts = used && !works ? of.doubts + 1 : 0;
    const bool changed = of.doubts == Activity::doubts_that_count && sample - of.read >= Activity::rest;
    if (!used || changed) {
        of.filled = false;
        of.next = sample;
        of.sm.reset();
        of.tensor.reset();
    }
    if (used && sample >= of.next) {
        const bool read = answered("GPM counters", library.calls.nvmlGpmSampleGet(device, of.now));
        if (read && of.filled) compare(of);
        // Staggered: not all GPUs in one sample.
        of.next = sample + (read && !of.filled ? Activity::first + place
                            : works            ? Activity::between_works
                                               : Activity::between);
        of.filled = read;
        of.read = sample;
        std::swap(of.before, of.now);
    }
    into.sm_active = of.sm;
    into.tensor_active = of.tensor;
}

void NvmlGpus::Asking::compare(Library::Activity& of) const {
    nvmlGpmMetricsGet_t asked{};
    asked.version = NVML_GPM_VERSION;
    asked.numMetrics = 2;
    asked.sample1 = of.before;
    asked.sample2 = of.now;
    asked.metrics[0].metricId = NVML_GPM_SM_ACTIVE;
    asked.metrics[1].metricId = NVML_GPM_TENSOR_ACTIVE;
    const bool known = answered("GPM counters", library.calls.nvmlGpmMetricsGet(&asked));
    const auto share = [&](const nvmlGpmMetric_t& metric) {
        return known && metric.nvmlReturn == NVML_SUCCESS ? std::optional(metric.value / 100) : std::nullopt;
    };
    of.sm = share(asked.metrics[0]);
    of.tensor = share(asked.metrics[1]);
}

} // namespace probe
