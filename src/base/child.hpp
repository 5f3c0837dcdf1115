// Other programs: their start, and their output within a time. No shell is between: the words are a program's
// arguments as they are.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace base {

struct Start {
    enum class Errors { nowhere, with_output, as_ours };

    int output = -1; // the descriptor that becomes its standard output
    Errors errors = Errors::nowhere;
    char* const* environment = nullptr; // null: that of this process
    bool own_group = false;             // whether it leads a process group
};

// Starts the program, which is looked for on PATH unless it is named by its path, and returns its process,
// which the caller waits for. It gets no input, nothing else that this process has open, and signals as in a
// new process. posix_spawn and not fork: fork is unsafe in a process that has memory registered with an HCA.
// Errors, without the program's name: Code::not_found: there is no such program; Code::unavailable: another
// reason why it cannot be started.
Expected<pid_t> start_program(std::vector<std::string> words, const Start& how);

// Runs the program as start_program() and returns what it printed on standard output. Its standard error goes
// nowhere. Variables of the environment whose "NAME=VALUE" begins
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
