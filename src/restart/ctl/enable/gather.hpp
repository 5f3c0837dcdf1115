// Asks this host, slurmctld and the slurmds what `railctl enable` and `disable` plan on. Changes nothing.
#pragma once

#include "restart/ctl/enable/facts.hpp"

#include <string>
#include <string_view>

namespace restart::enable {

struct Ask {
    std::string config, url; // --config, --url
    std::string slurm_conf;  // --slurm-conf; empty: $SLURM_CONF, else /etc/slurm/slurm.conf
    std::string shadow_dir;  // --shadow-dir; empty: where it is installed
    bool this_host = false;  // only what this host has: nobody else is asked
};

Facts gather(const Ask& ask);

doctor::Facts gather_doctor(const Ask& ask);

// The parts that change while an order is carried out, asked again.
void ask_controllers(Facts& facts);
void ask_nodes(Facts& facts);

// Hosts of controllers that answer, in what `scontrol ping` prints.
std::vector<std::string> up_in(std::string_view ping);

} // namespace restart::enable
