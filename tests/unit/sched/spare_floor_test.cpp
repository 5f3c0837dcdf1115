#include "sched/ask/spare_floor.hpp"

#include <catch2/catch.hpp>

using namespace sched;
using namespace std::chrono_literals;

TEST_CASE("spare floor: what failures and repairs ask for, not a share of the hosts") {
    const auto day = 24h;
    // 2 % of the nodes a month and three days of repair: a mean of 0.256 in repair among 128.
    CHECK(spares_for(128, 1500 * day, 3 * day, 0.001) == 3);
    // 6.50 failures in 1000 node-days (Meta's RSC-1).
    CHECK(spares_for(128, 1000 * day * 100 / 650, 3 * day, 0.001) == 9);
    CHECK(spares_for(16384, 1500 * day, 3 * day, 0.001) < 60); // the mean is 33
    CHECK(spares_for(16384, 1500 * day, 3 * day, 0.001) > 45);
    CHECK(spares_for(128, 1500 * day, 3 * day, 0.5) == 0);
    CHECK(spares_for(4, 1h, 100 * day, 0.001) == 2); // never more than half
    CHECK(spares_for(1, 1h, 100 * day, 0.001) == 0);
    CHECK(spares_for(128, 1500 * day, 3 * day, 0) == 0);
    CHECK(spares_for(128, 0h, 3 * day, 0.1) == 0);
    CHECK(spares_for(0, day, day, 0.1) == 0);
}
