#include "restart/core/detect/check_signs.hpp"

#include "base/median.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace restart {
namespace {

double least_share(std::string_view check) {
    return check.starts_with("disk.") ? 0.5 : 0.9;
}

constexpr std::size_t least_hosts = 8, least_readings = 3;

// How good it is compared with `than`; 1: the same.
double goodness(double value, double than, std::string_view unit) {
    const bool time = unit == "ms" || unit == "us" || unit == "s";
    if (value <= 0 || than <= 0) return 1;
    return time ? than / value : value / than;
}

} // namespace

CheckMedians check_medians(const State& state) {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<double>> values;
    for (const auto& [name, host] : state.hosts)
        for (const auto& known : host.checks)
            if (const auto& value = known.readings.back().value)
                values[{known.check, known.component}].push_back(*value);
    CheckMedians medians;
    for (auto& [what, list] : values)
        if (list.size() >= least_hosts) medians[what] = base::upper_median(std::move(list));
    return medians;
}

CheckSigns check_signs(const KnownCheck& known, const CheckMedians& medians, std::size_t back) {
    CheckSigns signs;
    if (back >= known.readings.size()) return signs;
    const auto last = known.readings.end() - 1 - static_cast<std::ptrdiff_t>(back);
    if (!last->value) return signs;
    if (const auto fleet = medians.find({known.check, known.component}); fleet != medians.end()) {
        signs.fleet = fleet->second;
        if (const auto share = goodness(*last->value, *signs.fleet, known.unit);
            share < least_share(known.check))
            signs.phrases.push_back(fmt::format("{:.0f} % of the fleet's median", 100 * share));
    }
    std::vector<double> before;
    for (auto at = known.readings.begin(); at != last; ++at)
        if (at->value) before.push_back(*at->value);
    if (before.size() >= least_readings) {
        signs.before = base::upper_median(std::move(before));
        if (const auto share = goodness(*last->value, *signs.before, known.unit);
            share < least_share(known.check))
            signs.phrases.push_back(fmt::format("falls: {:.0f} % of what it was", 100 * share));
    }
    return signs;
}

} // namespace restart
