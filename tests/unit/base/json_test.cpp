#include "base/json.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

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

TEST_CASE("numbers are read back as they were written") {
    std::mt19937_64 random(7);
    std::size_t wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const auto bits = random();
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        // Times in seconds, shares, and any number there is.
        if (i % 3 == 0) value = 1.7e9 + static_cast<double>(bits % 1'000'000'000'000) / 1e6;
        if (i % 3 == 1) value = static_cast<double>(bits >> 11) / 9007199254740992.0;
        if (!std::isfinite(value)) continue;
        const auto text = base::to_text(boost::json::array{value, 7, {{"key", value}}});
        const auto read = base::parse_json(text);
        REQUIRE(read);
        if (read->at(0).to_number<double>() != value || base::to_text(*read) != text) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(base::parse_json("0.1")->as_double() == 0.1);
    CHECK(base::parse_json("1e400")->is_double());
    CHECK(base::parse_json("-9223372036854775808")->is_int64());
    CHECK(base::parse_json("18446744073709551615")->is_uint64());
    CHECK(base::parse_json("18446744073709551617")->as_double() == 18446744073709551616.0);
    CHECK(base::to_text(*base::parse_json(R"({"a":"é\u20ac\n","b":[true,null,{}],"":-0.0})")) ==
          R"({"a":"é€\n","b":[true,null,{}],"":-0E0})");
    CHECK_FALSE(base::parse_json("1.5e"));
    CHECK_FALSE(base::parse_json("[1,]"));
}
