// restartd's answers as text: what railctl prints without --json. Times are shown in this machine's local
// time.
#pragma once

#include "base/expected.hpp"
#include "base/terminal.hpp"
#include "restart/wire/status.hpp"

#include <string>

namespace restart {

// Hosts and jobs with nothing to report are only counted, unless `all`.
std::string show(const Status& status, bool all, const base::Look& look = {});

// Errors (Code::input): the placement lacks a member, which they name.
base::Expected<std::string> show(const JobExplanation& explanation, const base::Look& look = {});

std::string show(const HostExplanation& explanation, const base::Look& look = {});

std::string show(const History& history, const base::Look& look = {});
// A history that continues: with the heading, or later the lines below it. Columns have a width that suits
// most.
std::string show_first(const History& history, const base::Look& look);
std::string show_more(const History& history, const base::Look& look);

std::string show(const RecoveryPlan& plan, const base::Look& look = {});

} // namespace restart
