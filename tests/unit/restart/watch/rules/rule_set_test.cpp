// health.conf(5): what a site writes, what is refused and where, and that file, manual and table are one.
#include "restart/watch/rules/rule_set.hpp"

#include "restart/watch/rules/signal.hpp"
#include "restart/watch/rules/table.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace std::chrono_literals;
using namespace restart;

namespace {

std::string refusal(std::string_view text) {
    INFO(text);
    const auto rules = RuleSet::from_text(text, "h");
    REQUIRE_FALSE(rules);
    CHECK(rules.error().code == base::Code::input);
    return rules.error().text;
}

// Of a new row.
std::string refused(const std::string& fields) {
    return refusal("[[rule]]\nname = \"x\"\n" + fields);
}

} // namespace

TEST_CASE("each row of the program is one that a site may write, and no name is twice") {
    std::set<std::string_view> names;
    for (const auto& rule : shipped_rules()) {
        INFO(rule.name);
        CHECK(names.insert(rule.name).second);
        CHECK(find_signal_kind(rule.signal) != nullptr);
        CHECK_FALSE(rule.source.empty());
    }
    const RuleSet rules;
    const auto again = RuleSet::from_text(rules.print(), "printed");
    INFO((again ? std::string() : again.error().text));
    REQUIRE(again);
    CHECK(std::equal(rules.rows().begin(), rules.rows().end(), again->rows().begin(), again->rows().end()));
    CHECK(again->print() == rules.print());
}

TEST_CASE("a site changes fields of a row, and adds rows before the others") {
    const auto rules = RuleSet::from_text("[[rule]]\n"
                                          "name = \"gpu.pcie_width\"\n"
                                          "window = \"5m\"\n"
                                          "severity = \"evict\"\n"
                                          "value = 0.5\n"
                                          "[[rule]]\n"
                                          "name = \"site.retries\"\n"
                                          "signal = \"ib.counter.out_of_sequence\"\n"
                                          "test = \"delta\"\n"
                                          "value = 1000\n"
                                          "window = \"1m\"\n",
                                          "h");
    REQUIRE(rules);
    const auto& width = *rules->find("gpu.pcie_width");
    CHECK(width.window == 5min);
    CHECK(width.severity == Severity::evict);
    CHECK(width.value == 0.5);
    CHECK(width.says == RuleSet().find("gpu.pcie_width")->says);
    CHECK(rules->rows().size() == shipped_rules().size() + 1);
    CHECK(rules->rows()[0].name == "site.retries");
    CHECK(rules->rows()[0].severity == Severity::warn);
    CHECK(rules->rows()[0].source == "this site");
}

TEST_CASE("what a site puts back to what a new row would have is printed, too") {
    const auto rules = RuleSet::from_text("[[rule]]\nname = \"gpu.xid.79\"\nlatch = false\nsays = \"\"\n"
                                          "[[rule]]\nname = \"x\"\nsignal = \"gpu.lost\"\nsource = \"\"\n",
                                          "h");
    REQUIRE(rules);
    const auto again = RuleSet::from_text(rules->print(), "printed");
    REQUIRE(again);
    CHECK_FALSE(again->find("gpu.xid.79")->latch);
    CHECK(again->find("gpu.xid.79")->says.empty());
    CHECK(again->print() == rules->print());
}

TEST_CASE("what [throttle] of railyard.conf fills is said so, and may be filled here") {
    const RuleSet rules;
    CHECK(rules.print().find("severity = \"throttle.reasons\"") != std::string::npos);
    const auto given =
        RuleSet::from_text("[[rule]]\nname = \"gpu.throttle.hw_power_brake\"\nwindow = \"9s\"\n"
                           "severity = \"fatal\"\n",
                           "h");
    REQUIRE(given);
    CHECK(given->find("gpu.throttle.hw_power_brake")->window == 9s);
    CHECK(given->find("gpu.throttle.hw_power_brake")->severity == Severity::fatal);
}

TEST_CASE("a wrong file is refused with its line, the row and the key") {
    CHECK_THAT(refusal("\n[[rule\n"), Catch::StartsWith("h:2: "));
    CHECK(refusal("\n[rules]\nx = 1\n") == "h:2: unknown table [rules]; there are [[rule]] and [[expected]]");
    CHECK(refusal("[[rule]]\nsignal = \"gpu.lost\"\n") == "h:1: the rule has no name");
    CHECK(refusal("[[rule]]\nname = \"gpu.ecc\"\n[[rule]]\n\nname = \"gpu.ecc\"\n") ==
          "h:5: gpu.ecc: is in line 2, too");
    CHECK_THAT(refusal("[[rule]]\nname = \"gpu.ecc\"\nwindows = \"1s\"\n"),
               Catch::StartsWith("h:3: gpu.ecc: unknown key windows; a rule has name, signal, test, "));
    CHECK(refusal("[[rule]]\nname = \"gpu.ecc\"\nseverity = \"bad\"\n") ==
          "h:3: gpu.ecc: severity: \"bad\" is none of info, warn, evict, fatal");
    CHECK_THAT(refusal("[[rule]]\nname = \"gpu.ecc\"\nfault = \"host_lost\"\n"),
               Catch::StartsWith("h:3: gpu.ecc: fault: \"host_lost\" is none of other, "));
    CHECK_THAT(refusal("[[rule]]\nname = \"gpu.ecc\"\nwindow = \"5\"\n"),
               Catch::StartsWith("h:3: gpu.ecc: window: "));
    CHECK(refusal("[[rule]]\nname = \"gpu.ecc\"\nvalue = \"many\"\n") ==
          "h:3: gpu.ecc: value: must be a number");
    CHECK_THAT(refusal("[[rule]]\nname = \"gpu.ecc\"\nvalue = nan\n"), Catch::Contains("must be a number"));
    CHECK_THAT(refusal("[[rule]]\nname = \"gpu.ecc\"\nlatch = 1\n"),
               Catch::Contains("must be true or false"));
    CHECK_THAT(refusal("[[rule]]\nname = \"a b\"\nsignal = \"gpu.lost\"\n"),
               Catch::StartsWith("h:2: a b: name: "));
    CHECK_THAT(refusal("[[rule]]\nname = \"x\"\n"), Catch::Contains("signal: is missing, as the row is new"));
    CHECK_THAT(refused("signal = \"gpu.heat\"\n"),
               Catch::StartsWith("h:3: x: signal: \"gpu.heat\" is not known; there are gpu.lost, "));
}

