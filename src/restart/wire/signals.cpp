#include "restart/wire/signals.hpp"

#include "restart/wire/report_fields.hpp"
#include "restart/wire/version.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace restart {

template <> struct codec::Names<RuleStanding> {
    static constexpr std::array<std::string_view, 6> names{"ok",       "in_window", "finding",
                                                           "clearing", "cleared",   "unseen"};
};
template <> struct codec::Names<SignalsState> {
    static constexpr std::array<std::string_view, 5> names{"here", "asked", "silent", "older", "busy"};
};

template <class Codec> void fields(Codec& codec, codec::Of<SignalRule> auto& rule) {
    codec("name", rule.name, 128);
    codec("signal", rule.signal, 128);
    codec.maybe("unit", rule.unit, 32);
    codec("says", rule.says, 512);
    codec("severity", rule.severity, 128);
    codec.maybe("source", rule.source, 512);
}

template <class Codec> void fields(Codec& codec, codec::Of<SignalRow> auto& row) {
    codec("rule", row.rule);
    codec("component", row.component, 64);
    codec("state", row.standing);
    codec("value", row.value);
    codec.maybe("compared", row.compared);
    codec.maybe("limit", row.limit);
    codec.maybe("severity", row.severity);
    codec.maybe("since", row.since);
    codec.maybe("text", row.text, 512);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostSignals> auto& signals) {
    codec("host", signals.host, 64);
    codec("time", signals.time);
    codec.maybe("not_watching", signals.not_watching, 32);
    codec("rules", signals.rules, most_signal_rules);
    codec("rows", signals.rows, most_signal_rows);
    codec.maybe("left_out", signals.left_out);
    codec.maybe("gpus", signals.gpus, most_paced_gpus);
}

template <class Codec> void fields(Codec& codec, codec::Of<SignalsAnswer> auto& answer) {
    codec("time", answer.time);
    codec("host", answer.host);
    codec("state", answer.state);
    codec("last_report", answer.last_report);
    codec("came", answer.came);
    codec("signals", answer.signals);
}

namespace {

base::Error wrong_row(std::size_t row, std::string_view member, std::string_view what) {
    return {base::Code::input, fmt::format("rows[{}].{}: {}", row, member, what)};
}

base::Expected<void> check_signals(const HostSignals& signals) {
    for (std::size_t i = 0; i < signals.rows.size(); ++i) {
        const auto& row = signals.rows[i];
        if (row.rule >= signals.rules.size()) return wrong_row(i, "rule", "is no place in rules");
        for (const auto& number : {row.value, row.compared, row.limit})
            if (number && !std::isfinite(*number)) return wrong_row(i, "value", "is no number");
    }
    return check(signals.gpus, "gpus");
}

} // namespace

std::string_view to_string(RuleStanding standing) {
    return codec::Names<RuleStanding>::names.at(static_cast<std::size_t>(standing));
}

std::string_view to_string(SignalsState state) {
    return codec::Names<SignalsState>::names.at(static_cast<std::size_t>(state));
}

base::Expected<HostSignals> HostSignals::from_json(std::string_view body) {
    if (body.size() > most_signal_bytes)
        return base::Error{base::Code::input, fmt::format("these signals have {} bytes, more than {}",
                                                          body.size(), most_signal_bytes)};
    auto signals = codec::read_versioned<HostSignals>(body, "this list of signals");
    if (signals)
        if (auto sound = check_signals(*signals); !sound) return std::move(sound).error();
    return signals;
}
std::string HostSignals::to_json() const {
    return codec::write_versioned(*this);
}

base::Expected<SignalsAnswer> SignalsAnswer::from_json(std::string_view body) {
    auto answer = codec::read_versioned<SignalsAnswer>(body, "this answer");
    if (answer && answer->signals)
        if (auto sound = check_signals(*answer->signals); !sound)
            return std::move(sound).error().within("signals");
    return answer;
}
std::string SignalsAnswer::to_json() const {
    return codec::write_versioned(*this);
}

} // namespace restart
