#include "check/cuda_pcie.hpp"

#include "check/cuda_check.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace check {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mebi = std::size_t{1} << 20;

struct PciePlan {
    std::size_t bytes;
    int rounds; // of each transfer
};
PciePlan pcie_plan(int level) {
    if (level == 1) return {64 * mebi, 2};
    if (level == 2) return {256 * mebi, 8};
    return {256 * mebi, 64};
}

// A buffer on each side, and the transfer between them.
struct Ends {
    CudaGpu::Memory there, back, here, from_there; // the second pair for both ways at once
    std::size_t bytes = 0;
};

void fill_host(void* to, std::size_t bytes, std::uint64_t seed) {
    auto* words = static_cast<std::uint64_t*>(to);
    for (std::size_t i = 0; i < bytes / sizeof *words; ++i)
        words[i] = (i + seed) * 0x9e3779b97f4a7c15U;
}

// Checks that data copied to the GPU comes back unchanged.
void verify(const CudaWork& work, const Ends& ends) {
    auto& gpu = work.gpu;
    work.sink.begin(work.device.part, "pcie.data");
    fill_host(ends.here.host(), ends.bytes, 1);
    std::memset(ends.from_there.host(), 0, ends.bytes);
    gpu.to_device(ends.there.at(), ends.here.host(), ends.bytes);
    gpu.to_host(ends.from_there.host(), ends.there.at(), ends.bytes);
    gpu.wait();
    if (gpu.failed()) return;
    const auto* sent = static_cast<const std::uint64_t*>(ends.here.host());
    const auto* got = static_cast<const std::uint64_t*>(ends.from_there.host());
    const auto words = ends.bytes / sizeof *sent;
    const auto first = static_cast<std::size_t>(std::mismatch(sent, sent + words, got).first - sent);
    if (first == words) return;
    work.said("pcie.data", Verdict::bad,
              fmt::format("byte {} of {} came back from the GPU as another than was sent",
                          first * sizeof *sent, ends.bytes));
}

void copy_both_ways(const CudaWork& work, const PciePlan& plan) {
    auto& gpu = work.gpu;
    Ends ends;
    ends.bytes = std::min(plan.bytes, gpu.free_bytes() / 4) / mebi * mebi;
    ends.there = gpu.allocate(ends.bytes);
    ends.back = gpu.allocate(ends.bytes);
    if (!gpu.failed() && (!ends.there || !ends.back)) {
        return work.said("pcie.h2d", Verdict::not_run, "less than 4 MiB of the GPU's memory are free");
    }
    ends.here = gpu.allocate_host(ends.bytes);
    ends.from_there = gpu.allocate_host(ends.bytes);
    const auto best = [&](std::string_view test, double moved, const std::function<void()>& go) {
        work.sink.begin(work.device.part, test);
        double seconds = 0;
        for (int i = 0; i <= plan.rounds && !gpu.failed(); ++i) {
            const auto took = gpu.seconds(go);
            if (i > 0 && took > 0 && (seconds == 0 || took < seconds)) seconds = took;
        }
        if (!gpu.failed() && seconds > 0) work.measured(test, moved / seconds / 1e9, "GB/s");
    };
    const auto size = static_cast<double>(ends.bytes);
    const auto down = [&] { gpu.to_device(ends.there.at(), ends.here.host(), ends.bytes); };
    const auto up = [&](bool second) {
        gpu.to_host(ends.from_there.host(), ends.back.at(), ends.bytes, second);
    };
    if (!gpu.failed()) verify(work, ends);
    // All GPUs together: each starts when all are ready, and moves enough that start times do not matter.
    const auto all_at_once = [&](std::string_view test, const std::function<void()>& go) {
        work.sink.meet();
        if (gpu.failed()) return;
        work.sink.begin(work.device.part, test);
        const auto took = gpu.seconds([&] {
            for (int i = 0; i < plan.rounds; ++i)
                go();
        });
        if (!gpu.failed() && took > 0) work.measured(test, size * plan.rounds / took / 1e9, "GB/s");
    };
    work.in_turn([&] {
        best("pcie.h2d", size, down);
        best("pcie.d2h", size, [&] { up(false); });
        best("pcie.both", 2 * size, [&] {
            down();
            up(true);
        });
    });
    all_at_once("pcie.h2d_all", down);
    all_at_once("pcie.d2h_all", [&] { up(false); });
}

} // namespace

std::vector<Result> Pcie::run(const Request& request) {
    const auto plan = pcie_plan(request.level);
    const base::Duration deadline = request.level == 1 ? 20s : request.level == 2 ? 60s : 180s;
    return run_on_each("pcie", request, deadline, false,
                       [&](const CudaWork& work) { copy_both_ways(work, plan); })
        .results;
}

} // namespace check
