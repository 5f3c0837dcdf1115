// Waiting for what must come. Tests wait for events, never for times, and never assert that something took
// less than some seconds: that says how busy the machine was.
#pragma once

#include <chrono>
#include <functional>

namespace test {

// How long something that must come may take before its test fails: a minute, or more on a machine that
// tests/run has measured to be slow (RAILYARD_SLOWNESS, a factor of 1 or more).
std::chrono::milliseconds patience();

// Asks every few milliseconds until the condition holds or patience() is over, and once more then. Returns
// the last answer.
bool eventually(const std::function<bool()>& condition);

} // namespace test
