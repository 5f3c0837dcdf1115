// Which silent hosts' resource manager daemons are asked for a sign of life: a hung kernel keeps its links
// and accepts connections, so neither the fabric nor an unanswered heartbeat distinguishes it from an agent
// that died. Pure; the daemon asks, and passes the answer to step() as HostAsked.
#pragma once

#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/state.hpp"

#include <string>
#include <vector>

namespace restart {

// Hosts in use whose agent has been silent for half of [node_loss] silent or longer, before they are lost.
// None while so many are silent that they are treated as a group: what silences them all would silence the
// answers. O(hosts).
std::vector<std::string> hosts_to_ask(const State& state, base::Time now, const Policy& policy);

// How long to wait for an answer.
base::Duration asking_patience(const Policy& policy);

} // namespace restart
