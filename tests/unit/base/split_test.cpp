#include "base/split.hpp"

#include <catch2/catch.hpp>

using base::next_line;
using base::next_part;
using base::next_word;

TEST_CASE("parts are taken off the front of a text, and what follows is left") {
    std::string_view text = "a=b==";
    CHECK(next_part(text, '=') == "a");
    CHECK(next_part(text, '=') == "b");
    CHECK(text == "=");
    CHECK(next_part(text, '=').empty());
    CHECK(text.empty());
    CHECK(next_part(text, '=').empty());
}

TEST_CASE("lines end at a newline or at the end of the text") {
    std::string_view text = "one\n\ntwo";
    CHECK(next_line(text) == "one");
    CHECK(next_line(text).empty());
    CHECK(next_line(text) == "two");
    CHECK(text.empty());
}

TEST_CASE("words are between blanks, however many") {
    std::string_view line = "  one\t two\r";
    CHECK(next_word(line) == "one");
    CHECK(next_word(line) == "two");
    CHECK(next_word(line).empty());
    CHECK(line.empty());
}
