// Runs a function in a child process with a deadline: management datagrams can block forever when the device
// or its driver hangs, and libibumad keeps state in its process; a child can be killed without leaving
// anything behind.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <functional>
#include <string>

namespace restart {

// Forks; the child runs `work` and sends back its text, or the text of its error. The caller must have no
// other threads. The child's standard error is closed: libraries would print the same messages each time. It
// ends when its parent does. Errors: those of `work` (as Code::unavailable); Code::unavailable when it did
// not end within `deadline` or crashed; Code::usage when the descriptor `interrupt` became readable first;
// Code::io when no child can be created.
base::Expected<std::string> run_apart(const std::function<base::Expected<std::string>()>& work,
                                      base::Duration deadline, int interrupt = -1);

} // namespace restart
