#include "check/gpu.hpp"

#include "check/apart.hpp"
#include "check/parts.hpp"
#include "probe/nvml_gpus.hpp"
#include "restart/watch/gpu_signals.hpp"
#include "restart/watch/rules/rule_book.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

namespace check {
namespace {

using namespace std::chrono_literals;

// Longer than all windows of GPU rules, of which the longest needs 12 means of an hour each.
constexpr base::Duration held_for = 14h, held_step = 10min;

std::string state_of(const probe::GpuSample& gpu) {
    std::string says;
    const auto add = [&](std::string_view form, const auto& value, double scale) {
        if (value)
            says += fmt::format("{}{:.0f} {}", says.empty() ? "" : ", ", static_cast<double>(*value) / scale,
                                form);
    };
    add("MHz", gpu.sm_mhz, 1);
    add("W", gpu.power_mw, 1000);
    add("% busy", gpu.busy_percent, 1);
    add("NVLinks up", gpu.nvlinks_active, 1);
    if (gpu.pcie_generation && gpu.pcie_width)
        says += fmt::format("{}PCIe {} x{}", says.empty() ? "" : ", ", *gpu.pcie_generation, *gpu.pcie_width);
    return says;
}

using Samples = std::vector<std::pair<base::Duration, std::vector<probe::GpuSample>>>;

// The GPU's last sample, with clock, power and utilization from the middle of all samples: the last may be
// taken after the load has ended.
probe::GpuSample in_the_middle(const Samples& samples, probe::GpuSample last) {
    const auto middle = [&](auto member) {
        std::vector<std::decay_t<decltype(*(last.*member))>> values;
        for (const auto& [after, gpus] : samples)
            for (const auto& gpu : gpus)
                if (gpu.index == last.index && gpu.*member) values.push_back(*(gpu.*member));
        if (values.empty()) return;
        const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), half, values.end());
        last.*member = *half;
    };
    middle(&probe::GpuSample::sm_mhz);
    middle(&probe::GpuSample::power_mw);
    middle(&probe::GpuSample::busy_percent);
    return last;
}

std::vector<restart::Signal> signals_of(const std::vector<probe::GpuSample>& gpus,
                                        std::map<std::uint32_t, std::uint32_t>& most_links) {
    std::vector<restart::Signal> signals;
    for (const auto& gpu : gpus)
        // Links that never came up are reported for GPUs registered with a fabric; railcheck nvlink finds
        // others.
        restart::read_gpu(gpu, most_links[gpu.index], false, signals);
    return signals;
}

} // namespace

void ReasonShares::add(std::uint64_t reasons) {
    ++added_;
    for (std::size_t bit = 0; bit < had_.size(); ++bit)
        if ((reasons >> bit & 1) != 0) ++had_[bit];
}

std::uint64_t ReasonShares::most() const {
    std::uint64_t reasons = 0;
    for (std::size_t bit = 0; bit < had_.size(); ++bit)
        if (2 * had_[bit] > added_) reasons |= std::uint64_t{1} << bit;
    return reasons;
}

