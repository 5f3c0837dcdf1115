// What one rule has seen of one component: how long its test has been true, and how a counter has grown.
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
        base::Duration longest_step{}; // between two looks; beyond it nothing is known
        std::optional<double> median;  // of the peers, for rules that ask it
    };

    // Takes the signal's next value. A rule's open fields (window, clear) must have been filled in.
    void take(const Look& look, const Rule& rule, const Signal& signal);

    // The component is not there any more, though its source answers. A counter begins anew when it is back:
    // what it counted meanwhile is the driver's start.
    void leave(const Look& look, const Rule& rule);

    // The test is true now, and how long that must last is not over.
    bool pending() const { return there_ && !firing(); }
    bool firing() const { return shown_ && (hold_.firing() || latched_ || kept_); }
    base::Time since() const { return hold_.since(); }
    // The test is true now.
    bool present() const { return there_; }
    base::Time last_present() const { return hold_.last_present(); }
    // When the finding ended; none: there was none, or it holds.
    std::optional<base::Time> ended() const { return hold_.ended(); }
    // What the test compared last, and with what. None: nothing yet, or what the rule is measured against is
    // not known.
    struct Compared {
        double value = 0, limit = 0;
    };
    const std::optional<Compared>& compared() const { return compared_; }
    Severity severity(const Rule& rule, base::Time now) const;
    // With how long it has lasted, and how often it came.
    std::string evidence(const Rule& rule, base::Time now) const;

private:
    void hold(const Look& look, const Rule& rule);
    std::optional<double> mean(base::Time now, const Rule& rule, double value);
    bool in_windows(base::Time now, const Rule& rule);
    std::size_t times(const Rule& rule, base::Time now) const;

    Hold hold_;
    bool there_ = false, latched_ = false;
    bool shown_ = true, kept_ = false; // of a rule that wants repetition: there is one
    std::optional<Growth> growth_;
    std::uint64_t windows_ = 0;         // the last one in bit 0: whether the test was true in it
    std::int64_t window_ = 0;           // its number since the epoch
    std::vector<double> samples_;       // the last ones, at most `samples`
    std::optional<base::Time> sampled_; // when the last of them was taken
    std::vector<base::Time> onsets_;    // at most `repeats`
    std::optional<Compared> compared_;
    std::string evidence_; // of the last presence
};

} // namespace restart
