#include "sched/ask/hints.hpp"

#include <catch2/catch.hpp>

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
          "--rail-span=rack: must be domain, unit, pod or fabric, or one of these with @WAIT");
    CHECK(refused("rail-span", "") ==
          "--rail-span=: must be domain, unit, pod or fabric, or one of these with @WAIT");
    CHECK(refused("rail-span", "any") ==
          "--rail-span=any: must be domain, unit, pod or fabric, or one of these with @WAIT");
    CHECK(refused("restart", "Auto") == "--restart=Auto: must be auto or never");
    CHECK(refused("ckpt-kind", "torch") ==
          "--ckpt-kind=torch: must be auto, railckpt, megatron, deepspeed, dcp, "
          "nemo, lightning, orbax or glob:PATTERN");
    CHECK(refused("ckpt-signal", "KILL@ranks") ==
          "--ckpt-signal=KILL@ranks: must be none, file:PATH, or a signal (TERM, USR1, USR2, INT, HUP, QUIT) "
          "with @ranks, @script or @ and the number of a process, such as USR1@ranks");
    CHECK(refused("ckpt-dir", "run7") == "--ckpt-dir=run7: must be an absolute path");
    CHECK(refused("ckpt-dir", "") == "--ckpt-dir=: must be an absolute path");
    CHECK(refused("ckpt-dir", "/a\nb") == "--ckpt-dir=/a?b: must not contain control characters");
    CHECK(refused("ckpt-dir", "/" + std::string(4095, 'x'))
              .ends_with("must be at most 4095 bytes long, has 4096"));
    CHECK(refused("rail-spam", "x") == "--rail-spam=x: no such flag; there are rail-span, rail-segment, "
                                       "rail-spares, rail-order, restart, restart-max, restart-on, ckpt-dir, "
                                       "ckpt-kind, ckpt-signal, rail-keep");
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
    const auto span_after = [](const Hints& given, base::Duration waited) {
        Request request;
        request.span = Span::fabric; // what stood there counts no longer
        apply_hints(given, waited, request);
        return request.span;
    };
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
}

TEST_CASE("nested segments are sizes of which each divides the next") {
    Hints hints;
    CHECK(set_hint(hints, "rail-segment", "2:8:32"));
    CHECK(hints.segment == 2);
    CHECK(hints.outer_segments == std::vector<std::uint32_t>{8, 32});
    CHECK(segments_text(hints) == "2:8:32");
    Request request;
    apply_hints(hints, {}, request);
    CHECK(request.segment == 2);
    CHECK(request.outer_segments == hints.outer_segments);
    CHECK(set_hint(hints, "rail-segment", "4")); // a later one counts alone
    CHECK(hints == Hints{.segment = 4});
    const auto refused = [&](std::string_view value) {
        return set_hint(hints, "rail-segment", value).error().text;
    };
    for (const auto* value : {"2:7", "8:2", "2:2"})
        CHECK_THAT(refused(value), Catch::EndsWith("each size must be a multiple of the one before"));
    CHECK(refused("2:7") ==
          "--rail-segment=2:7: groups of 7 are not made of whole groups of 2: each size must be "
          "a multiple of the one before");
    for (const auto* value : {"2:", ":2", "2::4", "2:x", "0:2"})
        CHECK_THAT(refused(value), Catch::EndsWith("with colons between them, such as 2:8:32"));
    CHECK(refused("1:2:4:8:16") == "--rail-segment=1:2:4:8:16: at most 4 sizes");
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
    CHECK(set_hint(hints, "rail-keep", "always").error().text == "--rail-keep=always: must be yes or no");
    CHECK_FALSE(hints.keep);
    CHECK(set_hint(hints, "rail-keep", "no"));
    CHECK(hints.keep == false);
    CHECK(set_hint(hints, "rail-order", "star").error().text ==
          "--rail-order=star: must be ring, tree or none");
}

