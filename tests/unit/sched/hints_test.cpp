#include "sched/hints.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace sched;

TEST_CASE("flags are taken as sbatch documents them") {
    Hints hints;
    CHECK(set_hint(hints, "rail-span", "pod"));
    CHECK(set_hint(hints, "restart", "auto"));
    CHECK(set_hint(hints, "ckpt-dir", "/scratch/run7"));
    CHECK(hints == Hints{.span = Span::pod, .restart = true, .ckpt_dir = "/scratch/run7"});
    CHECK(set_hint(hints, "restart", "never"));
    CHECK(hints.restart == false);
}

TEST_CASE("a bad flag names flag, value and what is allowed, and changes nothing") {
    const auto refused = [](std::string_view flag, std::string_view value) {
        Hints hints;
        const auto done = set_hint(hints, flag, value);
        REQUIRE_FALSE(done);
        CHECK(done.error().code == base::Code::usage);
        CHECK(hints.empty());
        return done.error().text;
    };
    CHECK(refused("rail-span", "rack") ==
          "--rail-span=rack: must be unit, pod or fabric, or one of these with @WAIT");
    CHECK(refused("rail-span", "") ==
          "--rail-span=: must be unit, pod or fabric, or one of these with @WAIT");
    CHECK(refused("rail-span", "any") ==
          "--rail-span=any: must be unit, pod or fabric, or one of these with @WAIT");
    CHECK(refused("restart", "Auto") == "--restart=Auto: must be auto or never");
    CHECK(refused("ckpt-dir", "run7") == "--ckpt-dir=run7: must be an absolute path");
    CHECK(refused("ckpt-dir", "") == "--ckpt-dir=: must be an absolute path");
    CHECK(refused("ckpt-dir", "/a\nb") == "--ckpt-dir=/a?b: must not contain control characters");
    CHECK(refused("ckpt-dir", "/" + std::string(4095, 'x'))
              .ends_with("must be at most 4095 bytes long, has 4096"));
    CHECK(refused("rail-spam", "x") == "--rail-spam=x: no such flag; there are rail-span, rail-segment, "
                                       "rail-spares, rail-order, restart, ckpt-dir");
    Hints hints;
    CHECK(set_hint(hints, "ckpt-dir", "/" + std::string(4094, 'x')));
}

TEST_CASE("a wish ends after its wait, which is a time as sbatch takes them or has a unit") {
    using namespace std::chrono_literals;
    CHECK(*parse_wait("90") == 90min);
    CHECK(*parse_wait("1:30") == 90s);
    CHECK(*parse_wait("2:00:00") == 2h);
    CHECK(*parse_wait("1-12") == 36h);
    CHECK(*parse_wait("1-0:30") == 24h + 30min);
    CHECK(*parse_wait("90s") == 90s);
    CHECK(*parse_wait("1.5h") == 90min);
    for (const auto* bad :
         {"", "0", "0s", "-1", "1-", "1:2:3:4", "soon", "1d2", "9999d", "99999999999999999999", "-"}) {
        INFO(bad);
        CHECK_FALSE(parse_wait(bad));
    }
    Hints hints;
    REQUIRE(set_hint(hints, "rail-span", "unit@2h"));
    CHECK(span_after(hints, 0s) == Span::unit);
    CHECK(span_after(hints, 2h - 1s) == Span::unit);
    CHECK(span_after(hints, 2h) == Span::any);
    REQUIRE(set_hint(hints, "rail-span", "pod")); // replaces the wish whole
    CHECK(span_after(hints, 1000h) == Span::pod);
    CHECK(span_after({}, 0s) == Span::any);
    const auto bad = set_hint(hints, "rail-span", "unit@soon");
    REQUIRE_FALSE(bad);
    CHECK(bad.error().text.starts_with("--rail-span=unit@soon: soon: a wait is a time"));
    CHECK(hints.span == Span::pod);
    CHECK(
        merge_comment(
            "",
            {.span = Span::unit, .span_wait = 90min, .segment = 4, .spares = 1, .order = RankOrder::tree}) ==
        "railyard: span=unit@90m segment=4 spares=1 order=tree");
}

TEST_CASE("segments and spares are whole numbers of hosts") {
    Hints hints;
    CHECK(set_hint(hints, "rail-segment", "8"));
    CHECK(set_hint(hints, "rail-spares", "0"));
    CHECK(hints == Hints{.segment = 8, .spares = 0});
    CHECK(set_hint(hints, "rail-segment", "0").error().text ==
          "--rail-segment=0: must be a whole number of hosts from 1 to 1000000");
    CHECK(set_hint(hints, "rail-spares", "1.5").error().text ==
          "--rail-spares=1.5: must be a whole number of hosts from 0 to 1000000");
    CHECK(set_hint(hints, "rail-order", "star").error().text ==
          "--rail-order=star: must be ring, tree or none");
}

TEST_CASE("each flag has its variable") {
    for (const auto flag : hint_flags())
        CHECK_FALSE(hint_variable(flag).empty());
    CHECK(hint_variable("rail-span") == "RAIL_SPAN");
    CHECK(hint_variable("restart") == "RAIL_RESTART");
    CHECK(hint_variable("ckpt-dir") == "RAIL_CKPT_DIR");
    CHECK(hint_variable("other").empty());
}

TEST_CASE("a comment is written in one form and keeps an administrator's text") {
    const Hints hints{.span = Span::unit, .restart = true, .ckpt_dir = "/scratch/run7"};
    CHECK(merge_comment("", hints) == "railyard: span=unit restart=auto ckpt-dir=/scratch/run7");
    CHECK(merge_comment("ticket 7", hints) ==
          "ticket 7; railyard: span=unit restart=auto ckpt-dir=/scratch/run7");
    CHECK(merge_comment("ticket 7; railyard: span=pod; by kim", Hints{.restart = false}) ==
          "ticket 7; by kim; railyard: restart=never");
    CHECK(merge_comment("railyard: span=pod", {}).empty());
    CHECK(merge_comment("ticket 7; railyard: span=pod", {}) == "ticket 7");
    CHECK(merge_comment("", {.ckpt_dir = "/a b;c%\xc3\xa9"}) == "railyard: ckpt-dir=/a%20b%3Bc%25%C3%A9");
}

TEST_CASE("a comment without our part has no hints; unknown keys are passed over") {
    CHECK(parse_comment("")->empty());
    CHECK(parse_comment("see railyard: span=unit")->empty());
    CHECK(*parse_comment("x;railyard: new=1 span=unit later") == Hints{.span = Span::unit});
    CHECK(*parse_comment("railyard: span=unit; railyard: span=pod") == Hints{.span = Span::pod});
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
    CHECK(
        parse_comment("railyard: span=rack").error().text ==
        "railyard comment: span: --rail-span=rack: must be unit, pod or fabric, or one of these with @WAIT");
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
