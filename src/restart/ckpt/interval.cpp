#include "restart/ckpt/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;

Expected<void> check(Seconds cost, Seconds mtbf) {
    if (!std::isfinite(cost.count()) || cost.count() < 0)
        return Error{
            Code::input,
            fmt::format("checkpoint cost of {} s: a finite number of at least 0 is wanted", cost.count())};
    if (std::isfinite(mtbf.count()) && mtbf.count() > 0) return {};
    return Error{
        Code::input,
        fmt::format("mean time between failures of {} s: a finite number above 0 is wanted", mtbf.count())};
}

// The root x in [0, 1) of e^(x + c) (1 - x) = 1 for c >= 0.
double exact_ratio(double c) {
    if (c >= 1) {
        // y = 1 - x = e^(y - 1 - c) contracts by y < 0.16 per iteration, and stays accurate when x is near 1.
        double y = 0;
        for (int i = 0; i < 24; ++i)
            y = std::exp(y - 1 - c);
        return 1 - y;
    }
    if (c <= 0) return 0;
    // f(x) = x + c + ln(1 - x) falls and is concave, so Newton from the right of the root never passes it.
    double x = std::min(std::sqrt(2 * c), 0.9);
    for (int i = 0; i < 24; ++i) {
        const double next = x + (x + c + std::log1p(-x)) * (1 - x) / x;
        if (!(next < x)) break; // converged to rounding
        x = next;
    }
    return x;
}

} // namespace

Expected<Seconds> job_mtbf(Seconds node_mtbf, std::uint32_t nodes) {
    if (auto ok = check(Seconds{0}, node_mtbf); !ok) return std::move(ok).error();
    if (nodes == 0) return Error{Code::input, "a job on 0 nodes has no mean time between failures"};
    return node_mtbf / static_cast<double>(nodes);
}

Expected<Seconds> young_interval(Seconds cost, Seconds mtbf) {
    if (auto ok = check(cost, mtbf); !ok) return std::move(ok).error();
    return Seconds{std::sqrt(2 * cost.count() * mtbf.count())};
}

Expected<Seconds> daly_interval(Seconds cost, Seconds mtbf) {
    if (auto ok = check(cost, mtbf); !ok) return std::move(ok).error();
    if (cost >= 2 * mtbf) return mtbf;
    const double half = cost / (2 * mtbf);
    return Seconds{std::sqrt(2 * cost.count() * mtbf.count()) * (1 + std::sqrt(half) / 3 + half / 9)} - cost;
}

Expected<Seconds> exact_interval(Seconds cost, Seconds mtbf) {
    if (auto ok = check(cost, mtbf); !ok) return std::move(ok).error();
    return mtbf * exact_ratio(cost / mtbf);
}

Expected<double> efficiency(Seconds interval, Seconds cost, Seconds mtbf, const FailureCost& failure) {
    if (auto ok = check(cost, mtbf); !ok) return std::move(ok).error();
    for (const auto& [name, time] : {std::pair{"interval", interval}, std::pair{"downtime", failure.downtime},
                                     std::pair{"restart", failure.restart}})
        if (!std::isfinite(time.count()) || time.count() < 0)
            return Error{Code::input, fmt::format("{} of {} s: a finite number of at least 0 is wanted", name,
                                                  time.count())};
    if (interval.count() == 0) return 0.0;
    const double spent = (mtbf + failure.downtime).count() * std::exp(failure.restart / mtbf) *
                         std::expm1((interval + cost) / mtbf);
    return interval.count() / spent; // 0 if that is infinite
}

Expected<Seconds> checkpoint_interval(Seconds cost, Seconds mtbf, const IntervalBounds& bounds,
                                      Formula formula) {
    if (!(bounds.least.count() >= 0 && bounds.least <= bounds.most))
        return Error{Code::input, fmt::format("checkpoint interval between {} s and {} s: the bounds cross",
                                              bounds.least.count(), bounds.most.count())};
    auto best = formula == Formula::young ? young_interval(cost, mtbf) : exact_interval(cost, mtbf);
    if (!best) return best;
    return std::clamp(*best, bounds.least, bounds.most);
}

} // namespace restart
