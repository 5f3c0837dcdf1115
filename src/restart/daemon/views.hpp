// What restartd shows: its state and journal as the JSON of the reading routes (restartd(8), PROTOCOL).
// Pure: everything is given. Times are seconds since the epoch, durations seconds.
#pragma once

#include "base/json.hpp"
#include "restart/core/note.hpp"
#include "restart/core/state.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/journal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restart {

// {"v":1,"time":…,"observe_only":…,"resource_manager":{…},"journal":{…},"witnesses":{…},
//  "installation":{"missing":[…]},"drained_by_railyard":N,"hosts":[…],"jobs":[…],"incidents":[…]}
std::string status_json(const State& state, const DriverStatus& status);

// {"v":1,"job":{…}|null,"placement":{…},"incidents":[…],"timeline":[…]}: one job's story. `placement` is that
// of situation.hpp.
std::string explain_job_json(const State& state, const DriverStatus& status, std::uint32_t job,
                             boost::json::object placement, const std::vector<Note>& notes);
// The same for a host: {"v":1,"host":{…}|null,"incidents":[…],"timeline":[…]}
std::string explain_host_json(const State& state, const DriverStatus& status, const std::string& host,
                              const std::vector<Note>& notes);

// {"v":1,"timeline":[…],"actions":[…]}
std::string history_json(const State& state, const std::vector<Note>& notes,
                         const std::vector<StoredIntent>& intents);

} // namespace restart
