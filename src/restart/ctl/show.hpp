// restartd's answers as text: what railctl prints without --json. Times are shown in this machine's local
// time.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/status.hpp"

#include <string>

namespace restart {

// Hosts and jobs with nothing to report are only counted, unless `all`.
std::string show(const Status& status, bool all);

// Errors (Code::input): the placement lacks a member; they name it.
base::Expected<std::string> show(const JobExplanation& explanation);

std::string show(const HostExplanation& explanation);

std::string show(const History& history);

std::string show(const RecoveryPlan& plan);

} // namespace restart
