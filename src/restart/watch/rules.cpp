#include "restart/watch/rules.hpp"

#include "base/units.hpp"
#include "restart/watch/nvml_abi.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace restart {
namespace {

using namespace std::chrono_literals;

// The same XID on the same GPU from NVML and from the kernel log within this time is one event.
constexpr base::Duration same_xid = 5s;
constexpr base::Duration xid_memory = 24h;
constexpr std::size_t most_xid_times = 64;
constexpr std::size_t most_xid_records = 128; // a report carries 256 findings

const ConditionRule& condition_rule(std::string_view name) {
    const auto rules = condition_rules();
    return *std::find_if(rules.begin(), rules.end(), [&](const auto& rule) { return rule.name == name; });
}

// "0000:14:00.0" and "0000:14:00" name one GPU.
std::string without_function(const std::string& pci) {
    return pci.substr(0, pci.find('.'));
}

// DCGM: replays a minute that a link at a bit error rate of 1e-12 may show, by generation and lanes.
std::uint64_t expected_replays(std::uint32_t generation, std::uint32_t lanes) {
    constexpr std::array per_lane{0.12, 0.12, 0.24, 0.48, 0.96, 1.92, 3.84};
    const auto rate = per_lane[std::min<std::size_t>(generation, per_lane.size() - 1)];
    return static_cast<std::uint64_t>(rate * lanes) + 1;
}

bool needs_reset(Severity severity) {
    return severity == Severity::evict || severity == Severity::fatal;
}

} // namespace

void Judge::look(base::Time now, const Key& key, bool present, Severity severity, base::Duration window,
                 std::string evidence) {
    auto found = conditions_.find(key);
    if (found == conditions_.end()) {
        if (!present) return;
        found = conditions_.try_emplace(key).first;
    }
    auto& condition = found->second;
    condition.looked = now;
    if (present) {
        condition.severity = severity;
        condition.window = window;
        condition.evidence = std::move(evidence);
    }
    const auto longest_step = std::max<base::Duration>(3 * limits_.interval, 1s);
    condition.hold.look(now, present, condition.window, limits_.clear, longest_step);
}

// Whether it is settled: not there, or there for so long that it is a finding.
bool Judge::look(base::Time now, std::string_view rule, const std::string& component, bool present,
                 std::string evidence) {
    const auto& row = condition_rule(rule);
    const Key key{std::string(rule), component};
    look(now, key, present, row.severity, row.window, std::move(evidence));
    return !present || conditions_.at(key).hold.firing();
}

void Judge::judge_throttle(base::Time now, const GpuSample& gpu, const std::string& component) {
    constexpr auto causes = NVML_REASON_HW_POWER_BRAKE | NVML_REASON_HW_THERMAL_SLOWDOWN;
    for (const auto& reason : throttle_reasons()) {
        bool present = (gpu.reasons & reason.bit) != 0;
        const bool evicts = limits_.throttle_evicts.contains(reason.name);
        // HW slowdown is the sum of the two causes; beside one of them it says nothing new.
        if (reason.bit == NVML_REASON_HW_SLOWDOWN && !evicts && (gpu.reasons & causes) != 0) present = false;
        look(now, {fmt::format("gpu.throttle.{}", reason.name), component}, present,
             evicts ? Severity::evict : Severity::warn, limits_.throttle_window,
             fmt::format("clock event reasons 0x{:x}", gpu.reasons));
    }
}

void Judge::judge_gpu(base::Time now, const GpuSample& gpu) {
    const auto component = fmt::format("gpu{}", gpu.index);
    if (!gpu.pci.empty()) gpu_by_pci_[without_function(gpu.pci)] = component;
    look(now, "gpu.lost", component, gpu.lost, "NVML: GPU is lost");
    if (gpu.lost) return; // the rest is old
    judge_throttle(now, gpu, component);
    look(now, "gpu.remap_failed", component, gpu.remap_failed.value_or(false), "row remapping failed");
    look(now, "gpu.remap_pending", component, gpu.remap_pending.value_or(false),
         "row remapping waits for a reset");
    look(now, "gpu.ecc", component, gpu.ecc_uncorrected.value_or(0) > 0,
         fmt::format("{} uncorrected ECC errors since the driver was loaded",
                     gpu.ecc_uncorrected.value_or(0)));
    if (gpu.pcie_width && gpu.pcie_width_max)
        look(now, "gpu.pcie_width", component, *gpu.pcie_width < *gpu.pcie_width_max,
             fmt::format("PCIe x{} of x{}", *gpu.pcie_width, *gpu.pcie_width_max));
    if (gpu.pcie_replays) {
        const auto grown =
            replays_.try_emplace(component, base::Duration(1min)).first->second.take(now, *gpu.pcie_replays);
        const auto allowed = expected_replays(gpu.pcie_generation.value_or(6), gpu.pcie_width.value_or(16));
        look(now, "gpu.pcie_replay", component, grown > allowed,
             fmt::format("{} PCIe replays in a minute (allowed: {})", grown, allowed));
    }
}

