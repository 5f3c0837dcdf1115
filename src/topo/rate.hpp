// InfiniBand link rates by name: "4xNDR" = 4 lanes of 100 Gbit/s.
//
// Rates are the signalling rates of a whole link in 10^6 bit/s, as sysfs names them ("400 Gb/sec (4X NDR)"):
// 2500 SDR, 5000 DDR, 10000 QDR, 10300 FDR10, 14000 FDR, 25000 EDR, 50000 HDR, 100000 NDR, 200000 XDR a lane.
// Source: InfiniBand Architecture 1.7, 14.2.5.6 PortInfo; FDR10 is increased by 300 to distinguish it from
// QDR.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace topo {

struct Rate {
    std::uint8_t width = 0; // lanes, 0 unknown
    std::uint32_t mbps = 0; // of the whole link, 0 unknown
    bool operator==(const Rate&) const = default;
};

// "4xHDR", "4XHDR" and "2xNDR"; nothing if it is not such a name.
std::optional<Rate> parse_rate(std::string_view name);

// The speed of one lane by its name, in 10^6 bit/s: "HDR" → 50000.
std::optional<std::uint32_t> lane_mbps(std::string_view name);

// The same from a tool's output, in Gbit/s: "53.125", "50", "25.78125"; 0 if no lane has that speed.
std::uint32_t lane_mbps_of_gbps(std::string_view gbps);

// From a tool's output of either; 0, unknown, for any other word: "4x", "4X", "IB_4x" and "4" are 4 lanes,
// "HDR" and "53.125" are 50000.
std::uint8_t lanes_of(std::string_view width);
std::uint32_t lane_mbps_of(std::string_view speed);

// "4xHDR"; a lane speed without a name is written as a number: "4x (70000 Mbit/s)"; "unknown" for nothing.
std::string format_rate(Rate rate);

} // namespace topo
