#include "restart/core/estimate/gamma.hpp"

#include <cmath>
#include <limits>

namespace restart {
namespace {

constexpr double tiny = 1e-300;
constexpr double enough = 1e-15;
constexpr int most_terms = 100'000; // a multiple of sqrt(shape): not reached by any shape up to 1e6

// x^a e^-x / Gamma(a); lgamma writes a global that is not read here.
double front(double a, double x) {
    return std::exp(a * std::log(x) - x - std::lgamma(a));
}

// P by its series, which is short for x < a + 1.
double by_series(double a, double x) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < most_terms && term > enough * sum; ++n) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * front(a, x);
}

// 1 - P by its continued fraction (Lentz), which is short for x >= a + 1.
double by_fraction(double a, double x) {
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, value = d;
    for (int n = 1; n < most_terms; ++n) {
        const double numerator = -n * (n - a);
        b += 2;
        d = numerator * d + b;
        c = b + numerator / c;
        if (std::abs(d) < tiny) d = tiny;
        if (std::abs(c) < tiny) c = tiny;
        d = 1 / d;
        value *= d * c;
        if (std::abs(d * c - 1) < enough) break;
    }
    return value * front(a, x);
}

} // namespace

double gamma_cdf(double shape, double x) {
    if (!(x > 0)) return 0;
    return x < shape + 1 ? by_series(shape, x) : 1 - by_fraction(shape, x);
}

// By bisection in logarithms: quantiles of small shapes lie many powers of ten below 1.
double gamma_quantile(double shape, double p) {
    if (!(p > 0)) return 0;
    if (p >= 1) return std::numeric_limits<double>::infinity();
    double low = shape, high = shape;
    while (gamma_cdf(shape, low) > p && low > tiny)
        low /= 16;
    while (gamma_cdf(shape, high) < p)
        high *= 2;
    while (high - low > 1e-10 * high) {
        const double middle = std::sqrt(low) * std::sqrt(high);
        if (!(middle > low && middle < high)) break;
        (gamma_cdf(shape, middle) < p ? low : high) = middle;
    }
    return high;
}

} // namespace restart
