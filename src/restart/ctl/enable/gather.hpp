// Asks this host, slurmctld and the slurmds what `railctl enable` and `disable` need to know. Changes
// nothing.
#pragma once

#include "restart/ctl/enable/facts.hpp"

#include <string>
#include <string_view>

namespace restart::enable {

struct Ask {
    std::string config, url; // --config, --url
    std::string slurm_conf;  // --slurm-conf; empty: $SLURM_CONF, else /etc/slurm/slurm.conf
    std::string shadow_dir;  // --shadow-dir; empty: where it is installed
    bool this_host = false;  // only what this host has: nothing else is asked
};

Facts gather(const Ask& ask);

doctor::Facts gather_doctor(const Ask& ask);

// The parts that change while a plan is carried out, read again.
void ask_controllers(Facts& facts);
void ask_nodes(Facts& facts);

// Hosts of controllers that answer, from what `scontrol ping` prints.
std::vector<std::string> up_in(std::string_view ping);

} // namespace restart::enable
