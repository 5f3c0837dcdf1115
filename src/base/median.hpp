// The median of some values, always one of them: for an even count, the upper one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace base {

// 0 for an empty list. Linear time on average.
inline double upper_median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace base
