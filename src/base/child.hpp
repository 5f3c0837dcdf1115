// Starting other programs, and reading their output with a time limit. No shell is involved: the words are
// passed as arguments unchanged.
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

// Starts the program (searched on PATH unless given as a path) and returns its process ID; the caller must
// wait for it. The child gets no input, none of our other open descriptors, and default signal handling.
// posix_spawn rather than fork: fork is unsafe in a process that has memory registered with an HCA. Errors,
// without the program's name: Code::not_found: there is no such program; Code::unavailable: it cannot be
// started for another reason.
Expected<pid_t> start_program(std::vector<std::string> words, const Start& how);

// Runs the program as start_program() and returns what it printed on standard output. Its standard error is
// discarded. Environment variables whose "NAME=VALUE" begins with one of `without` are left out. Errors
// (Code::unavailable, "PROGRAM: …"): it cannot be started, has not ended within `patience` (it is then
// killed), prints more than 64 MiB, or exits with a status other than 0. Code::not_found: there is no such
// program.
Expected<std::string> output_of(std::vector<std::string> words, Duration patience,
                                const std::vector<std::string>& without = {});

struct Ended {
    int status = 0;     // exit status; 128 plus the signal number when a signal ended it
    std::string output; // standard output and errors, in order
};

// Like output_of, for a program whose errors are to be shown and whose exit status matters. `with`:
// environment variables, "NAME=VALUE", that replace those of the same name. If the program does not end
// within `patience`, the error ends with the last line that it printed.
Expected<Ended> run_to_end(std::vector<std::string> words, Duration patience,
                           const std::vector<std::string>& with = {});

} // namespace base
