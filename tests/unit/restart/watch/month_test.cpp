// Weeks of made-up hosts (tests/traces): their noise raises no alarm, and each planted fault is found by its
// rule. `make bench` does it for a month of 128 hosts, beside others' rules.
#include "restart/watch/judge.hpp"
#include "traces/host_trace.hpp"
#include "unit/trials.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <memory>
#include <set>

using namespace std::chrono_literals;
using namespace restart;

namespace {

struct Outcome {
    std::set<std::string> alarms; // outside of faults and maintenance
    std::set<std::size_t> found;
};

Outcome watch(trace::HostTrace& weeks) {
    Outcome outcome;
    Limits limits;
    limits.interval = 30s;
    std::unique_ptr<Judge> judge;
    while (const auto look = weeks.next()) {
        if (look->agent_is_new || !judge) judge = std::make_unique<Judge>(limits);
        const auto now = look->sample->now;
        for (const auto& finding : judge->judge(*look->sample)) {
            bool of_a_fault = false;
            for (std::size_t i = 0; i < weeks.faults().size(); ++i) {
                const auto& fault = weeks.faults()[i];
                if (now < fault.begin || now > fault.end + 2min) continue;
                of_a_fault = true;
                if (finding.rule == fault.rule && finding.component == fault.component &&
                    std::min(finding.severity, Severity::evict) == fault.severity)
                    outcome.found.insert(i);
            }
            if (finding.severity >= Severity::evict && !of_a_fault && !look->maintenance)
                outcome.alarms.insert(
                    fmt::format("{} on {}: {}", finding.rule, finding.component, finding.evidence));
        }
    }
    return outcome;
}

} // namespace

TEST_CASE("weeks of noise raise no alarm") {
    for (std::uint64_t host = 0; host < 2; ++host) {
        trace::HostTrace weeks(700 + host, {.length = 24h * test::trials(8)});
        CHECK(watch(weeks).alarms == std::set<std::string>{});
    }
}

TEST_CASE("planted faults are found among the noise, each by its rule, and nothing else is") {
    std::set<std::string_view> rows;
    const auto kinds = static_cast<int>(trace::HostTrace::kinds_of_faults());
    constexpr int a_host = 12;
    for (int first = 0; first < test::trials(kinds); first += a_host) {
        const auto host = static_cast<std::uint64_t>(first / a_host);
        trace::HostTrace weeks(800 + host, {.length = 5h * a_host, .faults = a_host, .first = first});
        const auto outcome = watch(weeks);
        CHECK(outcome.alarms == std::set<std::string>{});
        for (std::size_t i = 0; i < weeks.faults().size(); ++i) {
            const auto& fault = weeks.faults()[i];
            INFO(fmt::format("{} on {} of host {}", fault.row, fault.component, host));
            CHECK(outcome.found.contains(i));
            rows.insert(fault.row);
        }
    }
    // A few rows are planted at two severities.
    CHECK(rows.size() >= static_cast<std::size_t>(test::trials(kinds)) * 9 / 10);
}
