// A health rule as data: which signal it uses, which values are a finding, and what the finding requires.
// Fields, with their meaning, are in fields.cpp; the rows are in table.cpp.
#pragma once

#include "base/clock.hpp"
#include "restart/wire/fault_class.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

enum class Test {
    equal, // the value is `value`, or from `value` to `to`
    above, // the value is above the limit
    below, // the value is below the limit
    bit,   // one of the bits of `value` is set, and none of `unless`
    delta, // a counter grew by more than the limit within `window`
    rate   // a counter grew by more than the limit per second, over `window`
};

// The meaning of `value`: the limit, or a share of it.
enum class Against {
    number, // the limit itself
    own,    // a share of the signal's reference (Signal::of)
    peers   // a share of the median of this signal on all components of the host, at least three
};

struct Rule {
    // Unique. A suffix after '#' distinguishes rows of one finding; the worst one that holds is reported.
    std::string_view name;
    std::string_view signal;
    Test test = Test::equal;
    double value = 0;
    std::optional<double> to{};
    std::optional<double> until{}; // once true, the test stays true until the value is back at this
    Against against = Against::number;
    std::uint64_t unless = 0;
    // Of an event's text, with '*' for any text and '|' between alternatives; empty: any text.
    std::string_view text{};
    bool latest = false;    // the last event decides; otherwise the worst
    bool same_part = false; // only events that name the same part are repetitions (Signal::part)
    bool by_user = false;   // only events under programs of different users are repetitions (Signal::user)
    bool secondary = false; // no finding if its component has another event: that one is the cause

    // How long the test must be true; for delta and rate the period of growth; for an event how long it
    // counts. Nothing: [throttle] window.
    std::optional<base::Duration> window = base::Duration{0};
    // If set, a finding requires that the test was true in more than `share` of this many last windows.
    std::uint64_t of_windows = 0;
    double share = 0.5;
    // If set, the value is the mean of this many samples, one in each window; until there are enough it is
    // unknown.
    std::uint64_t samples = 0;
    std::optional<base::Duration> clear{}; // absence that ends the finding; nothing: [throttle] clear
    bool latch = false;                    // it holds until the agent or the host restarts

    std::optional<Severity> severity{}; // nothing: evict if [throttle] reasons names it, else warn
    std::uint64_t repeats = 0;          // this many within `within`: `repeated` instead; 0: never
    base::Duration within{24LL * 3'600'000};
    base::Duration burst{0}; // an event within this time of the previous one belongs to the same burst
    Severity repeated = Severity::warn;
    bool only_repeated = false;           // a finding only then, and while it lasts
    FaultClass fault = FaultClass::other; // how a host taken out of service by it is repaired
    std::string_view says{};              // the evidence (evidence.hpp); empty: the default of the test
    std::string_view source{};            // the origin of the numbers
    bool on = true;

    bool operator==(const Rule&) const = default;

    // The finding's rule. Events are identified by their number: "gpu.xid.79".
    std::string_view finding() const { return name.substr(0, name.find('#')); }
    bool counts_growth() const { return test == Test::delta || test == Test::rate; }
};

} // namespace restart
