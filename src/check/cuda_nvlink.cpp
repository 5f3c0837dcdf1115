#include "check/cuda_nvlink.hpp"

#include "check/cuda_check.hpp"
#include "check/net/culprits.hpp"
#include "check/net/tournament.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace check {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mebi = std::size_t{1} << 20;

struct NvlinkPlan {
    std::size_t bytes;
    int rounds;
};
NvlinkPlan nvlink_plan(int level) {
    if (level == 1) return {32 * mebi, 2};
    if (level == 2) return {256 * mebi, 6};
    return {512 * mebi, 40};
}

Part pair_part(const CudaDevice& from, const CudaDevice& to) {
    Part part = from.part;
    part.name = fmt::format("{}-{}", from.part.name, to.part.name);
    return part;
}

class Matrix {
public:
    Matrix(Sink& sink, const Request& request, const std::vector<CudaDevice>& devices)
        : sink_(sink), devices_(devices), plan_(nvlink_plan(request.level)) {}

    void run(const std::shared_ptr<const CudaCalls>& calls) {
        for (const auto& device : devices_) {
            sink_.begin(device.part, "nvlink.start");
            auto& gpu = gpus_.emplace_back(std::make_unique<CudaGpu>(calls, device.ordinal, false));
            const auto bytes = gpu->failed() ? 0 : std::min(plan_.bytes, gpu->free_bytes() / 4) / mebi * mebi;
            from_.push_back(gpu->allocate(bytes));
            to_.push_back(gpu->allocate(bytes));
            if (gpu->failed())
                say(device.part, "nvlink.start", gpu->failure().verdict(), gpu->failure().text);
            else if (!from_.back() || !to_.back())
                say(device.part, "nvlink.start", Verdict::not_run, "too little of the GPU's memory is free");
        }
        // A round's pairs have no GPU in common, but they run one after the other: each must have the
        // switches to itself.
        const net::Tournament tournament(static_cast<std::uint32_t>(devices_.size()));
        for (std::uint32_t round = 0; round < tournament.rounds(); ++round)
            for (const auto& [a, b] : tournament.pairs(round))
                pair(a, b);
    }

private:
    void say(const Part& part, std::string_view test, Verdict verdict, std::string says) {
        Result result{.check = "nvlink", .test = std::string(test), .part = part, .verdict = verdict};
        result.says = std::move(says);
        sink_.add(result);
    }
    bool usable(std::size_t i) const { return !gpus_[i]->failed() && from_[i] && to_[i]; }

    // Whether GPU a can write to the memory of GPU b directly.
    bool joined(std::size_t a, std::size_t b) {
        const auto& calls = gpus_[a]->calls();
        int can = 0;
        if (!gpus_[a]->ok(calls.cuDeviceCanAccessPeer(&can, devices_[a].ordinal, devices_[b].ordinal),
                          "cuDeviceCanAccessPeer") ||
            can == 0)
            return false;
        if (!gpus_[a]->ok(calls.cuCtxSetCurrent(gpus_[a]->context()), "cuCtxSetCurrent")) return false;
        const auto result = calls.cuCtxEnablePeerAccess(gpus_[b]->context(), 0);
        if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) return true;
        return gpus_[a]->ok(result, "cuCtxEnablePeerAccess");
    }

    void write(std::size_t a, std::size_t b) {
        auto& gpu = *gpus_[a];
        gpu.ok(gpu.calls().cuMemcpyPeerAsync(to_[b].at(), gpus_[b]->context(), from_[a].at(), gpu.context(),
                                             std::min(from_[a].bytes(), to_[b].bytes()), gpu.stream()),
               "cuMemcpyPeerAsync");
    }

    // Bytes per second, the best of several rounds.
    double best(std::size_t a, std::size_t b, bool both) {
        double seconds = 0;
        for (int i = 0; i <= plan_.rounds && usable(a) && usable(b); ++i) {
            gpus_[a]->calls().cuCtxSetCurrent(gpus_[a]->context());
            const auto took = gpus_[a]->seconds([&] {
                write(a, b);
                if (!both) return;
                gpus_[b]->calls().cuCtxSetCurrent(gpus_[b]->context());
                write(b, a);
                gpus_[b]->wait();
                gpus_[a]->calls().cuCtxSetCurrent(gpus_[a]->context());
            });
            if (i > 0 && took > 0 && (seconds == 0 || took < seconds)) seconds = took;
        }
        const auto bytes = static_cast<double>(std::min(from_[a].bytes(), to_[b].bytes()));
        return seconds > 0 ? (both ? 2 : 1) * bytes / seconds : 0;
    }

    void one_way(std::size_t a, std::size_t b) {
        const auto part = pair_part(devices_[a], devices_[b]);
        sink_.begin(part, "nvlink.pair");
        const bool direct = joined(a, b);
        const auto rate = best(a, b, false);
        if (!usable(a) || rate <= 0) return tell_failure(a, part);
        Result result{.check = "nvlink",
                      .test = direct ? "nvlink.pair" : "nvlink.through_host",
                      .part = part,
                      .value = rate / 1e9,
                      .unit = "GB/s"};
        if (!direct) result.says = "neither GPU reaches the other's memory: it goes through the host";
        sink_.add(result);
    }

    void pair(std::size_t a, std::size_t b) {
        if (!usable(a) || !usable(b)) return;
        one_way(a, b);
        if (usable(a) && usable(b)) one_way(b, a);
        if (!usable(a) || !usable(b)) return;
        const auto part = pair_part(devices_[a], devices_[b]);
        sink_.begin(part, "nvlink.both");
        if (const auto rate = best(a, b, true); rate > 0)
            sink_.add(Result{
                .check = "nvlink", .test = "nvlink.both", .part = part, .value = rate / 1e9, .unit = "GB/s"});
        else
            tell_failure(a, part);
    }

    void tell_failure(std::size_t a, const Part& part) {
        const auto& failure = gpus_[a]->failure();
        if (gpus_[a]->failed()) say(part, "nvlink.pair", failure.verdict(), failure.text);
    }

    Sink& sink_;
    const std::vector<CudaDevice>& devices_;
    NvlinkPlan plan_;
    std::vector<std::unique_ptr<CudaGpu>> gpus_;
    std::vector<CudaGpu::Memory> from_, to_; // by GPU; freed before their GPU
};

