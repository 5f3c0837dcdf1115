// A program of the site that repairs a host (railyard.conf(5), table [repair]).
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <functional>
#include <string>
#include <vector>

namespace restart {

// Runs the program, an absolute path, with its arguments as they are: no shell is between. It gets no input,
// a process group of its own, and signals as in a new process. Returns the last line that is not blank of
// what it printed, errors too, at most 256 bytes of printable ASCII. What it leaves behind in the background
// is not waited for. Errors ("PROGRAM: …"; Code::unfit: it ended with status 1; Code::not_found: there is no
// such program; Code::io): it cannot be started, ended with another status than 0, or has not ended within
// `limit`: then it and its group are killed, and waited for some seconds at most. When `leave` says so it is
// left running and Code::unavailable is returned.
base::Expected<std::string> run_program(std::vector<std::string> words, base::Duration limit,
                                        const std::function<bool()>& leave);

} // namespace restart
