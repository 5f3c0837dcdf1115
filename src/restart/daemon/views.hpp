// What restartd shows: its state and journal as the answers of the reading routes (wire/status.hpp), as far
// as the user may see it; notes and actions are already limited to that. Pure: everything is passed in.
#pragma once

#include "restart/core/facts/note.hpp"
#include "restart/core/facts/rights.hpp"
#include "restart/core/facts/state.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/journal.hpp"
#include "restart/wire/status.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restart {

Status status_of(const State& state, const DriverStatus& status, const View& view);

// Whether they see what was done with the job, the action, the incident.
bool sees(const State& state, const View& view, const AffectedJob& job);
bool sees(const State& state, const View& view, const Action& action);
bool sees(const State& state, const View& view, const Incident& incident);

// One job's timeline, without its present state if another has the number; `placement` as in situation.hpp.
JobExplanation explain_job(const State& state, const DriverStatus& status, base::JobId job,
                           boost::json::object placement, const std::vector<Note>& notes, const View& view);
// The same for a host.
HostExplanation explain_host(const State& state, const DriverStatus& status, const std::string& host,
                             const std::vector<Note>& notes, const View& view);

// `state` has the names of jobs that still exist.
History history_of(const State& state, const std::vector<Note>& notes, std::vector<StoredAction> actions);

} // namespace restart
