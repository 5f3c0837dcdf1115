// The self-test of rules: shows that each fires at its fault, and does not fire just below its threshold or
// for less than its window.
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
    int misses = 0;         // near misses tried; none for a catch-all event rule
    base::Duration after{}; // from the fault to the finding
    std::string trouble;    // the problem; empty: none
    bool sound() const { return fires && silent && trouble.empty(); }
};

// Tests each enabled rule whose name begins with `only`, alone: other rows of the same finding do not hide
// it. `told` is called for each as it ends; false ends the test. Errors: the bed cannot be created or read.
base::Expected<std::vector<Outcome>> selftest(const restart::RuleSet& rules, std::string_view only,
                                              const Beds& beds,
                                              const std::function<bool(const Outcome&)>& told);

} // namespace check
