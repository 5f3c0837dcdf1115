// A rule beside what it looks at, for people: which value it saw last, and how it stands with it. Pure.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/rules/rule.hpp"
#include "restart/wire/signals.hpp"

#include <optional>
#include <string>

namespace restart {

struct RuleView {
    const Rule* rule = nullptr; // lives until the book gets other rules
    std::string component{};    // empty: no component has such a signal
    RuleStanding standing = RuleStanding::unseen;
    std::optional<double> value{}; // of the signal in the last look; none: it did not come
    // What was compared and with what, where that is not the value and the rule's own number: a growth, a
    // rate, a share of what the signal is measured against.
    std::optional<double> compared{}, limit{};
    std::optional<Severity> severity{}; // of a finding that holds
    // When the presence began that led to a finding or will; of one that is cleared, when it ended.
    std::optional<base::Time> since{};
    std::string text{}; // the source's words, or why a finding holds
};

} // namespace restart