// A GPU whose pairs are slow is named once, by the fit that also finds slow hosts; it does not blame the
// partners. With fewer than four GPUs this cannot be decided.
void name_gpus(std::vector<Result>& results, const std::vector<CudaDevice>& devices) {
    const auto number_of = [&](const std::string& name) {
        const auto found = std::find_if(devices.begin(), devices.end(),
                                        [&](const CudaDevice& one) { return one.part.name == name; });
        return static_cast<std::uint32_t>(found - devices.begin());
    };
    std::vector<net::Cell> cells;
    for (const auto& one : results) {
        if (one.test != "nvlink.pair" || !one.value || *one.value <= 0) continue;
        const auto dash = std::min(one.part.name.find('-'), one.part.name.size() - 1);
        const auto a = number_of(one.part.name.substr(0, dash)),
                   b = number_of(one.part.name.substr(dash + 1));
        if (a < devices.size() && b < devices.size()) cells.push_back({a, b, 0, -std::log(*one.value)});
    }
    const auto count = static_cast<std::uint32_t>(devices.size());
    if (count < 4) return;
    for (const auto& one : net::culprits(net::fit(cells, count, 1), {}, {.least = -std::log(0.9)})) {
        if (!one.host) continue;
        const auto& part = devices[*one.host].part;
        const bool bad = std::any_of(results.begin(), results.end(), [&](const Result& pair) {
            return pair.test == "nvlink.pair" && pair.verdict == Verdict::bad &&
                   (pair.part.name.starts_with(part.name + "-") || pair.part.name.ends_with("-" + part.name));
        });
        Result result{.check = "nvlink",
                      .test = "nvlink.gpu",
                      .part = part,
                      .verdict = bad ? Verdict::bad : Verdict::warning};
        result.says = fmt::format("its pairs reach {:.0f} % of the others': its own links are slow",
                                  100 * std::exp(-one.slowness));
        results.push_back(std::move(result));
    }
}

} // namespace

std::vector<Result> Nvlink::run(const Request& request) {
    Result why;
    const auto devices = cuda_devices("nvlink", request, why);
    if (devices.empty()) return {why};
    const auto say = [](const Part& part, Verdict verdict, std::string says) {
        Result result{.check = "nvlink", .test = "nvlink.start", .part = part, .verdict = verdict};
        result.says = std::move(says);
        return std::vector<Result>{std::move(result)};
    };
    if (devices.size() == 1)
        return say(devices.front().part, Verdict::measured, "is the only GPU here: it has no pair");
    for (const auto& device : devices)
        if (!device.used_by.empty())
            return say(device.part, Verdict::not_run,
                       fmt::format("{} uses it: nothing was put on the GPUs", device.used_by));
    Task task{.work = {},
              .deadline = request.level == 1   ? 30s
                          : request.level == 2 ? 90s
                                               : 400s,
              .part = devices.front().part,
              .test = "nvlink.start"};
    task.work = [&](Sink& sink) {
        ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
        const auto calls = open_cuda(request.libraries);
        if (!calls) {
            for (const auto& one : say(devices.front().part, Verdict::not_run, calls.error().text))
                sink.add(one);
            return;
        }
        Matrix(sink, request, devices).run(*calls);
    };
    auto results = std::move(run_apart("nvlink", {std::move(task)}, request).front().results);
    judge_all(results, devices, request.expected);
    name_gpus(results, devices);
    return results;
}

} // namespace check
