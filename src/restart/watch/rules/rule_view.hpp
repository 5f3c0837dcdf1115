// A rule with its last value and its state, for display. Pure.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/rules/rule.hpp"
#include "restart/wire/signals.hpp"

#include <optional>
#include <string>

namespace restart {

struct RuleView {
    const Rule* rule = nullptr; // valid until the book gets other rules
    std::string component{};    // empty: no component has such a signal
    RuleStanding standing = RuleStanding::unseen;
    std::optional<double> value{}; // the signal in the last look; none: not in it
    // What was compared and with what, if that is not the value and the rule's own number: a growth, a rate,
    // a share of the signal's reference.
    std::optional<double> compared{}, limit{};
    std::optional<Severity> severity{}; // of a finding that holds
    // When the condition began that led or may lead to a finding; for a cleared finding, when it ended.
    std::optional<base::Time> since{};
    std::string text{}; // the source's text, or the reason of a finding
};

} // namespace restart
