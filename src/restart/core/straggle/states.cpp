// What the job's GPUs do, and whether all of them only wait.
#include "restart/core/straggle/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace restart::straggle {
namespace {

constexpr std::array all_works{GpuWork::working, GpuWork::throttled, GpuWork::waiting, GpuWork::idle};
constexpr std::size_t most_named = 3;

struct Counts {
    std::array<std::size_t, all_works.size()> of{};
    std::array<std::vector<std::pair<std::size_t, std::uint32_t>>, all_works.size()> named; // host and index
    std::size_t total = 0;

    std::size_t count(GpuWork work) const { return of[place_of(work)]; }
    const auto& names(GpuWork work) const { return named[place_of(work)]; }
    static std::size_t place_of(GpuWork work) {
        return static_cast<std::size_t>(std::find(all_works.begin(), all_works.end(), work) -
                                        all_works.begin());
    }
};

Counts counted(const Comparison& job, std::size_t back) {
    Counts counts;
    for (std::size_t host = 0; host < job.hosts.size(); ++host)
        for (const auto& gpu : job.at(host, back).gpus)
            if (const auto work = work_of(gpu)) {
                const auto place = Counts::place_of(*work);
                ++counts.total;
                if (counts.of[place]++ <= most_named) counts.named[place].emplace_back(host, gpu.gpu);
            }
    return counts;
}

std::string names_of(const Comparison& job, const Counts& counts, GpuWork work) {
    std::vector<std::string> names;
    for (const auto& [host, gpu] : counts.names(work))
        names.push_back(fmt::format("{} gpu {}", job.hosts[host]->host, gpu));
    return fmt::format("{}", fmt::join(names, ", "));
}

// In each window nearly all wait, and none works.
bool stands_still(const Comparison& job) {
    for (std::size_t back = 0; back < job.windows; ++back) {
        const auto counts = counted(job, back);
        if (counts.count(GpuWork::working) + counts.count(GpuWork::throttled) > 0 ||
            10 * counts.count(GpuWork::waiting) < 9 * counts.total || counts.total < 2)
            return false;
    }
    return true;
}

} // namespace

std::vector<std::string> gpu_states(const Comparison& job) {
    const auto counts = counted(job, 0);
    if (counts.total == 0) return {};
    std::vector<std::string> parts;
    for (const auto work : all_works) {
        const auto n = counts.count(work);
        if (n == 0) continue;
        const bool few = n <= most_named && n < counts.total;
        parts.push_back(fmt::format("{} {}{}", n, to_string(work),
                                    few ? fmt::format(" ({})", names_of(job, counts, work)) : ""));
    }
    std::vector<std::string> said{fmt::format("GPUs, in the last window: {}", fmt::join(parts, ", "))};
    if (stands_still(job))
        said.push_back(
            fmt::format("no GPU has worked in the last {} windows, though kernels run on {}: they wait for "
                        "each other, or "
                        "for something else. NCCL's RAS does not see a job that hangs while NCCL makes a "
                        "connection, as all "
                        "its ranks have launched as much and are running; the power of its GPUs shows it",
                        job.windows, counts.count(GpuWork::waiting)));
    return said;
}

Suspect by_stillness(const Comparison& job) {
    if (!stands_still(job)) return {};
    // The same one in each window, and the only one.
    std::optional<std::pair<std::size_t, std::uint32_t>> one;
    for (std::size_t back = 0; back < job.windows; ++back) {
        const auto counts = counted(job, back);
        if (counts.count(GpuWork::idle) != 1) return {};
        const auto& idle = counts.names(GpuWork::idle).front();
        if (one && *one != idle) return {};
        one = idle;
    }
    Straggler straggler;
    straggler.host = job.hosts[one->first]->host;
    straggler.gpu = static_cast<int>(one->second);
    straggler.score = 1;
    straggler.confidence = 0.5;
    straggler.evidence.push_back(
        fmt::format("no kernel runs on it, while those of all other GPUs wait, in {} windows", job.windows));
    return straggler;
}

} // namespace restart::straggle