TEST_CASE("what makes no sense together is refused") {
    CHECK_THAT(
        refused("signal = \"ib.counter.symbol_error\"\ntest = \"above\"\nvalue = 5\n"),
        Catch::StartsWith("h:4: x: test: above does not go with ib.counter.symbol_error, a counter: only"));
    CHECK_THAT(refused("signal = \"ib.rate\"\ntest = \"delta\"\nvalue = 5\nwindow = \"1m\"\n"),
               Catch::Contains("is no counter"));
    CHECK_THAT(refused("signal = \"gpu.clock_events\"\nvalue = 5\n"), Catch::Contains("a mask (bit)"));
    CHECK_THAT(refused("signal = \"gpu.clock_events\"\ntest = \"bit\"\nvalue = 0.5\n"),
               Catch::StartsWith("h:5: x: value: is no mask"));
    CHECK_THAT(refused("signal = \"gpu.lost\"\nto = 5\nvalue = 6\n"), Catch::StartsWith("h:4: x: to: "));
    CHECK_THAT(refused("signal = \"ib.rate\"\ntest = \"above\"\nvalue = 5\nuntil = 6\n"),
               Catch::StartsWith("h:6: x: until: "));
    CHECK_THAT(refused("signal = \"gpu.lost\"\ntest = \"above\"\nagainst = \"own\"\n"),
               Catch::Contains("is not measured against anything of its own"));
    CHECK_THAT(refused("signal = \"ib.counter.symbol_error\"\ntest = \"delta\"\nagainst = \"peers\"\n"
                       "window = \"1m\"\n"),
               Catch::StartsWith("h:5: x: against: "));
    CHECK_THAT(refused("signal = \"ib.counter.symbol_error\"\ntest = \"delta\"\n"),
               Catch::StartsWith("h:1: x: window: is below 1s"));
    CHECK_THAT(refused("signal = \"gpu.lost\"\ntext = \"x\"\n"),
               Catch::Contains("text: gpu.lost is no event"));
    for (const auto* field : {"latest", "same_part", "secondary"})
        CHECK_THAT(refused(fmt::format("signal = \"gpu.lost\"\n{} = true\n", field)),
                   Catch::StartsWith(fmt::format("h:4: x: {}: gpu.lost is no event", field)));
    for (const auto* rest :
         {"samples = 65\nwindow = \"1m\"\n", "samples = 2\n", "samples = 2\nwindow = \"999ms\"\n",
          "samples = 2\nwindow = \"1m\"\nof_windows = 2\n"})
        CHECK_THAT(refused(fmt::format("signal = \"gpu.pcie_width\"\n{}", rest)),
                   Catch::StartsWith("h:4: x: samples: "));
    CHECK_THAT(refused("signal = \"hca.log\"\nwindow = \"1m\"\nsamples = 2\n"),
               Catch::StartsWith("h:5: x: samples: "));
    for (const auto* rest : {"burst = \"1m\"\n", "repeats = 2\nwithin = \"1m\"\nburst = \"1m\"\n"})
        CHECK_THAT(refused(fmt::format("signal = \"gpu.xid\"\nwindow = \"1h\"\n{}", rest)),
                   Catch::Contains(": x: burst: "));
    CHECK_THAT(refused("signal = \"gpu.lost\"\nrepeats = 2\nburst = \"1m\"\n"),
               Catch::Contains(": x: burst: "));
    CHECK_THAT(refused("signal = \"ib.active\"\nonly_repeated = true\n"),
               Catch::StartsWith("h:4: x: only_repeated: "));
    CHECK_THAT(refused("signal = \"gpu.lost\"\nwindow = \"1m\"\nof_windows = 65\n"),
               Catch::StartsWith("h:5: x: of_windows: "));
    CHECK_THAT(refused("signal = \"gpu.lost\"\nseverity = \"throttle.reasons\"\n"),
               Catch::StartsWith("h:4: x: severity: "));
    CHECK_THAT(refused("signal = \"gpu.lost\"\nsays = \"{valve}\"\n"),
               Catch::StartsWith("h:4: x: says: \"{valve}\" is none of {value}, "));
    CHECK_THAT(refused("signal = \"gpu.lost\"\nsays = \"a\\u0007\"\n"), Catch::Contains("ASCII"));
    CHECK_THAT(refused("signal = \"gpu.lost\"\nsays = \"{\"\n"), Catch::Contains("says: \"{\" is none of"));
}

TEST_CASE("without a file the program's rules are in force; one that cannot be read is an error") {
    const auto none = RuleSet::from_file("/nonexistent/health.conf");
    REQUIRE(none);
    CHECK(none->rows().size() == shipped_rules().size());
    CHECK_FALSE(RuleSet::from_file("/"));
}
