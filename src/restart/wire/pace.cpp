#include "restart/wire/pace.hpp"

#include <fmt/format.h>

#include <cmath>

namespace restart {
namespace {

// Below this share of the time with kernels a GPU is idle; above this share of its power limit it works,
// whatever GPM has counted, which is older.
constexpr double least_busy = 0.05, surely_works = 0.35;

// No clock, bandwidth or counter of a host comes near it.
constexpr double largest = 1e15;

bool sound(double number, double least, double top) {
    return std::isfinite(number) && number >= least && number <= top;
}
bool sound(const std::optional<double>& number, double top = largest) {
    return !number || sound(*number, 0, top);
}

base::Error wrong_pace(const std::string& of) {
    return {base::Code::input,
            fmt::format("{}: a number is below 0, or larger than any that is measured", of)};
}

} // namespace

base::Expected<void> check(const RankPace& rank) {
    if (!sound(rank.steps, 0, 1e6) || !sound(rank.waited, 0, 1))
        return base::Error{base::Code::input,
                           fmt::format("rank {}: steps must be 0 to 1000000 a second, waited a share from "
                                       "0 to 1",
                                       rank.rank)};
    return {};
}

base::Expected<void> check(const std::vector<GpuPace>& gpus, std::string_view member) {
    for (const auto& gpu : gpus)
        if (!sound(gpu.sm_mhz) || !sound(gpu.mem_mhz) || !sound(gpu.power_w) || !sound(gpu.busy, 1) ||
            !sound(gpu.pcie_gbs) || !sound(gpu.limit_w) || !sound(gpu.capped, 1) || !sound(gpu.capped_mhz) ||
            !sound(gpu.slowed, 1) || !sound(gpu.sm_active, 1) || !sound(gpu.tensor_active, 1))
            return wrong_pace(fmt::format("{}: gpu {}", member, gpu.gpu));
    return {};
}

base::Expected<void> check(const HostPace& pace) {
    if (!sound(pace.seconds, 0.1, 86'400))
        return base::Error{base::Code::input, "pace.seconds: must be 0.1 to 86400"};
    if (auto good = check(pace.gpus, "pace.gpus"); !good) return good;
    for (const auto& port : pace.ports)
        if (!sound(port.mb_s, 0, largest) || !sound(port.peak_mb_s, 0, largest) || !sound(port.waits) ||
            !sound(port.resent, 0, largest) || !sound(port.gbps, 0, largest))
            return wrong_pace(fmt::format("pace.ports: {}", port.port));
    return {};
}

std::string_view to_string(GpuWork work) {
    switch (work) {
    case GpuWork::idle: return "idle";
    case GpuWork::waiting: return "waiting";
    case GpuWork::working: return "working";
    case GpuWork::throttled: break;
    }
    return "throttled";
}

std::optional<GpuWork> work_of(const GpuPace& gpu) {
    if (!gpu.busy) return std::nullopt;
    if (*gpu.busy < least_busy) return GpuWork::idle;
    const auto share = gpu.power_w && gpu.limit_w && *gpu.limit_w > 0
                           ? std::optional(*gpu.power_w / *gpu.limit_w)
                           : std::nullopt;
    const auto waits = [&] {
        if (share && *share >= surely_works) return false;
        if (gpu.sm_active) return *gpu.sm_active < 0.25 && gpu.tensor_active.value_or(0) < 0.01;
        return share && *share < 0.25;
    };
    if (waits()) return GpuWork::waiting;
    return gpu.slowed.value_or(0) >= 0.5 ? GpuWork::throttled : GpuWork::working;
}

double rounded(double number) {
    if (number == 0 || !std::isfinite(number)) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(number))) - 2);
    // A unit below one is divided by its inverse, which is a whole number: 0.123 and not 0.12300000000000001.
    return unit >= 1 ? std::round(number / unit) * unit : std::round(number / unit) / std::round(1 / unit);
}

} // namespace restart
