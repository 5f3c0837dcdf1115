// The self-test of rules: each is shown to fire at its fault, and to be silent just below its threshold and
// shorter than its window.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "check/stage.hpp"
#include "restart/watch/rules/rule_set.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace check {

struct Outcome {
    std::string rule, signal, through, severity, source;
    bool fires = false, silent = false;
    int misses = 0;         // that were tried; a rule for all other events has none
    base::Duration after{}; // from the fault to the finding
    std::string trouble;    // what is wrong; empty: nothing
    bool sound() const { return fires && silent && trouble.empty(); }
};

// Tests each rule that is switched on and whose name begins with `only`, by itself: other rows of the same
// finding do not hide it. `told` hears of each as it ends; with false the test ends there. Errors: what the
// bed cannot be made or read for.
base::Expected<std::vector<Outcome>> selftest(const restart::RuleSet& rules, std::string_view only,
                                              const Beds& beds,
                                              const std::function<bool(const Outcome&)>& told);

} // namespace check
