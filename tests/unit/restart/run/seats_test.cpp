#include "restart/run/seats.hpp"

#include <catch2/catch.hpp>

using namespace restart::run;

TEST_CASE("a spare takes the place of each host that is left; all other ranks stay") {
    const Seats seats{{"n1", "n2", "n3", "n4"}, {"n5", "n6"}};
    CHECK(*without(seats, {"n3"}) == Seats{{"n1", "n2", "n5", "n4"}, {"n6"}});
    CHECK(*without(seats, {"n1", "n4"}) == Seats{{"n5", "n2", "n3", "n6"}, {}});
    CHECK(*without(seats, {"n5"}) == Seats{{"n1", "n2", "n3", "n4"}, {"n6"}});
    CHECK(*without(seats, {"n2", "n5"}) == Seats{{"n1", "n6", "n3", "n4"}, {}});
    const auto none = without(seats, {"n1", "n2", "n5"});
    REQUIRE_FALSE(none);
    CHECK(none.error().code == base::Code::unfit);
    CHECK_THAT(none.error().text, Catch::Contains("no spare is left") && Catch::Contains("n2"));
}

TEST_CASE("the first seats are the job's lists, where they are about this allocation") {
    const Hosts all{"n1", "n2", "n3", "n4"};
    const Seats given{{"n1", "n4", "n3"}, {"n2"}};
    CHECK(*first_seats(all, given, 1) == given);
    CHECK(*first_seats(all, {}, 1) == Seats{{"n1", "n2", "n3"}, {"n4"}});
    CHECK(*first_seats(all, {}, 9) == Seats{{"n1"}, {"n2", "n3", "n4"}});
    // Another job's, inherited through sbatch.
    CHECK(*first_seats(all, {{"m1", "m2"}, {}}, 0) == Seats{all, {}});
    // A step before this one has cost a host.
    CHECK(*first_seats({"n1", "n2", "n3"}, given, 1) == Seats{{"n1", "n2", "n3"}, {}});
    CHECK_FALSE(first_seats({"n1", "n3"}, given, 1));
    CHECK_FALSE(first_seats({}, {}, 0));
}

TEST_CASE("ranks that are ordered are hosts of the job, each once") {
    const Hosts all{"n1", "n2", "n3", "n4"};
    CHECK(*with_ranks({"n4", "n1"}, all, {"n3"}) == Seats{{"n4", "n1"}, {"n2"}});
    CHECK_FALSE(with_ranks({"n4", "n9"}, all, {}));
    CHECK_FALSE(with_ranks({"n4", "n4"}, all, {}));
}
