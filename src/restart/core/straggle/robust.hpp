// Robust statistics of the straggler detection. Internal to restart/core/straggle.
#pragma once

#include <cstddef>
#include <vector>

namespace restart::robust {

// 0 for an empty list.
double median(std::vector<double> values);
// The value below which this share of them lies.
double quantile(std::vector<double> values, double share);

struct Fit {
    double centre = 0;
    double spread = 0; // 1.4826 median absolute deviations: the standard deviation of a normal distribution
};
Fit fit(const std::vector<double>& values);

// The number of spreads by which the most distant of n equals may be off, plus two: sqrt(2 ln n) is about
// where the largest of n normal values lies.
double outlying(std::size_t n);

} // namespace restart::robust
