#include "check/cuda_check.hpp"

#include "base/file.hpp"
#include "check/gpu.hpp"
#include "check/parts.hpp"
#include "probe/nvml_gpus.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <sched.h>
#include <thread>

namespace check {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr double least_of_median = 0.9;
constexpr base::Duration list_deadline = 60s; // without persistence mode each GPU takes seconds to start

std::string uuid_text(const CUuuid& uuid) {
    std::string text = "GPU";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i)
        text += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                            static_cast<unsigned char>(uuid.bytes[i]));
    return text;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string first_line(const std::filesystem::path& path) {
    const auto text = base::read_file(path, 4096);
    return text ? text->substr(0, text->find('\n')) : std::string();
}

// Numbers GPUs in bus order, as NVML does, unless the user chose another order.
void order_by_bus() {
    ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
}

// Binds this process, and the memory that it allocates, to the CPUs near a PCI device ("0-15,64-79").
void go_near(const std::filesystem::path& sysfs, const std::string& pci) {
    const auto list = first_line(sysfs / "bus/pci/devices" / pci / "local_cpulist");
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (std::size_t at = 0; at < list.size();) {
        char* rest = nullptr;
        const auto first = std::strtoul(list.c_str() + at, &rest, 10);
        auto last = first;
        if (*rest == '-') last = std::strtoul(rest + 1, &rest, 10);
        for (auto cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu)
            CPU_SET(cpu, &cpus);
        const auto next = static_cast<std::size_t>(rest - list.c_str()) + 1;
        if (next <= at) break;
        at = next;
    }
    // The job may have been given other CPUs: then the process stays where it is.
    if (CPU_COUNT(&cpus) > 0) ::sched_setaffinity(0, sizeof cpus, &cpus);
}

// Adds what NVML knows, where it is available.
void add_nvml(std::vector<CudaDevice>& devices, const std::string& library) {
    auto gpus = probe::NvmlGpus::open(library);
    if (!gpus) return;
    const auto samples = gpus->sample();
    for (auto& device : devices)
        for (const auto& sample : samples) {
            if (sample.pci != device.pci) continue;
            if (sample.pcie_generation_max && sample.pcie_width_max)
                device.kinds.push_back(
                    fmt::format("PCIe {} x{}", *sample.pcie_generation_max, *sample.pcie_width_max));
            device.used_by = gpus->used_by(sample.index);
        }
}

json::object to_json(const CudaDevice& device) {
    json::array kinds;
    for (const auto& kind : device.kinds)
        kinds.emplace_back(kind);
    return {{"ordinal", device.ordinal}, {"name", device.name},       {"uuid", device.uuid},
            {"pci", device.pci},         {"used_by", device.used_by}, {"kinds", std::move(kinds)}};
}

base::Expected<std::vector<CudaDevice>> list_devices(const Request& request) {
    order_by_bus();
    const auto calls = open_cuda(request.libraries);
    if (!calls) return calls.error();
    const auto& cuda = **calls;
    int count = 0;
    if (const auto result = cuda.cuDeviceGetCount(&count); result != CUDA_SUCCESS)
        return base::Error{base::Code::unavailable,
                           fmt::format("cuDeviceGetCount: {}", cuda_words(cuda, result))};
    if (count == 0) return base::Error{base::Code::unavailable, "libcuda shows no GPU"};
    std::vector<CudaDevice> devices;
    for (int i = 0; i < count; ++i) {
        CudaDevice device{.ordinal = i};
        CUdevice handle = 0;
        std::array<char, 256> name{};
        std::array<char, 64> pci{};
        CUuuid uuid{};
        if (cuda.cuDeviceGet(&handle, i) != CUDA_SUCCESS) continue;
        if (cuda.cuDeviceGetName(name.data(), name.size() - 1, handle) == CUDA_SUCCESS)
            device.name = name.data();
        if (cuda.cuDeviceGetPCIBusId(pci.data(), pci.size() - 1, handle) == CUDA_SUCCESS)
            device.pci = lower(pci.data());
        if (cuda.cuDeviceGetUuid_v2(&uuid, handle) == CUDA_SUCCESS) device.uuid = uuid_text(uuid);
        device.kinds = {device.name};
        devices.push_back(std::move(device));
    }
    add_nvml(devices, request.nvml);
    return devices;
}

