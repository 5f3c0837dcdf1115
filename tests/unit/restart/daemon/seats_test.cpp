#include "restart/daemon/seats.hpp"

#include <catch2/catch.hpp>

using restart::Seats;

TEST_CASE("a user has a share of the seats, and all together have no more than there are") {
    Seats seats(3, 2);
    auto first = seats.take("alice"), second = seats.take("alice");
    REQUIRE(first);
    REQUIRE(second);
    CHECK_FALSE(seats.take("alice"));
    auto third = seats.take("bob");
    REQUIRE(third);
    CHECK_FALSE(seats.take("carol"));
    first.reset();
    {
        const auto carol = seats.take("carol");
        REQUIRE(carol);
        CHECK_FALSE(seats.take("alice"));
    }
    CHECK(seats.take("alice"));
    CHECK(seats.take("alice")); // those before have ended at once
}