TEST_CASE("each flag has its variable") {
    for (const auto flag : hint_flags())
        CHECK_FALSE(hint_variable(flag).empty());
    CHECK(hint_variable("rail-span") == "RAIL_SPAN");
    CHECK(hint_variable("restart") == "RAIL_RESTART");
    CHECK(hint_variable("ckpt-dir") == "RAIL_CKPT_DIR");
    CHECK(hint_variable("ckpt-kind") == "RAIL_CKPT_KIND");
    CHECK(hint_variable("ckpt-signal") == "RAIL_CKPT_SIGNAL");
    CHECK(hint_variable("other").empty());
}

TEST_CASE("hints: a request takes from them what they say and keeps the rest") {
    using namespace std::chrono_literals;
    Request request;
    request.nodes = 8;
    request.most = 12;
    request.required = {3};
    request.spare_floor = 2;
    const Hints hints{
        .span = Span::unit, .span_wait = 90s, .segment = 3, .spares = 2, .order = RankOrder::tree};
    request.had = {4, 5};
    CHECK(apply_hints(hints, 30s, request) == 60s);
    CHECK(request.had == std::vector<std::uint32_t>{4, 5});
    CHECK_FALSE(apply_hints({.keep = false}, 30s, request));
    CHECK(request.had.empty());
    CHECK(apply_hints(hints, 30s, request) == 60s);
    CHECK(request.span == Span::unit);
    CHECK(request.segment == 3);
    CHECK(request.spares == 2);
    CHECK(request.order == RankOrder::tree);
    CHECK_FALSE(apply_hints(hints, 90s, request)); // it has ended
    CHECK(request.span == Span::any);
    CHECK_FALSE(apply_hints({.span = Span::pod}, 1000h, request)); // hard: no wish
    CHECK(request.span == Span::pod);
    CHECK(request.segment == 0);
    CHECK(request.spares == 0);
    CHECK(request.order == RankOrder::ring);
    CHECK(request.nodes == 8);
    CHECK(request.most == 12);
    CHECK(request.required == std::vector<std::uint32_t>{3});
    CHECK(request.spare_floor == 2);
}

TEST_CASE("which failures start a job again is a list of exit statuses") {
    const auto kept = [](std::string_view text) {
        const auto on = parse_restart_on(text);
        return on ? to_string(*on) : "refused: " + on.error().text;
    };
    CHECK(kept("host") == "host");
    CHECK(kept("any") == "any");
    CHECK(kept("1,40-50,137") == "1,40-50,137");
    CHECK(kept("7,3-3") == "3,7");
    CHECK(kept("90-99") == "90-99");
    CHECK(kept("93") == "refused: 93 says that the job is not to be started again");
    for (const auto* text :
         {"", "0", "256", "1,", ",1", "5-3", "a", "-1", "1-", "1 2", "Any", "1;2", "99999999999999999999"})
        CHECK(kept(text) == "refused: must be host, any, or exit statuses from 1 to 255 such as 1,40-50");
    CHECK(kept([] {
              std::string many = "1";
              for (int i = 0; i < 40; ++i)
                  many += ",1";
              return many;
          }())
              .starts_with("refused"));
    const auto on = *parse_restart_on("2,90-99");
    CHECK(on.matches(2));
    CHECK(on.matches(99));
    CHECK_FALSE(on.matches(3));
    CHECK_FALSE(on.matches(no_restart_code));
    CHECK_FALSE(parse_restart_on("any")->matches(0));
    Hints hints;
    CHECK(set_hint(hints, "restart-max", "5"));
    CHECK(hints.restart_max == 5);
    for (const auto* bad : {"0", "1001", "-1", "x", ""})
        CHECK(set_hint(hints, "restart-max", bad)
                  .error()
                  .text.ends_with("must be a whole number from 1 to 1000"));
    CHECK(set_hint(hints, "restart-on", "no").error().text.starts_with("--restart-on=no: must be host, any"));
    CHECK(hints == Hints{.restart_max = 5});
}
