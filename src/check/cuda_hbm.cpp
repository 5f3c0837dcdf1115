#include "check/cuda_hbm.hpp"

#include "check/cuda_check.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

namespace check {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mebi = std::size_t{1} << 20, pair_bytes = 16;

// How much is moved, how often, and how much memory is tested with how many patterns.
struct HbmPlan {
    std::size_t most_bytes; // of each of two buffers
    int rounds;
    std::size_t pattern_bytes; // at most; never more than nine tenths of what is free
    int patterns;
};
HbmPlan hbm_plan(int level) {
    // 1 GiB: the few microseconds of a launch are 5 % of the time for 256 MiB.
    if (level == 1) return {1024 * mebi, 5, 256 * mebi, 1};
    if (level == 2) return {4096 * mebi, 10, std::numeric_limits<std::size_t>::max(), 2};
    return {8192 * mebi, 50, std::numeric_limits<std::size_t>::max(), 16};
}

std::size_t whole_pairs(std::size_t bytes) {
    return bytes / mebi * mebi;
}

// The best of several rounds: other users can only slow it down.
void bandwidth(const CudaWork& work, const HbmPlan& plan) {
    auto& gpu = work.gpu;
    const auto bytes = whole_pairs(std::min(plan.most_bytes, gpu.free_bytes() / 4));
    const auto from = gpu.allocate(bytes), to = gpu.allocate(bytes), never = gpu.allocate(8);
    if (gpu.failed()) return;
    if (!from || !to || !never)
        return work.said("hbm.read", Verdict::not_run, "less than 4 MiB of the GPU's memory are free");
    const unsigned long long pairs = bytes / pair_bytes;
    const auto best = [&](std::string_view test, double moved, const std::function<void()>& kernel) {
        work.sink.begin(work.device.part, test);
        double seconds = 0;
        for (int i = 0; i <= plan.rounds && !gpu.failed(); ++i) {
            const auto took = gpu.seconds(kernel);
            // The first round loads the kernel.
            if (i > 0 && took > 0 && (seconds == 0 || took < seconds)) seconds = took;
        }
        if (!gpu.failed() && seconds > 0) work.measured(test, moved / seconds / 1e9, "GB/s");
    };
    const auto size = static_cast<double>(bytes);
    best("hbm.write", size,
         [&] { gpu.launch_each(pairs, "railyard_write", from.at(), pairs, 0x5a5a5a5a5a5a5a5aULL); });
    best("hbm.read", size, [&] { gpu.launch("railyard_read", from.at(), pairs, never.at()); });
    best("hbm.copy", 2 * size, [&] { gpu.launch_each(pairs, "railyard_copy", to.at(), from.at(), pairs); });
}

// What the kernel finds in a chunk.
struct WrongWords {
    unsigned long long wrong = 0, first = std::numeric_limits<unsigned long long>::max(), bits = 0;
};

void patterns(const CudaWork& work, const HbmPlan& plan) {
    auto& gpu = work.gpu;
    work.sink.begin(work.device.part, "hbm.pattern");
    const auto target = whole_pairs(std::min(plan.pattern_bytes, gpu.free_bytes() / 10 * 9));
    const auto counter = gpu.allocate(sizeof(WrongWords));
    std::vector<CudaGpu::Memory> chunks;
    std::size_t got = 0;
    for (auto chunk = std::min(target, 2048 * mebi); got < target && chunk >= mebi && counter;) {
        auto memory = gpu.allocate(std::min(chunk, target - got));
        if (gpu.failed()) return;
        if (!memory) {
            chunk /= 2; // try smaller pieces
            continue;
        }
        got += memory.bytes();
        chunks.push_back(std::move(memory));
    }
    if (chunks.empty()) return work.said("hbm.pattern", Verdict::not_run, "no memory of the GPU is free");
    unsigned long long wrong = 0, bits = 0;
    std::string where;
    for (int pass = 0; pass < plan.patterns && !gpu.failed(); ++pass) {
        // Everything is written before any is read, to find cells that disturb each other, too.
        const auto seed = static_cast<unsigned long long>(pass / 2 + 1);
        const unsigned long long flip = pass % 2 == 0 ? 0 : ~0ULL;
        for (std::size_t i = 0; i < chunks.size(); ++i)
            gpu.launch("railyard_fill", chunks[i].at(),
                       static_cast<unsigned long long>(chunks[i].bytes() / pair_bytes), seed + 1000 * i,
                       flip);
        for (std::size_t i = 0; i < chunks.size() && !gpu.failed(); ++i) {
            const WrongWords none;
            gpu.to_device(counter.at(), &none, sizeof none);
            gpu.launch("railyard_check", chunks[i].at(),
                       static_cast<unsigned long long>(chunks[i].bytes() / pair_bytes), seed + 1000 * i, flip,
                       counter.at());
            const auto found = gpu.read<WrongWords>(counter.at());
            if (found.wrong != 0 && where.empty())
                where = fmt::format("pattern {}, word {} of the {} MiB at {:#x}", pass, found.first,
                                    chunks[i].bytes() / mebi, chunks[i].at());
            wrong += found.wrong;
            bits += found.bits;
        }
    }
    if (gpu.failed()) return;
    Result result{.check = work.check,
                  .test = "hbm.pattern",
                  .part = work.device.part,
                  .verdict = wrong == 0 ? Verdict::sound : Verdict::bad,
                  .value = static_cast<double>(wrong),
                  .unit = "wrong words"};
    result.says = wrong == 0 ? fmt::format("{} MiB, {} patterns", got / mebi, plan.patterns)
                             : fmt::format("{} words of {} MiB came back as others, {} bits; the first: {}",
                                           wrong, got / mebi, bits, where);
    work.sink.add(result);
}

} // namespace

std::vector<Result> Hbm::run(const Request& request) {
    const auto plan = hbm_plan(request.level);
    const base::Duration deadline = request.level == 1 ? 20s : request.level == 2 ? 60s : 300s;
    return run_on_each("hbm", request, deadline, true,
                       [&](const CudaWork& work) {
                           bandwidth(work, plan);
                           if (!work.gpu.failed()) patterns(work, plan);
                       })
        .results;
}

} // namespace check
