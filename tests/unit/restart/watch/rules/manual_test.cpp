// health.conf(5) and the sample file say what the tables of fields, signals and rules say, word for word.
// With RAILYARD_WRITE=1 both are written from the tables.
#include "restart/watch/rules/describe.hpp"
#include "restart/watch/rules/evidence.hpp"
#include "restart/watch/rules/expectations.hpp"
#include "restart/watch/rules/fields.hpp"
#include "restart/watch/rules/rule_set.hpp"
#include "restart/watch/rules/signal.hpp"
#include "restart/watch/rules/table.hpp"

#include "base/file.hpp"
#include "unit/source.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

using namespace restart;

namespace {

std::string source(const char* name) {
    const auto text = base::read_file(test::source(name));
    REQUIRE(text);
    return *text;
}

// Quotes would be eaten by the macros, and a backslash is none to them.
std::string mdoc(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '"' ? std::string("\\(dq") : c == '\\' ? std::string("\\e") : std::string(1, c);
    return out;
}

std::string fields_page() {
    std::string text = ".Sh FIELDS\n.Bl -tag -width Ds\n";
    for (const auto& field : rule_fields())
        text += fmt::format(".It Li {}\n{}\n.Pq {}\n", field.name, mdoc(field.meaning), mdoc(field.type));
    return text + ".El\n";
}

std::string signals_page() {
    const auto shape = [](Shape of) {
        return of == Shape::counter ? "counter"
               : of == Shape::bits  ? "mask"
               : of == Shape::event ? "event"
                                    : "";
    };
    std::string text = ".Sh SIGNALS\n.Bl -tag -width Ds\n";
    for (const auto& kind : signal_kinds()) {
        text += fmt::format(".It Li {}\n{}\n", kind.name, mdoc(kind.meaning));
        std::string more = shape(kind.shape);
        if (!kind.unit.empty()) more += fmt::format("{}{}", more.empty() ? "" : "; ", kind.unit);
        if (!kind.of.empty())
            more += fmt::format("{}measured against {}", more.empty() ? "" : "; ", mdoc(kind.of));
        if (!more.empty()) text += fmt::format(".Pq {}\n", more);
    }
    return text + ".El\n";
}

std::string rules_page() {
    std::string text = ".Sh RULES\n.Bl -tag -width Ds\n";
    for (const auto& rule : shipped_rules()) {
        text += fmt::format(".It Li {}\n.Sy {} :\n{}\n", rule.name, describe_severity(rule),
                            mdoc(describe(rule)));
        // Of an XID only the words say what it is.
        if (rule.signal == "gpu.xid")
            text += fmt::format(".Dq {}\n", mdoc(rule.says.substr(std::string_view("XID {value}: ").size())));
        text += fmt::format(".Pq {}; {}\n", to_string(rule.fault), mdoc(rule.source));
    }
    return text + ".El\n";
}

std::string expectations_page() {
    std::string text = ".Sh EXPECTATIONS\nTests and what they measure:\n.Bl -tag -width Ds\n";
    for (const auto& test : measured_tests())
        text += fmt::format(".It Li {}\n{}\n.Pq {}\n", test.name, mdoc(test.meaning), test.unit);
    text += ".El\n.Pp\nThe rows that Railyard comes with, and the least share that is not bad:\n.Bl -tag "
            "-width Ds\n";
    const Expectations expected;
    for (const auto& row : expected.rows())
        text += fmt::format(".It Li {} No of Li {}\n{}, at least {:g} %\n.Pq {}\n", row.test, mdoc(row.of),
                            row.value, 100 * row.least, mdoc(row.source));
    return text + ".El\n";
}

std::string commented(std::string_view text) {
    std::string out;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);)
        out += line.empty() ? "\n" : "#" + line + "\n";
    return out;
}

} // namespace

TEST_CASE("the manual page lists every field, signal, rule and expectation with what it says") {
    auto page = source("man/health.conf.5");
    const auto begin = page.find(".Sh FIELDS\n"), end = page.find(".Sh FILES\n");
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    const auto wanted = fields_page() + signals_page() + rules_page() + expectations_page();
    if (std::getenv("RAILYARD_WRITE") != nullptr) {
        page.replace(begin, end - begin, wanted);
        REQUIRE(base::write_file(test::source("man/health.conf.5"), page));
    }
    INFO("RAILYARD_WRITE=1 tests/unit/unit_watch \"the manual page lists every field*\" writes it");
    CHECK(page.substr(page.find(".Sh FIELDS\n"), wanted.size()) == wanted);
    CHECK(page.compare(page.find(".Sh FIELDS\n") + wanted.size(), 10, ".Sh FILES\n") == 0);
}

TEST_CASE("the sample file holds every rule, each as a comment, and changes nothing") {
    auto sample = source("etc/health.conf");
    const auto head = sample.find("\n\n");
    REQUIRE(head != std::string::npos);
    const RuleSet rules;
    const Expectations expected;
    const auto wanted = commented(rules.print() + "\n" + expected.print());
    if (std::getenv("RAILYARD_WRITE") != nullptr) {
        sample.replace(head + 2, std::string::npos, wanted);
        REQUIRE(base::write_file(test::source("etc/health.conf"), sample));
    }
    INFO("RAILYARD_WRITE=1 tests/unit/unit_watch \"the sample file holds every rule*\" writes it");
    CHECK(sample.substr(head + 2) == wanted);
    const auto as_it_is = RuleSet::from_text(sample, "etc/health.conf");
    REQUIRE(as_it_is);
    CHECK(as_it_is->print() == rules.print());
    const auto printed = Expectations::from_text(expected.print(), "printed");
    REQUIRE(printed);
    CHECK(printed->print() == expected.print());
}

TEST_CASE("a rule as a phrase") {
    const RuleSet rules;
    CHECK(describe(*rules.find("gpu.pcie_width")) ==
          "gpu.pcie_width below what it is measured against, for 1m");
    CHECK(describe(*rules.find("ib.counter.symbol_error#hour")) ==
          "ib.counter.symbol_error grew by more than 120 within 1h");
    CHECK(describe(*rules.find("gpu.xid.39-41")) == "gpu.xid 39 to 41");
    CHECK(describe(*rules.find("gpu.throttle.hw_slowdown")) ==
          "gpu.clock_events with a bit of 0x8 and none of 0xc0, for [throttle] window");
    CHECK(describe_severity(*rules.find("gpu.throttle.hw_slowdown")) ==
          "evict or warn, by [throttle] reasons");
    CHECK(describe_severity(*rules.find("gpu.xid.94")) ==
          "info; warn when it comes under programs of 2 users within 1d");
    CHECK(describe_severity(*rules.find("gpu.xid.13")) ==
          "info; warn when it comes under programs of 2 users within 1d to the same part");
    CHECK(describe(*rules.find("gpu.xid.74#marginal")) ==
          "gpu.xid 74 that says \"*<r0.21>*\" or \"*<r0.22>*\"");
    CHECK(describe(*rules.find("gpu.pcie_speed")) ==
          "gpu.pcie_generation below 0.9 times what it is measured against, on average of 12 samples, one "
          "each 1h");
    CHECK(describe_severity(*rules.find("ib.flaps")) ==
          "warn when it comes 3 times within 12h, else nothing");
    CHECK(describe_severity(*rules.find("gpu.xid.45")) == "info; nothing beside another event");
}
