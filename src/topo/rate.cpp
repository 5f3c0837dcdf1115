#include "topo/rate.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace topo {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 9> lanes{{{"SDR", 2500},
                                                                           {"DDR", 5000},
                                                                           {"QDR", 10000},
                                                                           {"FDR10", 10300},
                                                                           {"FDR", 14000},
                                                                           {"EDR", 25000},
                                                                           {"HDR", 50000},
                                                                           {"NDR", 100000},
                                                                           {"XDR", 200000}}};

} // namespace

std::optional<std::uint32_t> lane_mbps(std::string_view name) {
    for (const auto& [lane, mbps] : lanes)
        if (lane == name) return mbps;
    return {};
}

std::uint32_t lane_mbps_of_gbps(std::string_view gbps) {
    double value = 0;
    const auto [end, failed] = std::from_chars(gbps.data(), gbps.data() + gbps.size(), value);
    if (failed != std::errc{} || end != gbps.data() + gbps.size()) return 0;
    // Line coding adds up to 6.25 % to the rate that names the lane; 10 is QDR's.
    for (const auto& [lane, mbps] : lanes)
        if (lane != "FDR10" && value * 1000 >= mbps * 0.99 && value * 1000 <= mbps * 1.07) return mbps;
    return 0;
}

std::optional<Rate> parse_rate(std::string_view name) {
    const auto cross = name.find_first_of("xX");
    if (cross == std::string_view::npos || cross == 0 || cross > 2) return {};
    unsigned width = 0;
    for (const char c : name.substr(0, cross)) {
        if (c < '0' || c > '9') return {};
        width = width * 10 + static_cast<unsigned>(c - '0');
    }
    if (width != 1 && width != 2 && width != 4 && width != 8 && width != 12) return {};
    const auto lane = lane_mbps(name.substr(cross + 1));
    if (!lane) return {};
    return Rate{static_cast<std::uint8_t>(width), *lane * width};
}

std::string format_rate(Rate rate) {
    if (rate.width == 0 && rate.mbps == 0) return "unknown";
    if (rate.width != 0)
        for (const auto& [lane, mbps] : lanes)
            if (rate.mbps == mbps * rate.width) return fmt::format("{}x{}", rate.width, lane);
    return fmt::format("{}x ({} Mbit/s)", rate.width, rate.mbps);
}

} // namespace topo
