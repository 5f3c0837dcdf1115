#include "restart/core/straggle/robust.hpp"

#include <algorithm>
#include <cmath>

namespace restart::robust {

double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Fit fit(const std::vector<double>& values) {
    Fit made;
    made.centre = median(values);
    std::vector<double> off;
    off.reserve(values.size());
    for (const double value : values)
        off.push_back(std::abs(value - made.centre));
    made.spread = 1.4826 * median(std::move(off));
    return made;
}

double outlying(std::size_t n) {
    return 2 + std::sqrt(2 * std::log(static_cast<double>(std::max<std::size_t>(n, 2))));
}

} // namespace restart::robust
