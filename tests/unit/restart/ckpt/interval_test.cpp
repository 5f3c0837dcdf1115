#include "restart/ckpt/interval.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace restart;

namespace {

double worth(double interval, double cost, double mtbf, double downtime, double restart) {
    return *efficiency(Seconds{interval}, Seconds{cost}, Seconds{mtbf},
                       {Seconds{downtime}, Seconds{restart}});
}

// The t from which `value` falls to both sides, by halving the range in golden sections: knows no formula.
template <class Value> double best_of(Value value, double low, double high) {
    const double part = (std::sqrt(5.0) - 1) / 2;
    while (high - low > 1e-7 * high) {
        const double left = high - part * (high - low), right = low + part * (high - low);
        (value(left) > value(right) ? high : low) = value(left) > value(right) ? right : left;
    }
    return (low + high) / 2;
}

// The share of the time that is work, when a checkpoint is safe only `flush` after the job goes on: worked
// out from what a period costs when the checkpoint before it may still be lost. X is the time to a failure.
double worth_beside(double t, double d, double m, double downtime, double restart, double flush) {
    const double period = t + d, again = (downtime + m) * std::exp(restart / m) - m; // until it runs again
    const double from_safe = (m + downtime) * std::exp(restart / m) * std::expm1(period / m);
    const double lost = -std::expm1(-flush / m), fails = -std::expm1(-period / m);
    // E[min(X, period)] + P(fails) (until it runs again + the period anew), and the same again after a
    // failure that took the checkpoint before it along
    return t / ((m * fails + fails * (again + from_safe)) / (1 - lost));
}

} // namespace

TEST_CASE("Young's and Daly's intervals are those computed by hand") {
    // sqrt(2 * 50 * 10000) = 1000; sqrt(50 / 20000) = 0.05
    CHECK(young_interval(Seconds{50}, Seconds{10000})->count() == Approx(1000.0).epsilon(1e-12));
    CHECK(daly_interval(Seconds{50}, Seconds{10000})->count() ==
          Approx(1000 * (1 + 0.05 / 3 + 0.0025 / 9) - 50).epsilon(1e-12));
    // a day between failures, 60 s: sqrt(120 * 86400) = 3219.9378875996…
    CHECK(young_interval(Seconds{60}, Seconds{86400})->count() == Approx(3219.93788).epsilon(1e-8));
    CHECK(daly_interval(Seconds{200}, Seconds{100})->count() == 100.0); // d >= 2M
    CHECK(young_interval(Seconds{0}, Seconds{100})->count() == 0.0);
}

TEST_CASE("the exact interval solves e^((t+d)/M) (1 - t/M) = 1") {
    for (double c = 1e-9; c < 40; c *= 3) {
        const Seconds mtbf{5000};
        const double x = *exact_interval(mtbf * c, mtbf) / mtbf;
        INFO("d/M = " << c << ", t/M = " << x);
        CHECK(x > 0);
        CHECK(x <= 1);
        // In logarithms, scaled by the curve's own size there.
        if (c < 30) CHECK(std::abs(x + c + std::log1p(-x)) < 1e-8 * c + 1e-15 / (1 - x));
    }
    CHECK(exact_interval(Seconds{0}, Seconds{100})->count() == 0.0);
    CHECK(exact_interval(Seconds{1e9}, Seconds{100})->count() == 100.0);
}

TEST_CASE("the exact interval agrees with Lambert's W where its value is known") {
    // c = ln 2 - 1/2: e^(x + c) (1 - x) = 1 has the root x = 1/2, for 2 e^-1/2 e^1/2 / 2 = 1.
    CHECK(exact_interval(Seconds{(std::log(2.0) - 0.5) * 1000}, Seconds{1000})->count() ==
          Approx(500.0).epsilon(1e-12));
    // c = ln 10 - 0.9: x = 0.9, on the other branch of the code.
    CHECK(exact_interval(Seconds{(std::log(10.0) - 0.9) * 1000}, Seconds{1000})->count() ==
          Approx(900.0).epsilon(1e-12));
}

