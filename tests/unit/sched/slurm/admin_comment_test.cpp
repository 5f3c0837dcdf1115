#include "sched/slurm/admin_comment.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace sched;

TEST_CASE("a comment is written in one form and keeps an administrator's text") {
    const Hints hints{.span = Span::unit, .restart = true, .ckpt_dir = "/scratch/run7"};
    CHECK(merge_comment("", hints) == "railyard: span=unit restart=auto ckpt-dir=/scratch/run7");
    CHECK(merge_comment("ticket 7", hints) ==
          "ticket 7; railyard: span=unit restart=auto ckpt-dir=/scratch/run7");
    CHECK(merge_comment("ticket 7; railyard: span=pod; by kim", Hints{.restart = false}) ==
          "ticket 7; by kim; railyard: restart=never");
    CHECK(merge_comment("railyard: span=pod", {}).empty());
    CHECK(merge_comment("ticket 7; railyard: span=pod", {}) == "ticket 7");
    CHECK(merge_comment("", {.span = Span::unit,
                             .span_wait = std::chrono::minutes(90),
                             .segment = 4,
                             .spares = 1,
                             .order = RankOrder::tree,
                             .keep = false}) ==
          "railyard: span=unit@90m segment=4 spares=1 order=tree keep=no");
    CHECK(merge_comment("", {.ckpt_dir = "/a b;c%\xc3\xa9"}) == "railyard: ckpt-dir=/a%20b%3Bc%25%C3%A9");
    const Hints kept{.ckpt_dir = "/a", .ckpt_kind = "glob:step *;%.pt", .ckpt_signal = "file:/a/save now"};
    CHECK(merge_comment("", kept) == "railyard: ckpt-dir=/a ckpt-kind=glob:step%20*%3B%25.pt "
                                     "ckpt-signal=file:/a/save%20now");
    CHECK(*parse_comment(merge_comment("", kept)) == kept);
}

TEST_CASE("a comment without our part has no hints; unknown keys are passed over") {
    CHECK(parse_comment("")->empty());
    CHECK(parse_comment("see railyard: span=unit")->empty());
    CHECK(*parse_comment("x;railyard: new=1 span=unit later") == Hints{.span = Span::unit});
    CHECK(*parse_comment("railyard: span=unit; railyard: span=pod") == Hints{.span = Span::pod});
    CHECK(parse_comment("railyard: rail-span=unit")->empty()); // a flag's name is no key
}

TEST_CASE("a broken comment names the key") {
    for (const auto* text : {"railyard: ckpt-dir=/a%2", "railyard: ckpt-dir=/a%zz",
                             "railyard: ckpt-dir=/a%00", "railyard: ckpt-dir=a", "railyard: ckpt-dir="}) {
        INFO(text);
        const auto hints = parse_comment(text);
        REQUIRE_FALSE(hints);
        CHECK(hints.error().code == base::Code::input);
        CHECK(hints.error().text.starts_with("railyard comment: ckpt-dir: "));
    }
    CHECK(parse_comment("railyard: span=rack").error().text ==
          "railyard comment: span: --rail-span=rack: must be domain, unit, pod or fabric, or one of these "
          "with @WAIT");
    CHECK_FALSE(parse_comment("railyard: restart=yes"));
}

TEST_CASE("hints come back from their comment") {
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        Hints hints;
        if (random() % 2) hints.span = static_cast<Span>(1 + random() % 3);
        if (hints.span && random() % 2) hints.span_wait = std::chrono::seconds(1 + random() % 1000000);
        if (random() % 2) hints.segment = 1 + random() % 64;
        if (random() % 2) hints.spares = random() % 64;
        if (random() % 2) hints.order = static_cast<RankOrder>(random() % 3);
        if (random() % 2) hints.keep = random() % 2 == 0;
        if (random() % 2) hints.restart = random() % 2 == 0;
        if (random() % 2) {
            std::string path = "/";
            for (auto i = random() % 20; i > 0; --i)
                path += static_cast<char>(0x20 + random() % 0x5f);
            if (random() % 3 == 0) path += "\xc3\xbc\xff";
            hints.ckpt_dir = path;
        }
        const auto comment = merge_comment(random() % 2 ? "an admin's; text" : "", hints);
        INFO(comment);
        const auto read = parse_comment(comment);
        REQUIRE(read);
        CHECK(*read == hints);
        CHECK(merge_comment(comment, *read) == comment);
    }
}

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

TEST_CASE("the hosts of a start count for the next one only, and every other byte stays") {
    using Names = std::vector<std::string>;
    const auto comment = with_had("ticket 7; railyard: restart=auto", 2, {"n1", "n2", "n4"});
    CHECK(comment == "ticket 7; railyard: restart=auto; railyard-had: start=2 n[1-2,4]");
    CHECK(had_in(comment, 3) == Names{"n1", "n2", "n4"});
    CHECK(had_in(comment, 2).empty());
    CHECK(had_in(comment, 4).empty());
    CHECK(had_in(comment, 0).empty());
    CHECK(parse_comment(comment)->restart == true);
    CHECK(with_had(comment, 3, {"n9"}) == "ticket 7; railyard: restart=auto; railyard-had: start=3 n9");
    CHECK(with_had(comment, 3, {}) == "ticket 7; railyard: restart=auto");
    for (const auto* broken :
         {"railyard-had:", "railyard-had: n1", "railyard-had: start=x n1",
          "railyard-had: start=4294967296 n1", "railyard-had: start=0 n[1", "railyard-had: start=0"})
        CHECK(had_in(broken, 1).empty());
    Names many;
    for (int i = 0; i < 2000; i += 2)
        many.push_back("rack" + std::to_string(i));
    CHECK(with_had(comment, 3, many) == "ticket 7; railyard: restart=auto"); // never a part of the list
}