std::vector<CudaDevice> devices_of(const std::string& text, const Request& request) {
    std::vector<CudaDevice> devices;
    const auto parsed = base::parse_json(text);
    if (!parsed) return devices;
    const auto items = base::Reader(*parsed).items();
    if (!items) return devices;
    for (const auto& item : *items) {
        CudaDevice device;
        device.ordinal = static_cast<int>(item.integer("ordinal").value_or(0));
        device.name = item.text("name").value_or("");
        device.uuid = item.text("uuid").value_or("");
        device.pci = item.text("pci").value_or("");
        device.used_by = item.text("used_by").value_or("");
        if (const auto kinds = item.at("kinds"))
            if (const auto list = kinds->items())
                for (const auto& kind : *list)
                    device.kinds.push_back(kind.text().value_or(""));
        device.part = gpu_part(request.fabric, device.pci, device.ordinal);
        devices.push_back(std::move(device));
    }
    return devices;
}

// Judges clocks and power of all GPUs by the rules while others work; reports again with each sample, until
// it is killed.
void watch_clocks(Sink& sink, const Request& request) {
    auto gpus = probe::NvmlGpus::open(request.nvml);
    if (!gpus) return;
    std::vector<probe::GpuSample> worst;
    std::vector<ReasonShares> reasons;
    for (;;) {
        const auto samples = gpus->sample();
        if (worst.empty()) worst = samples;
        reasons.resize(worst.size());
        for (std::size_t i = 0; i < samples.size() && i < worst.size(); ++i) {
            auto& kept = worst[i];
            const auto& now = samples[i];
            if (now.reasons) reasons[i].add(*now.reasons);
            const auto least_mhz = now.busy_percent.value_or(0) > 0 && now.sm_mhz
                                       ? std::min(kept.sm_mhz.value_or(*now.sm_mhz), *now.sm_mhz)
                                       : kept.sm_mhz;
            const auto most_mw = std::max(kept.power_mw, now.power_mw);
            kept = now;
            if (now.reasons) kept.reasons = reasons[i].most();
            kept.sm_mhz = least_mhz;
            kept.power_mw = most_mw;
        }
        json::array told;
        for (const auto& one : judge_samples({{base::Duration{0}, worst}}, request))
            told.push_back(check::to_json(one));
        sink.fact("clocks", base::to_text(told));
        std::this_thread::sleep_for(200ms);
    }
}

std::vector<Result> clocks_of(const std::string& text, std::string_view check) {
    std::vector<Result> results;
    const auto parsed = base::parse_json(text);
    if (!parsed) return results;
    const auto items = base::Reader(*parsed).items();
    if (!items) return results;
    for (const auto& item : *items)
        if (auto one = result_of(item)) {
            one->check = check;
            if (one->test == "gpu.state") one->test = fmt::format("{}.clocks", check);
            results.push_back(*std::move(one));
        }
    return results;
}

} // namespace

std::vector<CudaDevice> cuda_devices(std::string_view check, const Request& request, Result& why) {
    const Part all{.name = "gpus"};
    const auto test = fmt::format("{}.start", check);
    Task task{.work = {}, .deadline = list_deadline, .part = all, .test = test};
    task.work = [&](Sink& sink) {
        const auto devices = list_devices(request);
        if (!devices) {
            sink.fact("why", devices.error().text);
            return;
        }
        json::array told;
        for (const auto& one : *devices)
            told.push_back(to_json(one));
        sink.fact("devices", base::to_text(told));
    };
    auto outcome = std::move(run_apart(check, {std::move(task)}, request).front());
    auto devices = devices_of(outcome.facts["devices"], request);
    why = Result{.check = std::string(check), .test = test, .part = all, .verdict = Verdict::not_run};
    why.says = outcome.facts["why"];
    if (!outcome.results.empty()) why = outcome.results.front();
    if (why.says.empty() && devices.empty()) why.says = "libcuda shows no GPU";
    return devices;
}

void CudaWork::in_turn(const std::function<void()>& alone) const {
    for (std::size_t turn = 0; turn < count; ++turn) {
        sink.meet();
        if (turn == index) alone();
    }
}

void CudaWork::measured(std::string_view test, double value, std::string_view unit, std::string says) const {
    Result result{.check = check,
                  .test = std::string(test),
                  .part = device.part,
                  .value = value,
                  .unit = std::string(unit)};
    result.says = std::move(says);
    sink.add(result);
}

