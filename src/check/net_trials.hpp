// The self-test of railcheck net: hosts are threads on loopback that measure a simulated network, and two
// processes measure over loopback by UCX.
#pragma once

#include "base/clock.hpp"
#include "check/apart.hpp"
#include "check/check_trials.hpp"

#include <chrono>

namespace check {

// `folder` is empty. `tell` is called for each outcome; false ends the test, and is returned.
bool try_net(const std::filesystem::path& folder, const std::function<bool(TrialOutcome)>& tell);

// Evaluates tasks that ran in separate processes.
bool has_bad(const std::vector<TaskOutcome>& outcomes);
std::string why_not(const std::vector<TaskOutcome>& outcomes); // the fact "why" of one; empty: none
std::string shown(const std::vector<TaskOutcome>& outcomes);
constexpr base::Duration trial_most = std::chrono::seconds(60); // for a task in one

} // namespace check
