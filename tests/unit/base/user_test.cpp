#include "base/user.hpp"

#include <catch2/catch.hpp>

TEST_CASE("users are found by name and by number") {
    CHECK(base::user_name(0) == "root");
    CHECK(*base::find_uid("root") == 0);
    CHECK(*base::find_uid("4711") == 4711);
    REQUIRE(base::find_user(0));
    CHECK(base::find_user(0)->group == 0);
    const auto unknown = base::find_uid("no-such-user");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().text.find("no-such-user") != std::string::npos);
    CHECK_FALSE(base::find_uid("4294967295")); // stands for no user at all
    CHECK_FALSE(base::find_uid(""));
    CHECK(base::user_name(3999999999) == "3999999999");
}
