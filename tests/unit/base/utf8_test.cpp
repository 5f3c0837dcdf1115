#include "base/utf8.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using base::as_utf8;
using base::cut_utf8;
using base::is_utf8;
using base::printable;

TEST_CASE("bytes that belong to no character are found and replaced") {
    for (const std::string good : {"", "fan tray", "L\u00fcfter \u20ac \U0001f525", "\xf4\x8f\xbf\xbf"}) {
        CHECK(is_utf8(good));
        CHECK(as_utf8(good) == good);
    }
    const std::pair<std::string, std::string> bad[] = {
        {"L\xfc" "fter", "L?fter"},        // Latin-1
        {"\xe2\x82", "??"},              // cut off
        {"\xc0\xaf", "??"},              // not the shortest form
        {"\xe0\x80\xaf", "???"},
        {"\xed\xa0\x80", "???"},         // a surrogate
        {"\xf4\x90\x80\x80", "????"},    // beyond the last
        {"\xff|\x80", "?|?"},
    };
    for (const auto& [text, shown] : bad) {
        CHECK_FALSE(is_utf8(text));
        CHECK(as_utf8(text) == shown);
    }
}

TEST_CASE("a text is cut between characters") {
    CHECK(cut_utf8("abc", 3) == "abc");
    CHECK(cut_utf8("abcd", 3) == "abc");
    CHECK(cut_utf8("a\u20acb", 3) == "a");
    CHECK(cut_utf8("a\u20acb", 4) == "a\u20ac");
    CHECK(cut_utf8("\u20ac", 0).empty());
}

TEST_CASE("text from outside is made printable and cut") {
    CHECK(printable("sound ~ text") == "sound ~ text");
    CHECK(printable("\x1b[2J\ta\x7f\xc3\xa4") == "?[2J?a???");
    CHECK(printable("\x1b[2J", 3) == "?[2");
    CHECK(printable("a\nb", 10, ' ') == "a b");
}
