// The judge over signals made by hand: each test of a rule just at its limit and just beyond it, in time.
#include "restart/watch/rules/rule_book.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <optional>

using namespace std::chrono_literals;
using namespace restart;

namespace {

RuleSet rules_of(std::string_view text) {
    auto rules = RuleSet::from_text(text, "health.conf");
    INFO((rules ? std::string() : rules.error().text));
    REQUIRE(rules);
    return *std::move(rules);
}

// Rules of a site beside the program's, a clock, and a signal that the test moves.
struct Desk {
    explicit Desk(std::string_view text) : book(rules_of(text)) {}

    // Looks once; what is found of the rule on the component.
    std::optional<Finding> look(std::string_view rule, std::vector<Signal> signals,
                                std::string_view component = "gpu0") {
        now += 1s;
        book.look(now, signals);
        return find(rule, component);
    }
    std::optional<Finding> find(std::string_view rule, std::string_view component = "gpu0") {
        for (auto& finding : book.findings(now))
            if (finding.rule == rule && finding.component == component) return finding;
        return std::nullopt;
    }
    // Looks once a second with that value, for so long; whether it is found at the end.
    bool holds(std::string_view rule, std::string_view signal, double value, base::Duration time) {
        bool found = false;
        for (const auto end = now + time; now < end;)
            found = look(rule, {{signal, "gpu0", value, 0, {}}}).has_value();
        return found;
    }

