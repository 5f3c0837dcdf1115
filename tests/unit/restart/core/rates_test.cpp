#include "restart/core/estimate/gamma.hpp"
#include "restart/core/estimate/rates.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace restart;
using namespace std::chrono_literals;

namespace {

constexpr base::Duration day = std::chrono::days(1);
constexpr base::Duration together = 12s;
const base::Time epoch{std::chrono::days(20'000)};

std::string host(int number) {
    return "n" + std::to_string(number);
}

} // namespace

TEST_CASE("the gamma distribution is that of the tables") {
    // Shape 1 is the exponential distribution.
    for (const double x : {1e-6, 0.1, 1.0, 5.0, 30.0})
        CHECK(gamma_cdf(1, x) == Approx(-std::expm1(-x)).epsilon(1e-12));
    // Whole shapes: a Poisson number with mean x is below the shape with what is left.
    for (const int shape : {2, 7, 40})
        for (const double x : {0.5, 7.0, 39.0, 80.0}) {
            double below = 0;
            for (int k = 0; k < shape; ++k)
                below += std::exp(k * std::log(x) - x - std::lgamma(k + 1.0));
            INFO(shape << " " << x);
            CHECK(gamma_cdf(shape, x) == Approx(1 - below).margin(1e-12));
        }
    CHECK(gamma_cdf(0.5, 1.0) == Approx(std::erf(1.0)).epsilon(1e-12));
    CHECK(gamma_cdf(3, 0) == 0);
    CHECK(gamma_cdf(3, -1) == 0);
    // Half of chi-squared with 2 a degrees of freedom; table values at 90 % and 10 %.
    const std::pair<double, std::pair<double, double>> table[] = {
        {0.5, {0.01579077, 2.705543}}, {1, {0.210721, 4.605170}},    {2.5, {1.610308, 9.236357}},
        {5, {4.865182, 15.987179}},    {15, {20.599235, 40.256024}}, {50, {82.358136, 118.498004}}};
    for (const auto& [shape, bounds] : table) {
        INFO(shape);
        CHECK(2 * gamma_quantile(shape, 0.1) == Approx(bounds.first).epsilon(1e-5));
        CHECK(2 * gamma_quantile(shape, 0.9) == Approx(bounds.second).epsilon(1e-6));
    }
    for (const double shape : {0.1, 0.7, 3.0, 1e3, 1e6})
        for (const double p : {1e-6, 0.1, 0.5, 0.9, 0.999999}) {
            INFO(shape << " " << p);
            CHECK(gamma_cdf(shape, gamma_quantile(shape, p)) == Approx(p).epsilon(1e-6));
        }
    CHECK(gamma_quantile(2, 0) == 0);
    CHECK(gamma_quantile(2, 1) == std::numeric_limits<double>::infinity());
}

TEST_CASE("the failure rate begins as configured and follows what is seen") {
    const Prior prior{1500 * day, 3 * day, 1};
    Learned learned;
    auto rate = failure_rate(learned, prior);
    CHECK(rate.mtbf == 1500 * day);
    CHECK(rate.low < rate.mtbf);
    CHECK(rate.mtbf < rate.high);
    // 100 hosts for 30 days without a fault: 3000 host-days beside the prior's 1500.
    count_exposure(learned, 100, 30 * day, epoch);
    CHECK(failure_rate(learned, prior).mtbf == 4500 * day);
    for (int i = 0; i < 8; ++i)
        count_fault(learned, host(i), epoch + i * 60min, together, epoch + i * 60min);
    rate = failure_rate(learned, prior);
    CHECK(rate.mtbf == 500 * day); // 9 in 4500
    CHECK(rate.faults == 8);
    CHECK(rate.host_hours == 100 * 30 * 24);
    CHECK(rate.low < 500 * day);
    CHECK(rate.high > 500 * day);
    // The middle 80 % narrow with evidence.
    const double before = base::to_seconds(rate.high) / base::to_seconds(rate.low);
    for (int i = 8; i < 100; ++i)
        count_fault(learned, host(i), epoch + i * 60min, together, epoch + i * 60min);
    rate = failure_rate(learned, prior);
    CHECK(base::to_seconds(rate.high) / base::to_seconds(rate.low) - 1 < (before - 1) / 2);
}

TEST_CASE("the 80 % interval holds the true rate in about 80 % of all histories") {
    // Truth drawn from the prior, then a history of that truth: the posterior is calibrated by definition,
    // if the code is right.
    std::mt19937_64 random(7);
    const Prior prior{400 * day, 3 * day, 2};
    constexpr int histories = 2000, hosts = 64;
    int held = 0, above = 0;
    for (int i = 0; i < histories; ++i) {
        const double mtbf = base::to_seconds(prior.mtbf);
        const double rate = std::gamma_distribution<double>(prior.faults, 1 / (prior.faults * mtbf))(random);
        Learned learned;
        const auto span = std::uniform_int_distribution<int>(1, 300)(random) * day;
        count_exposure(learned, hosts, span, epoch);
        double at = 0;
        for (;;) {
            at += std::exponential_distribution<double>(rate * hosts)(random);
            if (at > base::to_seconds(span)) break;
            ++learned.periods.back().faults;
        }
        const auto found = failure_rate(learned, prior);
        if (1 / rate > base::to_seconds(found.high)) ++above;
        if (1 / rate >= base::to_seconds(found.low) && 1 / rate <= base::to_seconds(found.high)) ++held;
    }
    CHECK(held > 0.77 * histories); // 80 % +- 0.9 %
    CHECK(held < 0.83 * histories);
    CHECK(above > 0.08 * histories);
    CHECK(above < 0.12 * histories);
}

TEST_CASE("faults that come in bursts say less than as many independent ones") {
    // Bursts of `size` within a period, the truth drawn from the prior.
    const int size = GENERATE(1, 4, 8);
    std::mt19937_64 random(11);
    const Prior prior{400 * day, 3 * day, 2};
    constexpr int histories = 1000, hosts = 256;
    const double mtbf = base::to_seconds(prior.mtbf), period = base::to_seconds(learned_period);
    int held = 0;
    double dispersion = 0;
    for (int i = 0; i < histories; ++i) {
        const double rate = std::gamma_distribution<double>(prior.faults, 1 / (prior.faults * mtbf))(random);
        Learned learned;
        for (std::uint64_t month = 0; month < most_periods; ++month) {
            std::poisson_distribution<std::uint32_t> bursts(rate * hosts * period / size);
            const auto faults = bursts(random) * static_cast<std::uint32_t>(size);
            learned.periods.push_back({month, static_cast<std::uint64_t>(hosts * period), faults, 0});
        }
        const auto found = failure_rate(learned, prior);
        CHECK(found.mtbf == host_mtbf(learned, prior)); // the mean is what it was
        dispersion += found.dispersion / histories;
        if (1 / rate >= base::to_seconds(found.low) && 1 / rate <= base::to_seconds(found.high)) ++held;
    }
    INFO("bursts of " << size << ": dispersion " << dispersion << ", held " << held);
    CHECK(dispersion > 0.7 * size);
    CHECK(dispersion < 1.3 * size);
    CHECK(held > 0.72 * histories);
    CHECK(held < 0.9 * histories);
}

TEST_CASE("what takes many hosts at once counts as one fault of what they share") {
    Learned learned;
    const auto faults = [&] { return failure_rate(learned, {day, day, 1}).faults; };
    const auto shared = [&] { return failure_rate(learned, {day, day, 1}).shared; };
    SECTION("in any order, whatever is reported meanwhile") {
        std::vector<int> order(40);
        std::mt19937_64 random(GENERATE(1U, 2U, 3U));
        for (int i = 0; i < 40; ++i)
            order[static_cast<std::size_t>(i)] = i;
        std::shuffle(order.begin(), order.end(), random);
        for (const int i : order)
            count_fault(learned, host(i), epoch + i * 1s, together, epoch + 60s);
        CHECK(faults() == 0);
        CHECK(shared() == 1);
    }
    SECTION("all hosts of a large cluster") {
        for (int i = 0; i < 16384; ++i)
            count_fault(learned, host(i), epoch + i * 1ms, together, epoch + 20s);
        CHECK(faults() == 0);
        CHECK(shared() == 1);
        CHECK(learned.recent.size() <= 64);
    }
    SECTION("two are two") {
        count_fault(learned, host(1), epoch, together, epoch);
        count_fault(learned, host(2), epoch + 1s, together, epoch + 1s);
        CHECK(faults() == 2);
        CHECK(shared() == 0);
    }
    SECTION("the same host twice is no crowd") {
        for (int i = 0; i < 5; ++i)
            count_fault(learned, host(1), epoch + i * 2s, together, epoch + i * 2s);
        CHECK(faults() == 5); // whether it is the same fault is learn.cpp's business
        CHECK(shared() == 0);
    }
    SECTION("faults that join what two runs were") {
        for (const int i : {0, 10, 40, 50})
            count_fault(learned, host(i), epoch + i * 1s, together, epoch + 60s);
        CHECK(faults() == 4);
        count_fault(learned, host(25), epoch + 25s, 15s, epoch + 60s);
        CHECK(faults() == 0);
        CHECK(shared() == 1);
    }
    SECTION("apart in time") {
        for (int i = 0; i < 10; ++i)
            count_fault(learned, host(i), epoch + i * 13s, together, epoch + i * 13s);
        CHECK(faults() == 10);
        CHECK(shared() == 0);
    }
    SECTION("a network that fails and hosts that fail with it") {
        count_shared_fault(learned, epoch);
        count_shared_fault(learned, epoch + 5min);
        CHECK(shared() == 1);
        count_shared_fault(learned, epoch + 20min);
        CHECK(shared() == 2);
        count_shared_fault(learned, epoch - day); // the clock was set back
        CHECK(shared() == 3);
    }
}

TEST_CASE("what is older than a year is forgotten, and a clock that steps loses nothing") {
    Learned learned;
    for (int month = 0; month < 40; ++month) {
        count_exposure(learned, 10, day, epoch + month * learned_period);
        count_fault(learned, host(month), epoch + month * learned_period, together,
                    epoch + month * learned_period);
    }
    auto rate = failure_rate(learned, {1500 * day, day, 1});
    CHECK(rate.faults == most_periods);
    CHECK(rate.host_hours == most_periods * 240.0);
    count_exposure(learned, 10, day, epoch); // set back
    CHECK(failure_rate(learned, {1500 * day, day, 1}).host_hours == (most_periods + 1) * 240.0);
    count_exposure(learned, 10, -day, epoch);
    CHECK(failure_rate(learned, {1500 * day, day, 1}).host_hours == (most_periods + 1) * 240.0);
}

TEST_CASE("repairs: the mean of what was seen, what is under way and what was believed") {
    Learned learned;
    const Prior prior{1500 * day, 3 * day, 1};
    CHECK(repair_time(learned, prior, {}).mean == 3 * day);
    add_sample(learned.repairs, 1h);
    add_sample(learned.repairs, -1h);
    REQUIRE(learned.repairs.size() == 1);
    CHECK(repair_time(learned, prior, {}).mean == (3 * day + 1h) / 2);
    const auto with = repair_time(learned, prior, {11h, 12h});
    CHECK(with.mean == (3 * day + 24h) / 2); // no repair that is over has become more
    CHECK(with.ongoing == 2);
    CHECK(with.seen.count == 1);
    // A host that was given up a year ago counts as a month.
    CHECK(repair_time(learned, prior, {365 * day}).mean == (33 * day + 1h) / 2);
    for (int i = 0; i < 300; ++i)
        add_sample(learned.repairs, 2h);
    CHECK(learned.repairs.size() == most_samples);
    CHECK(repair_time(learned, prior, {}).seen.mean == 2h);
}

TEST_CASE("a summary has the mean, and the median and ninth tenth as they were seen") {
    CHECK(summary_of({}).count == 0);
    const auto one = summary_of({5s});
    CHECK(one.mean == 5s);
    CHECK(one.median == 5s);
    CHECK(one.p90 == 5s);
    const auto ten = summary_of({10s, 1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s});
    CHECK(ten.mean == 5500ms);
    CHECK(ten.median == 5s);
    CHECK(ten.p90 == 9s);
}