void CudaWork::said(std::string_view test, Verdict verdict, std::string says) const {
    Result result{.check = check, .test = std::string(test), .part = device.part, .verdict = verdict};
    result.says = std::move(says);
    sink.add(result);
}

CudaRun run_on_each(std::string_view check, const Request& request, base::Duration deadline, bool kernels,
                    const CudaMeasure& measure) {
    CudaRun run;
    Result why;
    run.devices = cuda_devices(check, request, why);
    if (run.devices.empty()) {
        run.results.push_back(std::move(why));
        return run;
    }
    std::vector<Task> tasks;
    for (const auto& device : run.devices) {
        Task task{
            .work = {}, .deadline = deadline, .part = device.part, .test = fmt::format("{}.start", check)};
        const auto index = static_cast<std::size_t>(&device - run.devices.data());
        task.work = [&, check, index](Sink& sink) {
            const CudaDevice& mine = run.devices[index];
            const auto say = [&](Verdict verdict, std::string says) {
                Result result{.check = std::string(check),
                              .test = fmt::format("{}.start", check),
                              .part = mine.part,
                              .verdict = verdict};
                result.says = std::move(says);
                sink.add(result);
            };
            if (!mine.used_by.empty())
                return say(Verdict::not_run, fmt::format("{} uses it: nothing was put on it", mine.used_by));
            order_by_bus();
            // Another GPU that hangs must not block this one. Parts of a GPU (MIG) have other names.
            const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
            const bool parts =
                given != nullptr && std::string_view(given).find("MIG-") != std::string_view::npos;
            const bool alone = !mine.uuid.empty() && !parts;
            if (alone) ::setenv("CUDA_VISIBLE_DEVICES", mine.uuid.c_str(), 1);
            go_near(request.sysfs, mine.pci);
            const auto calls = open_cuda(request.libraries);
            if (!calls) return say(Verdict::not_run, calls.error().text);
            CudaGpu gpu(*calls, alone ? 0 : mine.ordinal, kernels);
            if (!gpu.failed())
                measure(CudaWork{gpu, sink, request, mine, std::string(check), index, run.devices.size()});
            if (gpu.failed()) say(gpu.failure().verdict(), gpu.failure().text);
        };
        tasks.push_back(std::move(task));
    }
    Task clocks{.work = [&](Sink& sink) { watch_clocks(sink, request); },
                .deadline = deadline * 4,
                .part = Part{.name = "gpus"},
                .test = "clocks",
                .companion = true};
    tasks.push_back(std::move(clocks));
    auto outcomes = run_apart(check, std::move(tasks), request);
    const auto watched = std::move(outcomes.back());
    outcomes.pop_back();
    for (auto& outcome : outcomes) {
        std::move(outcome.results.begin(), outcome.results.end(), std::back_inserter(run.results));
        run.facts.push_back(std::move(outcome.facts));
    }
    judge_all(run.results, run.devices, request.expected);
    if (const auto told = watched.facts.find("clocks"); told != watched.facts.end())
        for (auto& one : clocks_of(told->second, check)) {
            const bool ours = std::any_of(run.devices.begin(), run.devices.end(), [&](const auto& device) {
                return device.part.pci == one.part.pci;
            });
            if (ours) run.results.push_back(std::move(one));
        }
    return run;
}

void judge_all(std::vector<Result>& results, const std::vector<CudaDevice>& devices,
               const restart::Expectations& expected) {
    std::map<std::string, std::vector<double>> values;
    for (auto& one : results) {
        if (one.verdict != Verdict::measured || !one.value) continue;
        for (const auto& device : devices)
            if (device.part.pci == one.part.pci) judge(one, expected, device.kinds);
        if (one.verdict == Verdict::measured) values[one.test].push_back(*one.value);
    }
    for (auto& [test, all] : values) {
        if (all.size() < 3) continue;
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        std::nth_element(all.begin(), middle, all.end());
        for (auto& one : results) {
            if (one.test != test || one.verdict != Verdict::measured || !one.value) continue;
            if (*one.value >= least_of_median * *middle) continue;
            one.verdict = Verdict::warning;
            one.says =
                fmt::format("{:.0f} % of the median of this host's {} GPUs{}{}", 100 * *one.value / *middle,
                            all.size(), one.says.empty() ? "" : "; ", one.says);
        }
    }
}

} // namespace check
