#include "base/host_group.hpp"

#include "base/conf.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a group is a name and its hosts") {
    const auto group = base::parse_group("r7=n[001-002],login");
    REQUIRE(group);
    CHECK(group->name == "r7");
    CHECK(group->hosts == std::vector<std::string>{"n001", "n002", "login"});
}

TEST_CASE("what is no group is refused with what is wrong") {
    CHECK(base::parse_group("n001").error().text ==
          "\"n001\": a group is written as name=hosts, such as r7=n[001-032]");
    CHECK_FALSE(base::parse_group("=n001"));
    CHECK_FALSE(base::parse_group("a b=n001"));
    CHECK(base::parse_group("r7=").error().text == "\"r7=\": the group has no host");
    CHECK_THAT(base::parse_group("r7=n[1").error().text, Catch::StartsWith("\"r7=n[1\": "));
}

TEST_CASE("a wrong group in the configuration is named with its line") {
    const auto read = base::Conf::from_text("[topology]\ngroups = [\"r1=n1\",\n\"r2\"]\n", "railyard.conf");
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().text, Catch::StartsWith("railyard.conf:3: topology.groups: \"r2\""));
}
