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
    // Line coding adds up to 6.25 % to the nominal rate of a lane; 10 is QDR's.
    for (const auto& [lane, mbps] : lanes)
        if (lane != "FDR10" && value * 1000 >= mbps * 0.99 && value * 1000 <= mbps * 1.07) return mbps;
    return 0;
}

std::uint8_t lanes_of(std::string_view width) {
    if (width.starts_with("IB_")) width.remove_prefix(3);
    if (width.ends_with('x') || width.ends_with('X')) width.remove_suffix(1);
    constexpr std::array<std::pair<std::string_view, std::uint8_t>, 5> widths{
        {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"12", 12}}};
    for (const auto& [digits, count] : widths)
        if (digits == width) return count;
    return 0;
}

std::uint32_t lane_mbps_of(std::string_view speed) {
    const auto lane = lane_mbps(speed);
    return lane ? *lane : lane_mbps_of_gbps(speed);
}

std::optional<Rate> parse_rate(std::string_view name) {
    const auto cross = name.find_first_of("xX");
    if (cross == std::string_view::npos) return {};
    const auto width = lanes_of(name.substr(0, cross));
    const auto lane = lane_mbps(name.substr(cross + 1));
    if (width == 0 || !lane) return {};
    return Rate{width, *lane * width};
}

std::string format_rate(Rate rate) {
    if (rate.width == 0 && rate.mbps == 0) return "unknown";
    if (rate.width != 0)
        for (const auto& [lane, mbps] : lanes)
            if (rate.mbps == mbps * rate.width) return fmt::format("{}x{}", rate.width, lane);
    if (rate.mbps == 0) return fmt::format("{}x", rate.width);
    return fmt::format("{}x ({} Mbit/s)", rate.width, rate.mbps);
}

} // namespace topo
