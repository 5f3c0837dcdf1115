// The self-test of checks: shows that each finds its fault, and finds nothing on a sound part, where hardware
// can be simulated; what only hardware can prove is named.
#pragma once

#include "check/check.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace check {

struct TrialOutcome {
    std::string check, fault, through; // "hbm", "a bit of a pattern is another", "a double of libcuda"
    bool tried = false;                // otherwise `trouble` says what is missing
    std::string trouble;               // empty: passed
    bool failed() const { return tried && !trouble.empty(); }
};

// Tries each check whose name begins with `only`. `folder` is empty and remains the caller's. Faults of GPUs
// need the doubles of Railyard's tests, `libraries` and `nvml`, whose state files this writes and names in
// the environment. `told` is called for each outcome; false ends the test.
std::vector<TrialOutcome> try_checks(std::string_view only, const std::filesystem::path& folder,
                                     const std::vector<std::string>& libraries, const std::string& nvml,
                                     const std::function<bool(const TrialOutcome&)>& told);

} // namespace check
