#include "sched/hints.hpp"
#include "sched/why_comment.hpp"

#include <catch2/catch.hpp>

using sched::why_in;
using sched::with_why;

TEST_CASE("why a job waits stands in a part of its comment and leaves the others alone") {
    for (const std::string before :
         {"", "ticket 7", "railyard: span=unit@2h", "ticket 7;  odd  spacing ;railyard: span=pod",
          "railyard: span=unit; restart by alice", "{\"a\":1}", "a;", "railyard-whynot: x"}) {
        INFO(before);
        const auto once = with_why(before, "needs 24 nodes; the fullest, su3, has 19 free");
        CHECK(why_in(once) == "needs 24 nodes, the fullest, su3, has 19 free");
        CHECK(once.starts_with(before));
        CHECK(with_why(once, "") == before);
        const auto twice = with_why(once, "job 812 ends at 14:20");
        CHECK(why_in(twice) == "job 812 ends at 14:20");
        CHECK(with_why(twice, "") == before);
        CHECK(why_in(before).empty());
        CHECK(with_why(before, "") == before);
        const auto hints = sched::parse_comment(before), still = sched::parse_comment(once);
        REQUIRE(hints);
        REQUIRE(still);
        CHECK(*hints == *still);
    }
}

TEST_CASE("the part may stand first or amid others") {
    CHECK(with_why("railyard-why: a; ticket 7", "") == "ticket 7");
    CHECK(with_why("x; railyard-why: a; ticket 7", "") == "x; ticket 7");
    CHECK(with_why("x; railyard-why: a; ticket 7", "b") == "x; railyard-why: b; ticket 7");
    CHECK(with_why("railyard-why: a; ticket 7", "b") == "railyard-why: b; ticket 7");
    // Submission's own part is written behind it and parsed all the same.
    sched::Hints hints;
    hints.span = sched::Span::unit;
    CHECK(sched::merge_comment("railyard-why: a", hints) == "railyard-why: a; railyard: span=unit");
}

TEST_CASE("a text is one line and bounded") {
    CHECK(why_in(with_why("", "a\nb")) == "a b");
    CHECK(why_in(with_why("", std::string(400, 'x'))) == std::string(400, 'x'));
    CHECK(why_in(with_why("", std::string(401, 'x'))) == std::string(400, 'x') + "...");
    CHECK(why_in(with_why("", std::string(399, 'x') + "\u00e9")) == std::string(399, 'x') + "...");
}
