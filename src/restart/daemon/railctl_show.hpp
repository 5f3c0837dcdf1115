// restartd's answers as text for people: what railctl prints without --json.
//
// Each takes the parsed answer of one route (restartd(8), PROTOCOL) and the moment it was given; times are
// shown as the clock of this machine has them. Errors (Code::input) name the field that another restartd's
// answer lacks.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <string>
#include <string_view>

namespace restart {

// GET /v1/status. Hosts and jobs with nothing to tell are only counted, unless `all`.
base::Expected<std::string> show_status(std::string_view answer, bool all);

// GET /v1/explain?job=… and ?host=…
base::Expected<std::string> show_explain(std::string_view answer);

// GET /v1/history
base::Expected<std::string> show_history(std::string_view answer);

} // namespace restart
