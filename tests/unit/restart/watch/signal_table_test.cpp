// What an agent tells of its signals keeps within the protocol's bounds, whatever the host says.
#include "restart/watch/signal_table.hpp"

#include "restart/watch/rules/rule_set.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <limits>

using namespace std::chrono_literals;
using namespace restart;

namespace {

const base::Time now{std::chrono::seconds(1'700'000'000)};

SignalTableOf of(std::map<std::string, bool> watching = {{"nvml", true}}) {
    return {"n001", now, 1h, std::move(watching), {}};
}

// What is told is what restartd accepts.
HostSignals read_back(const HostSignals& told) {
    const auto body = told.to_json();
    CHECK(body.size() <= most_signal_bytes);
    auto read = HostSignals::from_json(body);
    INFO((read ? std::string() : read.error().text));
    REQUIRE(read);
    CHECK(*read == told);
    return *std::move(read);
}

// Without those of events that did not come, which stand first.
std::vector<SignalRow> rows_of(const HostSignals& told) {
    std::vector<SignalRow> rows;
    for (const auto& row : told.rows)
        if (!row.component.empty()) rows.push_back(row);
    return rows;
}

} // namespace

TEST_CASE("a rule is told once, and a row names it") {
    const auto bit = *RuleSet().find("gpu.throttle.hw_power_brake#bit");
    Rule filled = bit;
    filled.severity = Severity::evict;
    RuleView view;
    view.rule = &filled;
    view.component = "gpu3";
    view.standing = RuleStanding::finding;
    view.value = 0x80;
    view.severity = Severity::evict;
    view.since = now - 5s;
    auto other = view;
    other.component = "gpu4";
    const auto told = read_back(signal_table(of(), {view, other}));
    CHECK(told.host == "n001");
    CHECK(told.time == now + 1h);
    const auto rows = rows_of(told);
    REQUIRE(rows.size() == 2);
    const auto& row = rows[0];
    const auto& rule = told.rules[row.rule];
    CHECK(rule.name == "gpu.throttle.hw_power_brake#bit");
    CHECK(rule.signal == "gpu.uncounted_events");
    CHECK(rule.unit == "bits");
    CHECK(rule.says.find("with a bit of 0x80") != std::string::npos);
    CHECK_FALSE(rule.source.empty());
    CHECK(row.since == now - 5s + 1h);
    CHECK(rows[1].rule == row.rule);
    const auto text = show(told);
    INFO(text);
    CHECK(text.find("gpu3       gpu.uncounted_events  0x80") != std::string::npos);
    CHECK(text.find("finding since ") != std::string::npos);
}

TEST_CASE("events that do not come are well only where they would be heard") {
    const auto state = [](std::map<std::string, bool> watching, std::string_view signal = "gpu.xid") {
        const auto told = read_back(signal_table(of(std::move(watching)), {}));
        for (const auto& row : told.rows)
            if (told.rules[row.rule].signal == signal) return row.standing;
        FAIL("there is no row of " << signal);
        return RuleStanding::ok;
    };
    CHECK(state({{"nvml", true}, {"kmsg", false}}, "hca.log") == RuleStanding::unseen);
    CHECK(state({{"nvml", false}, {"kmsg", true}}, "hca.log") == RuleStanding::ok);
    CHECK(state({{"nvml", true}, {"kmsg", false}}, "gpu.log") == RuleStanding::unseen);
    CHECK(state({{"nvml", true}, {"kmsg", false}}) == RuleStanding::ok);
    CHECK(state({{"nvml", false}, {"kmsg", true}}) == RuleStanding::ok);
    CHECK(state({{"nvml", false}, {"kmsg", false}, {"infiniband", true}}) == RuleStanding::unseen);
}

TEST_CASE("words of others cannot break what is told") {
    Rule rule;
    rule.name = "site.rule";
    rule.signal = "gpu.ecc_corrected";
    rule.severity = Severity::warn;
    const std::string source = std::string("line\n\"quoted\"\\ \x7f") + std::string(600, 'x');
    rule.source = source;
    RuleView view;
    view.rule = &rule;
    view.component = "gpu\x1b[31m" + std::string(100, 'y');
    view.value = std::numeric_limits<double>::infinity();
    view.limit = std::numeric_limits<double>::quiet_NaN();
    view.text = "\xff\xfe\t" + std::string(499, 'z') + "\xc3\xa9\xc3\xa9";
    auto asked = of();
    asked.not_watching.assign(100, "nvml:\n" + std::string(1'000, 'w'));
    const auto told = read_back(signal_table(asked, {view}));
    CHECK(told.not_watching.size() == 32);
    const auto rows = rows_of(told);
    REQUIRE(rows.size() == 1);
    CHECK_FALSE(rows[0].value);
    CHECK(rows[0].text.size() <= 500);
}

TEST_CASE("where not all fits, what is not in order comes first, and what is left out is counted") {
    Rule rule;
    rule.name = "site.rule";
    rule.signal = "gpu.ecc_corrected";
    rule.severity = Severity::warn;
    std::vector<RuleView> views(5'000);
    for (std::size_t i = 0; i < views.size(); ++i) {
        views[i].rule = &rule;
        views[i].component = fmt::format("gpu{}", i);
        views[i].standing = RuleStanding::ok;
        views[i].text = std::string(500, '"'); // two bytes each in JSON
    }
    views.back().standing = RuleStanding::finding;
    const auto told = read_back(signal_table(of(), views));
    CHECK(told.left_out + rows_of(told).size() == views.size());
    CHECK(rows_of(told).front().component == "gpu4999");
    CHECK(show(told).find(fmt::format("{} more rules of components did not fit", told.left_out)) !=
          std::string::npos);
    // As many rules as a site likes.
    std::vector<Rule> rules(2'000, rule);
    std::vector<RuleView> many(rules.size());
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i].rule = &rules[i];
    CHECK(read_back(signal_table(of(), many)).left_out > 0);
}
