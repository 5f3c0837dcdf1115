// Why a plan cannot be carried out in the present situation: found before anything is changed. Pure.
#pragma once

#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/plan.hpp"

#include <string>
#include <vector>

namespace restart::enable {

std::vector<Obstacle> find_obstacles(const Facts& facts, const Plan& plan);

// Whether the plugins of this way would load here: what `railctl enable --check-host` reports on every host.
std::vector<Obstacle> plugin_obstacles(const Facts& facts, Way way, bool head);

// Hosts of slurm.conf's SlurmctldHost, in order.
std::vector<std::string> controllers(const Facts& facts);
// Those that are not this host.
std::vector<std::string> other_controllers(const Facts& facts);

// Whether hosts get slurm.conf from slurmctld.
bool configless(const Facts& facts);

} // namespace restart::enable
