#include "restart/wire/pace.hpp"

#include <fmt/format.h>

#include <cmath>

namespace restart {
namespace {

// No clock, bandwidth or counter of a host comes near it.
constexpr double most = 1e15;

bool sound(double number, double least, double top) {
    return std::isfinite(number) && number >= least && number <= top;
}
bool sound(const std::optional<double>& number, double top = most) {
    return !number || sound(*number, 0, top);
}

base::Error wrong(const std::string& of) {
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

base::Expected<void> check(const HostPace& pace) {
    if (!sound(pace.seconds, 0.1, 86'400))
        return base::Error{base::Code::input, "pace.seconds: must be 0.1 to 86400"};
    for (const auto& gpu : pace.gpus)
        if (!sound(gpu.sm_mhz) || !sound(gpu.mem_mhz) || !sound(gpu.power_w) || !sound(gpu.busy, 1) ||
            !sound(gpu.pcie_gbs))
            return wrong(fmt::format("pace.gpus: gpu {}", gpu.gpu));
    for (const auto& port : pace.ports)
        if (!sound(port.mb_s, 0, most) || !sound(port.peak_mb_s, 0, most) || !sound(port.waits) ||
            !sound(port.resent, 0, most) || !sound(port.gbps, 0, most))
            return wrong(fmt::format("pace.ports: {}", port.port));
    return {};
}

double rounded(double number) {
    if (number == 0 || !std::isfinite(number)) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(number))) - 2);
    // A unit below one is divided by its inverse, which is a whole number: 0.123 and not 0.12300000000000001.
    return unit >= 1 ? std::round(number / unit) * unit : std::round(number / unit) / std::round(1 / unit);
}

} // namespace restart
