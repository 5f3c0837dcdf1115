// The state of one rule for one component: how long its test has been true, and how a counter has grown.
// Pure.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/rules/rule.hpp"
#include "restart/watch/rules/signal.hpp"
#include "restart/watch/window.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

class RuleState {
public:
    struct Look {
        base::Time now{};
        base::Duration longest_step{}; // between two looks; a longer gap is unknown
        std::optional<double> median;  // of the peers, for rules that need it
    };

    // Takes the signal's next value. A rule's open fields (window, clear) must be set.
    void take(const Look& look, const Rule& rule, const Signal& signal);

    // The component is gone, although its source answers. A counter starts again when it returns: what it
    // counted in between is the driver's start.
    void leave(const Look& look, const Rule& rule);

    // The test is true now, but not yet for long enough.
    bool pending() const { return there_ && !firing(); }
    bool firing() const { return shown_ && (hold_.firing() || latched_ || kept_); }
    base::Time since() const { return hold_.since(); }
    // The test is true now.
    bool present() const { return there_; }
    base::Time last_present() const { return hold_.last_present(); }
    // When the finding ended; none: there was none, or it still holds.
    std::optional<base::Time> ended() const { return hold_.ended(); }
    // The last value that the test compared, and the limit. None: no value yet, or the reference is unknown.
    struct Compared {
        double value = 0, limit = 0;
    };
    const std::optional<Compared>& compared() const { return compared_; }
    Severity severity(const Rule& rule, base::Time now) const;
    // Includes how long it has lasted, and how often it occurred.
    std::string evidence(const Rule& rule, base::Time now) const;

private:
    void hold(const Look& look, const Rule& rule);
    std::optional<double> mean(base::Time now, const Rule& rule, double value);
    bool in_windows(base::Time now, const Rule& rule);
    std::size_t times(const Rule& rule, base::Time now) const;

    Hold hold_;
    bool there_ = false, latched_ = false;
    bool shown_ = true, kept_ = false; // for a rule that requires repetition: it is a finding
    std::optional<Growth> growth_;
    std::uint64_t windows_ = 0;         // bit 0 is the last one: whether the test was true in it
    std::int64_t window_ = 0;           // number of the last window since the epoch
    std::vector<double> samples_;       // the last ones, at most `samples`
    std::optional<base::Time> sampled_; // time of the last sample
    std::vector<base::Time> onsets_;    // at most `repeats`
    std::optional<Compared> compared_;
    std::string evidence_; // from the last time the test was true
};

} // namespace restart