TEST_CASE("no other interval is more efficient than the exact one") {
    for (const double d : {0.01, 1.0, 30.0, 600.0})
        for (const double m : {600.0, 28.8 * 3600, 285.0 * 3600}) {
            const auto at = [&](double t) { return worth(t, d, m, 120, 60); };
            const double t = exact_interval(Seconds{d}, Seconds{m})->count();
            INFO("d " << d << ", M " << m << ", t " << t);
            for (const double f : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
                CHECK(at(t) > at(t * f));
            CHECK(at(t) + 1e-12 >= at(daly_interval(Seconds{d}, Seconds{m})->count()));
            CHECK(at(t) + 1e-12 >= at(young_interval(Seconds{d}, Seconds{m})->count()));
        }
}

TEST_CASE("neither downtime nor restart time moves the optimum") {
    for (const double m : {900.0, 28.8 * 3600})
        for (const double d : {0.5, 60.0})
            for (const double downtime : {0.0, 5.0, 3600.0})
                for (const double restart : {0.0, 30.0, 7200.0}) {
                    INFO("d " << d << ", M " << m << ", D " << downtime << ", R " << restart);
                    const double found =
                        best_of([&](double t) { return worth(t, d, m, downtime, restart); }, 1e-3, m);
                    CHECK(exact_interval(Seconds{d}, Seconds{m})->count() == Approx(found).epsilon(1e-3));
                }
}

TEST_CASE("a checkpoint that is written beside the work costs its time once a failure, at any interval") {
    for (const double flush : {0.0, 20.0, 300.0}) {
        const double d = 2, m = 28.8 * 3600, t = exact_interval(Seconds{d}, Seconds{m})->count();
        REQUIRE(flush <= t); // the next one begins when the last is safe
        const auto beside = [&](double at) { return worth_beside(at, d, m, 10, 60, flush); };
        INFO("flush " << flush << ", t " << t);
        CHECK(beside(t) == Approx(worth(t, d, m, 10, 60 + flush)).epsilon(1e-4));
        // What another interval could gain is nothing that counts.
        CHECK(beside(best_of(beside, 1, m / 2)) - beside(t) < 1e-4);
    }
}

TEST_CASE("efficiency at the optimum on 128 nodes is that of the published failure rates") {
    // Failures a node and day; efficiency in percent for d = 1, 30, 60, 300, 600 s with D + R = 180 s.
    struct Row {
        double rate;
        double percent[5];
    };
    const Row rows[] = {{0.02 / 30.4, {99.84, 99.22, 98.91, 97.59, 96.60}},
                        {0.05 / 30.4, {99.74, 98.75, 98.26, 96.19, 94.65}},
                        {3.79e-3, {99.56, 98.08, 97.33, 94.21, 91.92}},
                        {6.50e-3, {99.39, 97.45, 96.47, 92.43, 89.48}},
                        {15.6e-3, {98.91, 95.92, 94.43, 88.31, 83.91}}};
    const double costs[] = {1, 30, 60, 300, 600};
    for (const auto& row : rows) {
        const auto mtbf = *job_mtbf(Seconds{86400 / row.rate}, 128);
        for (int i = 0; i < 5; ++i) {
            const auto t = exact_interval(Seconds{costs[i]}, mtbf)->count();
            INFO("M = " << mtbf.count() / 3600 << " h, d = " << costs[i] << " s");
            CHECK(100 * worth(t, costs[i], mtbf.count(), 0, 180) == Approx(row.percent[i]).margin(0.0101));
        }
    }
    // The intervals quoted with them: 41 and 58 minutes at 6.5 per 1000 node-days.
    const auto mtbf = *job_mtbf(Seconds{86400 / 6.50e-3}, 128);
    CHECK(exact_interval(Seconds{30}, mtbf)->count() / 60 == Approx(41).margin(0.5));
    CHECK(exact_interval(Seconds{60}, mtbf)->count() / 60 == Approx(58).margin(0.7));
}

TEST_CASE("a job is given an interval within its bounds") {
    const IntervalBounds bounds{Seconds{10}, Seconds{3600}};
    CHECK(checkpoint_interval(Seconds{0.001}, Seconds{100}, bounds)->count() == 10.0);
    CHECK(checkpoint_interval(Seconds{600}, Seconds{1e7}, bounds)->count() == 3600.0);
    CHECK(checkpoint_interval(Seconds{50}, Seconds{10000}, bounds)->count() ==
          exact_interval(Seconds{50}, Seconds{10000})->count());
    CHECK(checkpoint_interval(Seconds{50}, Seconds{10000}, bounds, Formula::young)->count() ==
          young_interval(Seconds{50}, Seconds{10000})->count());
    CHECK(checkpoint_interval(Seconds{600}, Seconds{1e7}, bounds, Formula::young)->count() == 3600.0);
    CHECK_THAT(checkpoint_interval(Seconds{1}, Seconds{1}, {Seconds{2}, Seconds{1}}).error().text,
               Catch::Contains("bounds cross"));
}

TEST_CASE("impossible costs and failure rates are refused") {
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    for (const double bad : {-1.0, nan, inf}) {
        CHECK_THAT(young_interval(Seconds{bad}, Seconds{1}).error().text,
                   Catch::Contains("checkpoint cost of"));
        CHECK_THAT(young_interval(Seconds{1}, Seconds{bad}).error().text,
                   Catch::Contains("mean time between failures of"));
        CHECK_FALSE(exact_interval(Seconds{bad}, Seconds{1}));
    }
    CHECK_FALSE(exact_interval(Seconds{1}, Seconds{0}));
    CHECK_FALSE(daly_interval(Seconds{-1}, Seconds{1}));
    CHECK_THAT(efficiency(Seconds{-1}, Seconds{1}, Seconds{1}, {}).error().text,
               Catch::Contains("interval of"));
    CHECK_THAT(efficiency(Seconds{1}, Seconds{1}, Seconds{1}, {Seconds{nan}, {}}).error().text,
               Catch::Contains("downtime of"));
    CHECK(*efficiency(Seconds{0}, Seconds{1}, Seconds{1}, {}) == 0);
    CHECK(*efficiency(Seconds{10}, Seconds{1e6}, Seconds{1}, {}) == 0); // never gets a step further
    CHECK_THAT(job_mtbf(Seconds{1}, 0).error().text, Catch::Contains("0 nodes"));
}
