// restartd's answers as text for people: what railctl prints without --json. Times are shown as the clock of
// this machine has them.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/status.hpp"

#include <string>

namespace restart {

// Hosts and jobs with nothing to tell are only counted, unless `all`.
std::string show(const Status& status, bool all);

// Errors (Code::input): the placement lacks a member; they name it.
base::Expected<std::string> show(const JobExplanation& explanation);

std::string show(const HostExplanation& explanation);

std::string show(const History& history);

} // namespace restart
