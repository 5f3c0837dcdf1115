#include "restart/core/decide/slowdown.hpp"

#include <algorithm>
#include <array>

namespace restart {
namespace {

// A job on several hosts waits for the slowest of them, so one host's slowdown is the job's.
constexpr auto table = std::to_array<SlowdownRule>({
    {"gpu.throttle.hw_power_brake", 0.5, false,
     "NVML: clocks are reduced by a factor of 2 or more while the power brake is on"},
    {"gpu.throttle.hw_thermal_slowdown", 0.5, false,
     "NVML: clocks are reduced by a factor of 2 or more above the slowdown temperature"},
    {"gpu.throttle.hw_slowdown", 0.5, false, "NVML: clocks are reduced by a factor of 2 or more"},
    {"gpu.throttle.sw_thermal_slowdown", 0.1, false,
     "assumed: NVML lowers clocks until the temperature is right, and tells no amount"},
    {"gpu.pcie_width", 0.1, false, "assumed: copies between host and GPU take longer, computing does not"},
    {"ib.link_down", 1, true, "its share of the rails, as if the job did nothing but communicate"},
    {"ib.vanished", 1, true, "as ib.link_down"},
    {"ib.missing", 1, true, "as ib.link_down"},
    {"ib.never_up", 1, true, "as ib.link_down"},
    {"ib.rate", 0.5, true, "half of the rail: the next lower speed"},
    {"ib.counter.", 0.02, false, "assumed: what is sent again, and a flap that the transport survives"},
});

bool covers(const SlowdownRule& row, std::string_view rule) {
    return row.rule.ends_with('.') ? rule.starts_with(row.rule) : rule == row.rule;
}

} // namespace

std::span<const SlowdownRule> slowdown_rules() {
    return table;
}

std::optional<double> slowdown_of(std::string_view rule, std::uint32_t rails) {
    const auto row = std::find_if(table.begin(), table.end(), [&](const auto& r) { return covers(r, rule); });
    if (row == table.end()) return {};
    return row->of_rail ? row->factor / (rails == 0 ? usual_rails : rails) : row->factor;
}

} // namespace restart
