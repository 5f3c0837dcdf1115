// Which settings of slurm.conf switch placement on and off. Pure.
#pragma once

#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/plan.hpp"

#include <string>
#include <utility>
#include <vector>

namespace restart::enable {

// Which of our settings are in slurm.conf.
struct Switched {
    bool select = false, shadow = false, topology = false, submit = false;
    bool chooses() const { return select || shadow || topology; }
};
Switched switched(const SlurmText& conf, const std::string& shadow_dir);
// The same for the running slurmctld, by `scontrol show config`.
Switched switched(const std::map<std::string, std::string>& running, const std::string& shadow_dir);

// Settings with the values that they should have; empty: the setting is removed.
std::vector<std::pair<std::string, std::string>> wanted_settings(const Facts& facts, bool on, Way way);

// The way of the release, or the one that is switched on.
Way usual_way(const Facts& facts, bool on);

// "22.05.8" as 2205; 0 if it is not a release.
int release_number(const std::string& release);

} // namespace restart::enable
