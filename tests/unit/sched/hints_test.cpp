#include "sched/hints.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace sched;

TEST_CASE("flags are taken as sbatch documents them") {
    Hints hints;
    CHECK(set_hint(hints, "rail-span", "pod"));
    CHECK(set_hint(hints, "restart", "auto"));
    CHECK(set_hint(hints, "ckpt-dir", "/scratch/run7"));
    CHECK(hints == Hints{Span::pod, true, "/scratch/run7"});
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
    CHECK(refused("rail-span", "rack") == "--rail-span=rack: must be unit, pod or fabric");
    CHECK(refused("rail-span", "") == "--rail-span=: must be unit, pod or fabric");
    CHECK(refused("rail-span", "any") == "--rail-span=any: must be unit, pod or fabric");
    CHECK(refused("restart", "Auto") == "--restart=Auto: must be auto or never");
    CHECK(refused("ckpt-dir", "run7") == "--ckpt-dir=run7: must be an absolute path");
    CHECK(refused("ckpt-dir", "") == "--ckpt-dir=: must be an absolute path");
    CHECK(refused("ckpt-dir", "/a\nb") == "--ckpt-dir=/a?b: must not contain control characters");
    CHECK(refused("ckpt-dir", "/" + std::string(4095, 'x'))
              .ends_with("must be at most 4095 bytes long, has 4096"));
    CHECK(refused("rail-spam", "x") ==
          "--rail-spam=x: no such flag; there are rail-span, restart and ckpt-dir");
    Hints hints;
    CHECK(set_hint(hints, "ckpt-dir", "/" + std::string(4094, 'x')));
}

TEST_CASE("each flag has its variable") {
    CHECK(hint_variable("rail-span") == "RAIL_SPAN");
    CHECK(hint_variable("restart") == "RAIL_RESTART");
    CHECK(hint_variable("ckpt-dir") == "RAIL_CKPT_DIR");
    CHECK(hint_variable("other").empty());
}

TEST_CASE("a comment is written in one form and keeps an administrator's text") {
    const Hints hints{Span::unit, true, "/scratch/run7"};
    CHECK(merge_comment("", hints) == "railyard: span=unit restart=auto ckpt-dir=/scratch/run7");
    CHECK(merge_comment("ticket 7", hints) ==
          "ticket 7; railyard: span=unit restart=auto ckpt-dir=/scratch/run7");
    CHECK(merge_comment("ticket 7; railyard: span=pod; by kim", Hints{{}, false, {}}) ==
          "ticket 7; by kim; railyard: restart=never");
    CHECK(merge_comment("railyard: span=pod", {}).empty());
    CHECK(merge_comment("ticket 7; railyard: span=pod", {}) == "ticket 7");
    CHECK(merge_comment("", {{}, {}, "/a b;c%\xc3\xa9"}) == "railyard: ckpt-dir=/a%20b%3Bc%25%C3%A9");
}

TEST_CASE("a comment without our part has no hints; unknown keys are passed over") {
    CHECK(parse_comment("")->empty());
    CHECK(parse_comment("see railyard: span=unit")->empty());
    CHECK(*parse_comment("x;railyard: new=1 span=unit later") == Hints{Span::unit, {}, {}});
    CHECK(*parse_comment("railyard: span=unit; railyard: span=pod") == Hints{Span::pod, {}, {}});
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
          "railyard comment: span: --rail-span=rack: must be unit, pod or fabric");
    CHECK_FALSE(parse_comment("railyard: restart=yes"));
}

TEST_CASE("hints come back from their comment") {
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        Hints hints;
        if (random() % 2) hints.span = static_cast<Span>(1 + random() % 3);
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
