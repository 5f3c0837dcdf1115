#include "base/json_time.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a moment in JSON is text, or a number of seconds as it was before, and an error names its place") {
    const auto document = base::parse_json(
        R"({"text":"2026-03-01T13:20:05.123Z","number":1772371205.123,"wrong":"soon","list":[]})");
    REQUIRE(document);
    const base::Reader from(*document, "placement");
    const base::Time moment(std::chrono::milliseconds(1'772'371'205'123));
    for (const char* key : {"text", "number"}) {
        const auto read = base::read_time(from, key);
        REQUIRE(read);
        CHECK(*read == moment);
    }
    for (const char* key : {"wrong", "list", "missing"}) {
        const auto read = base::read_time(from, key);
        REQUIRE_FALSE(read);
        CHECK(read.error().text.find(std::string("placement")) != std::string::npos);
    }
}