void Judge::judge_xid(base::Time now, const XidEvent& event) {
    const auto pci = without_function(event.pci);
    const auto gpu = gpu_by_pci_.find(pci);
    const auto component = gpu != gpu_by_pci_.end() ? gpu->second
                           : pci.empty()            ? std::string("gpu")
                                                    : "gpu/" + pci;
    const Key key{fmt::format("gpu.xid.{}", event.code), component};
    if (!xids_.contains(key) && xids_.size() >= most_xid_records) return;
    auto& record = xids_[key];
    if (!event.text.empty()) record.text = event.text;
    const auto& row = find_xid(event.code);
    auto severity =
        event.code == 154 && !event.text.empty() ? recovery_action_severity(event.text) : row.severity;
    if (record.times.empty() || now - record.last >= same_xid) {
        if (record.times.empty()) record.first = now;
        std::erase_if(record.times, [&](base::Time t) { return now - t >= xid_memory; });
        if (record.times.size() == most_xid_times) record.times.erase(record.times.begin());
        record.times.push_back(now);
    }
    record.last = now;
    record.count = record.times.size();
    if (row.repeats > 0 && record.count >= row.repeats) severity = row.repeated;
    // 154 replaces itself: it tells the action that is due now. Every other code keeps the worst it was.
    record.severity =
        event.code == 154 && !event.text.empty() ? severity : std::max(record.severity, severity);
}

std::vector<Finding> Judge::holding() const {
    std::map<Key, Finding> worst;
    const auto add = [&](const Key& key, Finding finding) {
        finding.rule = key.first.substr(0, key.first.find('#'));
        finding.component = key.second;
        const auto [at, added] = worst.try_emplace({finding.rule, finding.component}, finding);
        if (!added && finding.severity > at->second.severity) at->second = std::move(finding);
    };
    for (const auto& [key, condition] : conditions_) {
        if (!condition.hold.firing()) continue;
        auto evidence = condition.evidence;
        if (condition.window > 0s)
            evidence +=
                fmt::format(" for {} (window {})",
                            base::human_duration(condition.hold.last_present() - condition.hold.since()),
                            base::human_duration(condition.window));
        add(key, {{}, {}, condition.severity, condition.hold.since(), std::move(evidence)});
    }
    for (const auto& [key, record] : xids_) {
        const auto code =
            static_cast<std::uint32_t>(std::stoul(key.first.substr(std::string_view("gpu.xid.").size())));
        const auto& row = find_xid(code);
        auto evidence = fmt::format("XID {}: {}; {}", code, row.meaning, row.action);
        if (record.count > 1) evidence += fmt::format("; {} times within a day", record.count);
        if (!record.text.empty()) evidence += fmt::format(" [{}]", record.text);
        add(key, {{}, {}, record.severity, record.first, std::move(evidence)});
    }
    std::vector<Finding> findings;
    for (auto& [key, finding] : worst)
        findings.push_back(std::move(finding));
    // What a report can carry: the worst first when there are too many.
    constexpr std::size_t most = 256;
    if (findings.size() > most) {
        std::stable_sort(findings.begin(), findings.end(),
                         [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
        findings.resize(most);
    }
    return findings;
}

std::vector<Finding> Judge::judge(const Sample& sample) {
    if (sample.listed) listing_ = *sample.listed;
    if (sample.ib) {
        judge_ports(sample.now, *sample.ib);
        judge_listed(sample.now, *sample.ib);
        forget_ports(sample.now);
    }
    if (sample.gpus)
        for (const auto& gpu : *sample.gpus)
            judge_gpu(sample.now, gpu);
    for (const auto& event : sample.xids)
        judge_xid(sample.now, event);
    std::erase_if(xids_, [&](const auto& entry) {
        return !needs_reset(entry.second.severity) && sample.now - entry.second.last >= xid_memory;
    });
    return holding();
}

} // namespace restart
