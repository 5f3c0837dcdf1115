#include "restart/ctl/follow.hpp"

#include <catch2/catch.hpp>

#include <string>

using restart::added_since;
using restart::TimelineEntry;

namespace {

// An entry for each letter.
std::vector<TimelineEntry> entries(const std::string& letters) {
    std::vector<TimelineEntry> list;
    for (const char letter : letters)
        list.push_back(
            {base::Time(std::chrono::seconds(1)), "signal", {}, {}, {}, {}, std::string(1, letter)});
    return list;
}

} // namespace

TEST_CASE("of a later history only what was added is printed, whatever the window shows of the past") {
    CHECK(added_since(entries("abc"), entries("abc")) == entries(""));
    CHECK(added_since(entries("abc"), entries("abcd")) == entries("d"));
    CHECK(added_since(entries("abc"), entries("bcde")) == entries("de"));
    CHECK(added_since(entries("c"), entries("abcd")) == entries("d")); // a wider window
    CHECK(added_since(entries("abcd"), entries("cde")) == entries("e"));
    CHECK(added_since(entries(""), entries("ab")) == entries("ab"));
    CHECK(added_since(entries("aaa"), entries("aaaa")) == entries("")); // alike to the last word: one says it
}

TEST_CASE("histories that do not meet are not taken for what follows") {
    CHECK_FALSE(added_since(entries("abc"), entries("xyz")));
    CHECK_FALSE(added_since(entries("abc"), entries("")));
}
