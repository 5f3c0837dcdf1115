// What restartd shows: its state and journal as the answers of the reading routes (wire/status.hpp). Pure:
// everything is given.
#pragma once

#include "restart/core/note.hpp"
#include "restart/core/state.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/journal.hpp"
#include "restart/wire/status.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace restart {

Status status_of(const State& state, const DriverStatus& status);

// One job's story; `placement` is that of situation.hpp.
JobExplanation explain_job(const State& state, const DriverStatus& status, std::uint32_t job,
                           boost::json::object placement, const std::vector<Note>& notes);
// The same for a host.
HostExplanation explain_host(const State& state, const DriverStatus& status, const std::string& host,
                             const std::vector<Note>& notes);

// `state` tells the names of the jobs that are still there.
History history_of(const State& state, const std::vector<Note>& notes, std::vector<StoredAction> actions);

} // namespace restart
