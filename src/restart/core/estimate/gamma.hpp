// The gamma distribution, as far as a failure rate needs it.
#pragma once

namespace restart {

// P(X <= x) for X of the gamma distribution with this shape and rate 1: the regularised lower incomplete
// gamma function. Absolute error below 1e-12 for shapes up to 1e6. shape > 0; 0 for x <= 0.
double gamma_cdf(double shape, double x);

// The x with gamma_cdf(shape, x) = p, for 0 < p < 1; relative error below 1e-9. 0 for p <= 0, infinite for
// p >= 1.
double gamma_quantile(double shape, double p);

} // namespace restart
