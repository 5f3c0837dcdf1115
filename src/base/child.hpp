// Another program's output, within a time. No shell is between: the words are its arguments as they are.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <string>
#include <vector>

namespace base {

// Runs the program (looked for on PATH) and returns what it printed on standard output. It gets no input, its
// standard error goes nowhere, and signals are as in a new process. posix_spawn and not fork: fork is unsafe
// in a process that has memory registered with an HCA. Variables of the environment whose "NAME=VALUE" begins
// with one of `without` are left out. Errors (Code::unavailable, "PROGRAM: …"): it cannot be started, has not
// ended within `patience` (then it is killed), prints more than 64 MiB, or ended with another status than 0.
// Code::not_found: there is no such program.
Expected<std::string> output_of(std::vector<std::string> words, Duration patience,
                                const std::vector<std::string>& without = {});

struct Ended {
    int status = 0;     // it ended with; 128 and the number when a signal ended it
    std::string output; // and errors, in their order
};

// As output_of, for a program whose errors are to be shown and whose status says something. `with`: variables
// of its environment, "NAME=VALUE", in place of those of the name. The error of one that has not ended within
// `patience` ends with the last line that it printed.
Expected<Ended> run_to_end(std::vector<std::string> words, Duration patience,
                           const std::vector<std::string>& with = {});

} // namespace base
