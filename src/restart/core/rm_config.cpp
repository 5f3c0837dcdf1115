#include "restart/core/rm_config.hpp"

#include <algorithm>

namespace restart {

bool RmConfig::takes_flags() const {
    return std::find(job_submit_plugins.begin(), job_submit_plugins.end(), "rail") !=
           job_submit_plugins.end();
}

bool RmConfig::chooses_nodes() const {
    return select_type == "select/rail" || topology_plugin.find("topology/rail") != std::string::npos;
}

std::vector<std::string> missing_parts(const RmConfig& config) {
    std::vector<std::string> missing;
    if (!config.takes_flags())
        missing.emplace_back(
            "slurmctld does not know the flags of jobs, --restart=auto among them: JobSubmitPlugins lacks "
            "rail (job_submit_rail(8)); no job is started again until it has it");
    if (!config.chooses_nodes())
        missing.emplace_back(
            "slurmctld chooses nodes by itself: neither SelectType=select/rail (Slurm 22.05 to "
            "23.11, select_rail(8)) nor TopologyPlugin=topology/rail (24.05 and later, "
            "topology_rail(8)) is set");
    return missing;
}

} // namespace restart
