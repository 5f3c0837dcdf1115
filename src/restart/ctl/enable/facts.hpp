// What `railctl enable` and `disable` have found out before they plan. Plain data: gather.hpp fills it,
// plan.hpp evaluates it.
#pragma once

#include "base/clock.hpp"
#include "restart/ctl/doctor/facts.hpp"
#include "restart/ctl/enable/slurm_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace restart::enable {

// How slurmctld is made to choose nodes by the fabric.
enum class Way {
    select,   // SelectType=select/rail, before Slurm 24.05: all slurmds change with slurmctld
    shadow,   // the same plugin under the stock one's name, by PluginDir: only slurmctld changes
    topology, // TopologyPlugin=topology/rail, since Slurm 24.05
};

// A node of slurm.conf that has a slurmd.
struct Host {
    std::string name, address;
    std::uint16_t port = 6818;
    bool answers = false;            // its slurmd does
    std::optional<base::Time> since; // when that was started, by its clock
    // As slurmctld reports it; empty while that is away.
    std::string version, state, reason;
    std::optional<base::Time> registered; // the start of the slurmd that last registered
};

struct Facts {
    doctor::Facts doctor;
    std::string this_host; // as printed by `hostname -s`
    bool root = false;
    std::string release; // of the commands here, "22.05.8"

    std::string conf_error;            // why slurm.conf could not be read; empty: it could
    std::vector<TextFile> conf;        // slurm.conf, then what it includes
    std::string unsafe;                // who else could change these files; empty: no one
    std::optional<base::Time> changed; // by us, the last time that slurmds had to restart for it
    std::optional<base::Time> written; // slurm.conf, by anyone
    std::string plugstack;             // its path, even if it does not exist
    std::optional<std::string> plugstack_text;
    std::vector<doctor::PlugstackLine> spank;
    std::optional<std::string> topology_conf; // topology.conf next to slurm.conf
    bool topology_yaml = false;               // whether that file exists, too

    bool controller_up = false;              // slurmctld on this host answers
    std::vector<std::string> backups_up;     // hosts of other controllers that answer
    std::string plugin_dir;                  // PluginDir, from slurm.conf or the build
    std::vector<doctor::PluginFile> plugins; // ours in it
    std::string shadow_dir;                  // where the plugin under the stock one's name is installed
    std::string shadow_release;              // that it is for; empty: it does not exist, or is not a plugin

    std::string railyard_conf; // its path, even if it does not exist
    std::optional<std::string> railyard_text;
    std::string railyard_unsafe; // who else could change it; empty: no one

    std::vector<Host> hosts;
    std::vector<std::string> jobs; // that run
};

} // namespace restart::enable
