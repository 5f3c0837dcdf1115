// The values that a host's rules judge, beside those rules: what an agent tells when restartd asks for it
// (the body of POST /v1/report/signals), and what restartd answers to GET /v1/signals?host=NAME.
//
// Read as a report is: every list and text has a bound, and nothing in it acts on anything.
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

// How a rule stands with what it looks at.
enum class RuleStanding {
    ok,
    in_window, // its test is true, not yet for as long as it must be
    finding,   // it holds
    clearing,  // the test is no longer true; the finding ends when that has lasted
    cleared,   // there was a finding, and it is over
    unseen     // there is no value to judge
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
    std::string component{}; // "gpu3", "mlx5_0:1"; empty: none has this signal
    RuleStanding standing = RuleStanding::unseen;
    std::optional<double> value{}; // none: it cannot be seen
    // What the rule compares and with what, where these are not the value and the rule's own number.
    std::optional<double> compared{}, limit{};
    std::optional<Severity> severity{}; // of a finding that holds
    std::optional<base::Time> since{};  // of what began; of what is cleared, when it ended
    std::string text{};                 // the source's words, the evidence, or why it cannot be seen
    bool operator==(const SignalRow&) const = default;
};

// As wide as a host with 16 GPUs and 16 HCAs needs, and no wider.
inline constexpr std::size_t most_signal_rules = 512, most_signal_rows = 2'048;
inline constexpr std::size_t most_signal_bytes = 512 << 10; // of the body

struct HostSignals {
    std::string host;
    base::Time time{};                     // of the look, by the host's clock
    std::vector<std::string> not_watching; // Report::not_watching
    std::vector<SignalRule> rules;         // that rows name
    std::vector<SignalRow> rows;           // by component
    std::uint64_t left_out = 0;            // rows that did not fit
    std::vector<GpuPace> gpus{};           // in the look; none: none is read

    // Errors (Code::input) name the field; a body that is too long is one.
    static base::Expected<HostSignals> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const HostSignals&) const = default;
};

// What restartd does about a question for a host's signals.
enum class SignalsState {
    here,   // they are no older than a few seconds
    asked,  // the agent is asked for them with its next report: ask again in a moment
    silent, // the agent is not heard
    older,  // the agent is of a release that cannot tell them
    busy    // too many other hosts are being asked: ask again
};
std::string_view to_string(SignalsState state);

struct SignalsAnswer {
    base::Time time{};
    std::string host;
    SignalsState state = SignalsState::asked;
    std::optional<base::Time> last_report; // of the agent; none: never heard
    std::optional<base::Time> came;        // when the signals came to restartd
    std::optional<HostSignals> signals;    // the last that came, unless that is long ago; none: none did

    static base::Expected<SignalsAnswer> from_json(std::string_view body);
    std::string to_json() const;
};

// A table for people, with what cannot be watched before it; times in this machine's local time. What is in
// order is shown too.
// `brief`: without the conditions of the rules and where their numbers come from.
std::string show(const HostSignals& signals, bool brief = false, const base::Look& look = {});

} // namespace restart
