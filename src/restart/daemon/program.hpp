// A program of the site that repairs a host (railyard.conf(5), table [repair]).
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <functional>
#include <string>
#include <vector>

namespace restart {

// Runs the program, an absolute path, with its arguments as they are: without a shell. It gets no input, its
// own process group, and signals as in a new process. Returns the last line that is not blank of its output,
// errors included, at most 256 bytes of printable ASCII. What it leaves in the background is not waited for.
// Errors ("PROGRAM: …"; Code::unfit: it ended with status 1; Code::not_found: no such program; Code::io): it
// cannot be started, ended with a status other than 0, or has not ended within `limit`: then it and its group
// are killed, and waited for some seconds at most. When `leave` returns true it is left running and
// Code::unavailable is returned.
base::Expected<std::string> run_program(std::vector<std::string> words, base::Duration limit,
                                        const std::function<bool()>& leave);

} // namespace restart
