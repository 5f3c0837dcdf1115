// The values that a host's rules evaluate, with those rules: what an agent sends when restartd requests it
// (the body of POST /v1/report/signals), and restartd's answer to GET /v1/signals?host=NAME.
//
// Read like a report: every list and text has a bound, and nothing in it causes an action.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/terminal.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// The state of a rule for a value.
enum class RuleStanding {
    ok,
    in_window, // its test is true, but not yet for long enough
    finding,   // it holds
    clearing,  // the test is no longer true; the finding ends if this lasts
    cleared,   // there was a finding, and it has ended
    unseen     // there is no value to evaluate
};
std::string_view to_string(RuleStanding standing);

struct SignalRule {
    std::string name{};     // "gpu.throttle.hw_power_brake"
    std::string signal{};   // "gpu.clock_events"
    std::string unit{};     // of the value; empty: none
    std::string says{};     // the condition as a phrase
    std::string severity{}; // as a phrase: "warn; evict when it comes 3 times within 1d"
    std::string source{};   // where its numbers come from
    bool operator==(const SignalRule&) const = default;
};

struct SignalRow {
    std::uint32_t rule = 0;  // place in HostSignals::rules
    std::string component{}; // "gpu3", "mlx5_0:1"; empty: no component has this signal
    RuleStanding standing = RuleStanding::unseen;
    std::optional<double> value{}; // none: not available
    // What the rule compares and with what, if not the value and the rule's own number.
    std::optional<double> compared{}, limit{};
    std::optional<Severity> severity{}; // of a finding that holds
    std::optional<base::Time> since{};  // of its beginning; for what is cleared, of its end
    std::string text{};                 // the source's text, the evidence, or why there is no value
    bool operator==(const SignalRow&) const = default;
};

// Enough for a host with 16 GPUs and 16 HCAs, and no more.
inline constexpr std::size_t most_signal_rules = 512, most_signal_rows = 2'048;
inline constexpr std::size_t most_signal_bytes = 512 << 10; // of the body

struct HostSignals {
    std::string host;
    base::Time time{};                     // of the reading, by the host's clock
    std::vector<std::string> not_watching; // Report::not_watching
    std::vector<SignalRule> rules;         // that rows refer to
    std::vector<SignalRow> rows;           // by component
    std::uint64_t left_out = 0;            // rows that did not fit
    std::vector<GpuPace> gpus{};           // in this reading; empty: none is read

    // Errors (Code::input) name the field; a body that is too long is also one.
    static base::Expected<HostSignals> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const HostSignals&) const = default;
};

// What restartd does about a request for a host's signals.
enum class SignalsState {
    here,   // they are no older than a few seconds
    asked,  // the agent is asked for them with its next report: ask again in a moment
    silent, // the agent does not report
    older,  // the agent's release cannot send them
    busy    // too many other hosts are being asked: ask again
};
std::string_view to_string(SignalsState state);

struct SignalsAnswer {
    base::Time time{};
    std::string host;
    SignalsState state = SignalsState::asked;
    std::optional<base::Time> last_report; // of the agent; none: never heard
    std::optional<base::Time> came;        // when the signals came to restartd
    std::optional<HostSignals> signals;    // the last ones received, unless that is long ago; none: none were

    static base::Expected<SignalsAnswer> from_json(std::string_view body);
    std::string to_json() const;
};

// A table for display, preceded by what cannot be watched; times in this machine's local time. It includes
// what is in order.
// `brief`: without the conditions of the rules and the sources of their numbers.
std::string show(const HostSignals& signals, bool brief = false, const base::Look& look = {});

} // namespace restart
