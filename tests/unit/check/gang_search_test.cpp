#include "check/gang_search.hpp"
#include "check/thread_gang.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace check;

TEST_CASE("a sound gang costs one run") {
    ThreadGang gang(16);
    const auto verdict = gang.search();
    CHECK(verdict.slow.empty());
    CHECK(verdict.runs == 1);
    CHECK(gang.runs == 1);
}

TEST_CASE("one slow rail of one host is found in a logarithm of runs") {
    for (const std::size_t n : {2U, 3U, 8U, 33U, 64U})
        for (const std::size_t slow : {std::size_t{0}, n / 2, n - 1}) {
            ThreadGang gang(n);
            gang.slow(slow, 2, 60);
            const auto verdict = gang.search();
            CAPTURE(n, slow);
            if (n == 2) {
                CHECK(verdict.all); // nobody else is there to tell which
                continue;
            }
            CHECK(verdict.slow == std::vector{slow});
            CHECK(verdict.rails_of.at(slow) == std::vector{2});
            CHECK(verdict.runs <= 2 * std::ceil(std::log2(n)) + 4 + ThreadGang::rails);
        }
}

TEST_CASE("a rail that is slow for all is the rail's fault, and nobody's") {
    ThreadGang gang(8);
    for (std::size_t i = 0; i < 8; ++i)
        gang.slow(i, 1, 50);
    const auto verdict = gang.search();
    CHECK(verdict.slow.empty());
    CHECK(verdict.all);
    CHECK(verdict.rails == std::vector{1});
}

TEST_CASE("a host that never answers is found as a slow one is") {
    ThreadGang gang(16);
    gang.dead = 11;
    const auto verdict = gang.search();
    CHECK(verdict.slow == std::vector<std::size_t>{11});
    CHECK(verdict.rails_of.empty());
    CHECK(verdict.error == "no answer");
}

TEST_CASE("a host that spoils sums is found as a slow one is") {
    ThreadGang gang(16);
    gang.spoils = 3;
    const auto verdict = gang.search();
    CHECK(verdict.slow == std::vector<std::size_t>{3});
    CHECK(verdict.error == "a sum is wrong");
}

TEST_CASE("every set of slow members is found while two are sound") {
    for (std::size_t n = 3; n <= 8; ++n)
        for (unsigned set = 0; set < 1U << n; ++set) {
            std::vector<std::size_t> slow;
            for (std::size_t i = 0; i < n; ++i)
                if ((set >> i & 1) != 0) slow.push_back(i);
            const auto verdict = find_slow({n, 0, 1, 1}, [&](const GangRun& asked) {
                REQUIRE(asked.members.size() >= 2);
                REQUIRE(std::is_sorted(asked.members.begin(), asked.members.end()));
                for (const auto one : asked.members)
                    if ((set >> one & 1) != 0) return base::Expected<double>(0.5);
                return base::Expected<double>(1.0);
            });
            CAPTURE(n, set);
            if (slow.size() + 2 <= n)
                CHECK(verdict.slow == slow);
            else
                CHECK(verdict.all);
        }
}

TEST_CASE("slow all together, and nobody alone") {
    // As a switch that cannot carry all at once.
    const auto verdict = find_slow({16, 0, 1, 1}, [&](const GangRun& asked) {
        return base::Expected<double>(asked.members.size() > 8 ? 0.5 : 1.0);
    });
    CHECK(verdict.slow.empty());
    CHECK(verdict.together);
}

TEST_CASE("a member that is slow once is not named") {
    int beside = 0;
    const auto verdict = find_slow({4, 0, 1, 1}, [&](const GangRun& run) -> base::Expected<double> {
        if (run.members.size() == 4) return 0.5;
        const bool loaded = run.members == std::vector<std::size_t>{0, 3} && ++beside == 1;
        return loaded ? 0.5 : 1;
    });
    CHECK(beside == 2);
    CHECK(verdict.slow.empty());
    CHECK(verdict.together);
}

TEST_CASE("a load that comes and goes names nobody") {
    for (int burst = 1; burst < 12; ++burst) {
        int runs = 0;
        const auto verdict = find_slow({8, 2, 1, 1}, [&](const GangRun&) {
            return base::Expected<double>(++runs <= burst ? 0.5 : 1.0);
        });
        INFO("the first " << burst << " runs are slow");
        CHECK(verdict.slow.empty());
        CHECK(verdict.rails.empty());
        CHECK_FALSE(verdict.together);
        CHECK_FALSE(verdict.all);
    }
}
