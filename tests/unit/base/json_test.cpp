#include "base/json.hpp"

#include <catch2/catch.hpp>

TEST_CASE("text that is not JSON is refused with line and column") {
    const auto text_of = [](std::string_view text) {
        const auto value = base::parse_json(text);
        REQUIRE_FALSE(value);
        return value.error().text;
    };
    CHECK_THAT(text_of("{\n  \"a\": x\n}"), Catch::StartsWith("line 2, column"));
    CHECK_THAT(text_of(""), Catch::StartsWith("line 1"));
    CHECK_THAT(text_of("{} {}"), Catch::Contains("extra data"));
    CHECK_THAT(text_of(std::string(100, '[')), Catch::Contains("depth") || Catch::Contains("deep"));
    CHECK(base::parse_json(" [1] \n"));
}

TEST_CASE("a reader names the place of what is wrong") {
    const auto value =
        *base::parse_json(R"({"hosts":[{"name":"a"},{"name":7}],"n":3.5,"big":1e300,"no":null})");
    const base::Reader reader(value);
    const auto hosts = *reader.at("hosts")->items();
    CHECK(*hosts[0].text("name") == "a");
    CHECK(hosts[1].text("name").error().text == "hosts[1].name: a string is wanted, not a number");
    CHECK(reader.text("x").error().text == "x: is missing");
    CHECK(reader.integer("n").error().text == "n: a whole number is wanted, not a number");
    CHECK(*reader.number("n") == 3.5);
    CHECK_FALSE(reader.integer("big"));
    CHECK_FALSE(reader.has("no"));
    CHECK(hosts[1].integer_in("name", 0, 5).error().text == "hosts[1].name: 7 is not between 0 and 5");
}

TEST_CASE("pretty text reads back") {
    const auto value = *base::parse_json(R"({"a":[1,2],"b":[{"c":"d\n"}],"e":{},"f":[]})");
    CHECK(*base::parse_json(base::to_pretty(value)) == value);
    CHECK_THAT(base::to_pretty(value), Catch::Contains("\"a\": [1,2]"));
}
