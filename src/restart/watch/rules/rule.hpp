// A rule of health as data: which signal it looks at, what of it is a finding, and what the finding asks for.
// Which fields there are for whom, and what they mean, stands in fields.cpp; the rows in table.cpp.
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
    equal, // the value is `value`, or between it and `to`
    above, // the value is above the limit
    below, // likewise
    bit,   // one of the bits of `value` is set, and none of `unless`
    delta, // a counter grew by more than the limit within `window`
    rate   // a counter grew by more than the limit a second, over `window`
};

// What `value` is: the limit, or a share of it.
enum class Against {
    number, // itself
    own,    // what the signal is measured against (Signal::of)
    peers   // the median of this signal on all components of the host, which must be three at least
};

struct Rule {
    // Unique. What follows '#' tells rows of one finding apart, of which the worst that holds is reported.
    std::string_view name;
    std::string_view signal;
    Test test = Test::equal;
    double value = 0;
    std::optional<double> to{};
    std::optional<double> until{}; // once there, it is there until the value is back at this
    Against against = Against::number;
    std::uint64_t unless = 0;
    // Of an event's words, with '*' for any and '|' between several; empty: whatever they are.
    std::string_view text{};
    bool latest = false;    // the last event decides; else the worst
    bool same_part = false; // repetitions are those that name the same part (Signal::part)
    bool by_user = false;   // repetitions are those under programs of different users (Signal::user)
    bool secondary = false; // no finding beside another event of its component: that one is the cause

    // How long it must be there; of delta and rate the time that they look at; of an event how long it
    // counts. Nothing: [throttle] window.
    std::optional<base::Duration> window = base::Duration{0};
    // With this it is a finding when it was there in more than `share` of the last so many windows.
    std::uint64_t of_windows = 0;
    double share = 0.5;
    // With this the value is the mean of so many samples, one in each window; before there are as many it is
    // not known.
    std::uint64_t samples = 0;
    std::optional<base::Duration> clear{}; // absence that ends the finding; nothing: [throttle] clear
    bool latch = false;                    // it holds until the agent or the host restarts

    std::optional<Severity> severity{}; // nothing: evict where [throttle] reasons names it, else warn
    std::uint64_t repeats = 0;          // that often within `within`: `repeated` instead; 0: never
    base::Duration within{24LL * 3'600'000};
    base::Duration burst{0}; // events of which each comes within this after the one before count as one
    Severity repeated = Severity::warn;
    bool only_repeated = false;           // it is a finding only then, and for as long
    FaultClass fault = FaultClass::other; // how a host that it puts out of use is repaired
    std::string_view says{};              // the evidence (evidence.hpp); empty: what the test says by itself
    std::string_view source{};            // where the numbers come from
    bool on = true;

    bool operator==(const Rule&) const = default;

    // The finding's rule. Events are found by their number: "gpu.xid.79".
    std::string_view finding() const { return name.substr(0, name.find('#')); }
    bool counts_growth() const { return test == Test::delta || test == Test::rate; }
};

} // namespace restart
