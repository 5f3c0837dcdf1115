#include "restart/rm/looked_up.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace std::chrono_literals;

TEST_CASE("a user whom the directory service did not know is looked up again, one whom it knew is not") {
    restart::LookedUp<std::string, int> uids;
    const std::chrono::steady_clock::time_point start{1h};
    std::optional<int> served;
    int asked = 0;
    const auto uid = [&](std::chrono::seconds later) {
        return uids.of("alice", start + later, [&](const std::string& name) {
            CHECK(name == "alice");
            ++asked;
            return served;
        });
    };
    CHECK_FALSE(uid(0s)); // the service is away
    served = 1001;
    CHECK_FALSE(uid(59s));
    CHECK(asked == 1);
    CHECK(uid(60s) == 1001);
    served.reset();
    CHECK(uid(1h) == 1001);
    CHECK(asked == 2);
}