    base::Time now{std::chrono::seconds(1'700'000'000)};
    RuleBook book;
};

std::string row(std::string_view fields) {
    return fmt::format("[[rule]]\nname = \"site.rule\"\n{}\n", fields);
}

} // namespace

TEST_CASE("equal: the number itself, and all up to another") {
    Desk desk(row("signal = \"gpu.ecc_corrected\"\ntest = \"equal\"\nvalue = 5\nto = 7"));
    for (const double value : {4.0, 5.0, 7.0, 8.0}) {
        CHECK(desk.look("site.rule", {{"gpu.ecc_corrected", "gpu0", value, 0, {}}}).has_value() ==
              (value >= 5 && value <= 7));
        desk.now += 60s;
        desk.holds("site.rule", "gpu.ecc_corrected", 0, 2s);
    }
}

TEST_CASE("above and below: not at the limit, but beyond it, and until the signal is back at another") {
    Desk desk(row("signal = \"gpu.ecc_corrected\"\ntest = \"above\"\nvalue = 10\nuntil = 4\nclear = \"2s\""));
    CHECK_FALSE(desk.holds("site.rule", "gpu.ecc_corrected", 10, 5s));
    const auto found = desk.look("site.rule", {{"gpu.ecc_corrected", "gpu0", 11, 0, {}}});
    REQUIRE(found);
    CHECK(found->evidence == "ecc_corrected is 11 errors (allowed: 10)");
    CHECK(found->severity == Severity::warn);
    CHECK(desk.holds("site.rule", "gpu.ecc_corrected", 5, 60s)); // below the limit, above until
    CHECK_FALSE(desk.holds("site.rule", "gpu.ecc_corrected", 4, 3s));
    CHECK_FALSE(desk.holds("site.rule", "gpu.ecc_corrected", 5, 5s)); // it is not there any more
    Desk low(row("signal = \"gpu.pcie_width\"\ntest = \"below\"\nvalue = 8\nuntil = 16\nclear = \"2s\""));
    CHECK_FALSE(low.holds("site.rule", "gpu.pcie_width", 8, 5s));
    CHECK(low.holds("site.rule", "gpu.pcie_width", 4, 1s));
    CHECK(low.holds("site.rule", "gpu.pcie_width", 15, 9s));
    CHECK_FALSE(low.holds("site.rule", "gpu.pcie_width", 16, 3s));
}

TEST_CASE("a limit of the signal's own; where it is not known nothing is judged") {
    Desk desk(row("signal = \"ib.rate\"\ntest = \"below\"\nvalue = 0.5\nagainst = \"own\""));
    CHECK_FALSE(desk.look("site.rule", {{"ib.rate", "gpu0", 200, 400, {}}}));
    CHECK_FALSE(desk.look("site.rule", {{"ib.rate", "gpu0", 1, 0, {}}}));
    CHECK(desk.look("site.rule", {{"ib.rate", "gpu0", 199, 400, {}}}));
    // Nor does a limit that is not known any more end what holds.
    CHECK(desk.look("site.rule", {{"ib.rate", "gpu0", 400, 0, {}}}));
}

TEST_CASE("ratio to peers: the median of all, of which there must be three") {
    Desk desk(row("signal = \"gpu.ecc_corrected\"\ntest = \"above\"\nvalue = 3\nagainst = \"peers\""));
    const auto at = [](int gpu, double value) {
        return Signal{"gpu.ecc_corrected", fmt::format("gpu{}", gpu), value, 0, {}};
    };
    CHECK_FALSE(desk.look("site.rule", {at(0, 100), at(1, 1)}));
    CHECK_FALSE(desk.look("site.rule", {at(0, 30), at(1, 10), at(2, 10), at(3, 10)}));
    CHECK(desk.look("site.rule", {at(0, 31), at(1, 10), at(2, 10), at(3, 10)}));
    CHECK_FALSE(desk.find("site.rule", "gpu1"));
}

TEST_CASE("bit: any of the mask, unless beside another") {
    Desk desk(
        row("signal = \"gpu.clock_events\"\ntest = \"bit\"\nvalue = 0x6\nunless = 0x10\nclear = \"1s\""));
    CHECK_FALSE(desk.holds("site.rule", "gpu.clock_events", 0x9, 2s));
    CHECK(desk.holds("site.rule", "gpu.clock_events", 0x3, 1s));
    CHECK_FALSE(desk.holds("site.rule", "gpu.clock_events", 0x13, 3s));
}

TEST_CASE("bit: what is no mask is told as all bits, which a dead device shows") {
    for (const double value : {-1.0, 0x1p64, 1e300}) {
        Desk desk(row("signal = \"gpu.clock_events\"\ntest = \"bit\"\nvalue = 0x6"));
        const auto found = desk.look("site.rule", {{"gpu.clock_events", "gpu0", value, 0, {}}});
        REQUIRE(found);
        CHECK(found->evidence == "clock_events 0xffffffffffffffff");
    }
}

TEST_CASE("delta and rate: growth within the window, never lifetime values") {
    Desk desk(row("signal = \"ib.counter.out_of_sequence\"\ntest = \"rate\"\nvalue = 2\nwindow = \"10s\"\n"
                  "clear = \"1s\""));
    double value = 1e6;
    bool found = false;
    const auto grow = [&](double by, int seconds) {
        for (int i = 0; i < seconds; ++i)
            found = desk.look("site.rule", {{"ib.counter.out_of_sequence", "gpu0", value += by, 0, {}}})
                        .has_value();
        return found;
    };
    CHECK_FALSE(grow(0, 20));
    CHECK_FALSE(grow(2, 30)); // two a second are allowed
    CHECK(grow(3, 10));
    CHECK(desk.find("site.rule")->evidence.find("(allowed: 2 a second)") != std::string::npos);
    CHECK_FALSE(grow(0, 12));
}

TEST_CASE("share of windows: more than so many of the last, whenever within each") {
    Desk desk(
        row("signal = \"gpu.clock_events\"\ntest = \"bit\"\nvalue = 8\nwindow = \"1m\"\nof_windows = 10\n"
            "share = 0.5\nclear = \"1m\""));
    desk.now = base::Time(1'700'000'040s); // a minute begins
    const auto minute = [&](bool there) {
        if (there) desk.holds("site.rule", "gpu.clock_events", 8, 2s);
        return desk.holds("site.rule", "gpu.clock_events", 0, there ? 58s : 60s);
    };
    for (int i = 0; i < 10; ++i)
        CHECK_FALSE(minute(i % 2 == 0)); // five of ten
    for (int i = 0; i < 5; ++i)
        CHECK_FALSE(minute(i < 5 && i % 2 == 0));
    CHECK(minute(true)); // the sixth: 0, 2, 4 of this ten, and those of the last four minutes
    CHECK(desk.find("site.rule")->evidence.find("of the last 10 windows") != std::string::npos);
    for (int i = 0; i < 12; ++i)
        minute(false);
    CHECK_FALSE(desk.find("site.rule"));
}

TEST_CASE("a latch holds until the agent restarts") {
    Desk desk(row("signal = \"gpu.lost\"\nvalue = 1\nclear = \"1s\"\nlatch = true"));
    CHECK(desk.holds("site.rule", "gpu.lost", 1, 1s));
    CHECK(desk.holds("site.rule", "gpu.lost", 0, 1h));
}

TEST_CASE("what comes again and again escalates, and is forgotten") {
    Desk desk(row("signal = \"ib.active\"\nvalue = 0\nclear = \"5s\"\nrepeats = 3\nwithin = \"1h\"\n"
                  "repeated = \"evict\""));
    const auto flap = [&] {
        desk.holds("site.rule", "ib.active", 1, 10s);
        return desk.look("site.rule", {{"ib.active", "gpu0", 0, 0, {}}});
    };
    CHECK(flap()->severity == Severity::warn);
    CHECK(flap()->severity == Severity::warn);
    const auto third = flap();
    CHECK(third->severity == Severity::evict);
    CHECK(third->evidence.find("3 times within") != std::string::npos);
    desk.now += 1h;
    CHECK(flap()->severity == Severity::warn);
}

TEST_CASE("a signal that does not come neither raises nor ends; a component that has gone ends") {
    Desk desk(row("signal = \"ib.active\"\nvalue = 0\nclear = \"3s\""));
    CHECK(desk.look("site.rule", {{"ib.active", "gpu0", 0, 0, {}}}));
    for (int i = 0; i < 60; ++i)
        CHECK(desk.look("site.rule", {}));
    for (int i = 0; i < 4; ++i) {
        desk.look("site.rule", {});
        desk.book.rest_is_gone(desk.now, "ib.");
    }
    CHECK_FALSE(desk.find("site.rule"));
}

TEST_CASE("other rules keep what has been seen, but not of what they look at otherwise") {
    Desk desk(row("signal = \"gpu.lost\"\nvalue = 1\nwindow = \"5s\""));
    desk.holds("site.rule", "gpu.lost", 1, 6s);
    REQUIRE(desk.find("site.rule"));
    const auto since = desk.find("site.rule")->since;
    desk.book.set(rules_of(row("signal = \"gpu.lost\"\nvalue = 1\nwindow = \"9s\"\nseverity = \"fatal\"")),
                  {});
    CHECK(desk.find("site.rule")->severity == Severity::fatal);
    CHECK(desk.find("site.rule")->since == since);
    CHECK(desk.find("gpu.lost")); // of the program
    desk.book.set(rules_of(row("signal = \"gpu.remap_failed\"\nvalue = 1")), {});
    CHECK_FALSE(desk.find("site.rule"));
    desk.book.set(rules_of("[[rule]]\nname = \"gpu.lost\"\non = false\n"), {});
    CHECK(desk.book.findings(desk.now).empty());
}

TEST_CASE("events: a site's row comes first, and one that is off silences its number") {
    Desk desk("[[rule]]\nname = \"site.145\"\nsignal = \"gpu.xid\"\nvalue = 145\ntext = \"*fatal*\"\n"
              "window = \"1h\"\nseverity = \"fatal\"\n"
              "[[rule]]\nname = \"gpu.xid.63\"\non = false\n");
    const auto send = [&](double code, std::string text) {
        desk.now += 10s;
        desk.book.event(desk.now, {"gpu.xid", "gpu0", code, 0, std::move(text)});
    };
    send(145, "RLW recoverable");
    send(63, "");
    CHECK(desk.find("gpu.xid.145")->severity == Severity::warn);
    CHECK_FALSE(desk.find("gpu.xid.63"));
    send(145, "RLW fatal error");
    CHECK(desk.find("gpu.xid.145")->severity == Severity::fatal);
    // Later rules judge it anew.
    desk.book.set({}, {});
    CHECK(desk.find("gpu.xid.145")->severity == Severity::warn);
}

TEST_CASE("the words of an event: any text for a star, one of several for a bar") {
    struct Words {
        std::string_view pattern, text;
        bool fits;
    };
    const std::string many = std::string(120, '*') + "b";
    const Words all[] = {
        {"a", "a", true},           {"a", "ab", false},
        {"a*", "abc", true},        {"*c", "abc", true},
        {"*c", "abcd", false},      {"a*c", "abc", true},
        {"a*c", "ac", true},        {"a*c", "a", false},
        {"a*a", "a", false},        {"*b*", "abc", true},
        {"*ab*ab*", "ab", false},   {"*ab*ab*", "xabyabz", true},
        {"a|b", "b", true},         {"a|b", "a|b", false},
        {"*x*|*y*", "ayb", true},   {"*x*|*y*", "azb", false},
        {"*a*b", "abab", true},     {"*", "", true},
        {"a|", "a", true},          {"*b*c|d", "d", true},
        {many, "aaaaaaaaa", false}, {"*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    for (const auto& words : all) {
        INFO(words.pattern << " of " << words.text);
        RuleBook book(rules_of(fmt::format("[[rule]]\nname = \"site.words\"\nsignal = \"hca.log\"\n"
                                           "text = \"{}\"\nwindow = \"1h\"\n",
                                           words.pattern)));
        const base::Time now{1'700'000'000s};
        book.event(now, {"hca.log", "mlx5_0", 0, 0, std::string(words.text), {}});
        const auto findings = book.findings(now);
        CHECK((findings.size() == 1 && findings[0].rule == "site.words") == words.fits);
    }
}

TEST_CASE("a flood of events stays within what a report can carry") {
    RuleBook book;
    const base::Time now{1'700'000'000s};
    for (int code = 1; code <= 5000; ++code)
        book.event(now, {"gpu.xid", "gpu0", double(code), 0, std::string(600, 'x')});
    const auto findings = book.findings(now);
    CHECK(findings.size() <= 256);
    for (const auto& finding : findings)
        CHECK(finding.evidence.size() <= 512);
}
