#include "base/bounds.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using base::Bounds;
using namespace std::chrono_literals;

TEST_CASE("bounds are printed for the manual and name themselves in refusals") {
    const Bounds between{.least = "100ms", .most = "1m"};
    CHECK(between.print() == "from 100ms to 1m");
    CHECK(between.reject(99ms) == "99ms is not between 100ms and 1m");
    CHECK(between.reject(60'001ms) == "60001ms is not between 100ms and 1m");
    CHECK_FALSE(between.reject(100ms));
    CHECK_FALSE(between.reject(1min));

    const Bounds above{.least = "2"}, below{.most = "254"};
    CHECK(above.print() == "at least 2");
    CHECK(above.reject(std::uint64_t{1}) == "1 is below 2");
    CHECK_FALSE(above.reject(UINT64_MAX));
    CHECK(below.print() == "at most 254");
    CHECK(below.reject(std::uint64_t{255}) == "255 is above 254");
    CHECK_FALSE(below.reject(std::uint64_t{0}));

    const Bounds share{.least = "0", .most = "1"};
    CHECK(share.reject(std::nan("")) == "nan is not between 0 and 1");
    CHECK(share.reject(-0.5) == "-0.5 is not between 0 and 1");
    CHECK_FALSE(share.reject(1.0));

    CHECK(Bounds{.not_below = "least"}.print() == "not below least");
    CHECK(Bounds{}.print().empty());
    CHECK_FALSE(Bounds{}.reject(std::string()));
}

TEST_CASE("words are whole words, and forms are those that are read later") {
    const Bounds words{.words = "one, two, three"};
    CHECK(words.print() == "only one, two, three");
    for (const char* word : {"one", "two", "three"})
        CHECK_FALSE(words.reject(std::string(word)));
    for (const char* word : {"", "on", "ne", "one, two", ", ", "four"})
        CHECK(words.reject(std::string(word)));
    CHECK(Bounds{.form = Bounds::Form::filled}.reject(std::string()) == "must not be empty");
    CHECK_FALSE(Bounds{.form = Bounds::Form::listen}.reject(std::string("[::]:8917")));
    CHECK(Bounds{.form = Bounds::Form::listen}.reject(std::string("[::]")));
    CHECK_FALSE(Bounds{.form = Bounds::Form::url}.reject(std::string("http://head:8917/")));
    CHECK(Bounds{.form = Bounds::Form::url}.reject(std::string("head:8917")));
}