std::vector<Result> judge_samples(const Samples& samples, const Request& request) {
    if (samples.empty()) return {};
    auto limits = request.limits;
    limits.interval = held_step;
    restart::RuleBook book(request.rules, limits);
    std::map<std::uint32_t, std::uint32_t> most_links;
    std::map<std::pair<std::string, std::string>, restart::Finding> found;
    base::Time now(480'000h);
    const auto look = [&](const std::vector<probe::GpuSample>& gpus) {
        book.look(now, signals_of(gpus, most_links));
        for (const auto& finding : book.findings(now)) {
            auto& kept = found[{finding.component, finding.rule}];
            if (kept.rule.empty() || finding.severity > kept.severity) kept = finding;
        }
    };
    auto held = samples.back().second;
    std::map<std::uint32_t, ReasonShares> reasons;
    for (const auto& [after, gpus] : samples)
        for (const auto& gpu : gpus)
            if (gpu.reasons) reasons[gpu.index].add(*gpu.reasons);
    for (auto& gpu : held)
        if (gpu.reasons) gpu.reasons = reasons[gpu.index].most();
    // A check is too short for durations: a state that was there most of the time counts as permanent.
    const auto without_times = [](probe::GpuSample& gpu) {
        gpu.power_brake_ms.reset();
        gpu.hw_thermal_ms.reset();
        gpu.sw_thermal_ms.reset();
    };
    std::for_each(held.begin(), held.end(), without_times);
    const auto start = now;
    for (auto [after, gpus] : samples) {
        now = start + after;
        for (std::size_t i = 0; i < gpus.size() && i < held.size(); ++i)
            gpus[i].reasons = held[i].reasons;
        std::for_each(gpus.begin(), gpus.end(), without_times);
        look(gpus);
    }
    for (const auto until = now + held_for; now < until; now += held_step)
        look(held);

    std::vector<Result> results;
    for (const auto& gpu : samples.back().second) {
        const auto part = gpu_part(request.fabric, gpu.pci, static_cast<int>(gpu.index));
        Result state{.check = "gpu", .test = "gpu.state", .part = part, .verdict = Verdict::sound};
        state.says = state_of(in_the_middle(samples, gpu));
        std::vector<Result> wrong;
        for (const auto& [key, finding] : found) {
            if (key.first != fmt::format("gpu{}", gpu.index) || finding.severity < restart::Severity::warn)
                continue;
            const auto verdict =
                finding.severity == restart::Severity::warn ? Verdict::warning : Verdict::bad;
            Result one{.check = "gpu", .test = finding.rule, .part = part, .verdict = verdict};
            one.says = finding.evidence;
            if (const auto* rule = request.rules.find(finding.rule)) one.source = rule->source;
            wrong.push_back(std::move(one));
        }
        if (wrong.empty()) results.push_back(std::move(state));
        std::move(wrong.begin(), wrong.end(), std::back_inserter(results));
    }
    return results;
}

std::vector<Result> missing_gpus(const std::vector<probe::GpuSample>& seen, const Request& request) {
    std::vector<Result> results;
    for (const auto& host : request.fabric.hosts)
        for (const auto& gpu : host.gpus) {
            if (std::any_of(seen.begin(), seen.end(), [&](const auto& one) { return one.pci == gpu.pci; }))
                continue;
            std::error_code failed;
            const bool on_bus = std::filesystem::exists(request.sysfs / "bus/pci/devices" / gpu.pci, failed);
            Result result{.check = "gpu",
                          .test = "gpu.present",
                          .part = gpu_part(request.fabric, gpu.pci, 0),
                          .verdict = on_bus ? Verdict::warning : Verdict::bad};
            result.says =
                on_bus ? fmt::format("{} is on the PCI bus, but NVML does not show it: a job's control "
                                     "group may hide it, or its driver has given it up",
                                     gpu.pci)
                       : fmt::format("{} has left the PCI bus; fabric.json lists it", gpu.pci);
            results.push_back(std::move(result));
        }
    return results;
}

std::vector<Result> Gpu::run(const Request& request) {
    const Part all{.name = "gpus"};
    // Without persistence mode NVML initializes each GPU, which takes seconds.
    Task task{.work = {}, .deadline = request.level == 1 ? 30s : 60s, .part = all, .test = "gpu.state"};
    task.work = [&](Sink& sink) {
        auto gpus = probe::NvmlGpus::open(request.nvml);
        if (!gpus) {
            Result result{.check = "gpu", .test = "gpu.state", .part = all, .verdict = Verdict::not_run};
            result.says = gpus.error().text;
            return sink.add(result);
        }
        std::vector<std::pair<base::Duration, std::vector<probe::GpuSample>>> samples;
        const int looks = request.level == 1 ? 3 : request.level == 2 ? 6 : 31;
        const auto between = request.level == 1 ? 300ms : 1000ms;
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < looks; ++i) {
            if (i > 0) std::this_thread::sleep_for(between);
            samples.emplace_back(
                std::chrono::duration_cast<base::Duration>(std::chrono::steady_clock::now() - start),
                gpus->sample(probe::NvmlGpus::Ask::all));
        }
        auto results = judge_samples(samples, request);
        for (auto& one : missing_gpus(samples.back().second, request))
            results.push_back(std::move(one));
        if (results.empty()) {
            Result none{.check = "gpu", .test = "gpu.state", .part = all, .verdict = Verdict::not_run};
            none.says = "NVML shows no GPU";
            results.push_back(std::move(none));
        }
        for (const auto& one : results)
            sink.add(one);
    };
    return std::move(run_apart("gpu", {std::move(task)}, request).front().results);
}

} // namespace check
