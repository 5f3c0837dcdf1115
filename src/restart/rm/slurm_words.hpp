// Slurm's terms for RmWords. Needs nothing of Slurm.
#pragma once

#include "restart/core/facts/rm.hpp"

namespace restart {

inline RmWords slurm_words() {
    return {"slurmctld",
            "scontrol",
            "an allocation of salloc or srun cannot be requeued, only batch jobs (sbatch) can",
            "slurmctld does not know the flag (JobSubmitPlugins lacks rail)",
            "AdminLevel=Operator in sacctmgr",
            "SlurmUser, AdminLevel=Administrator in sacctmgr",
            "coordinators of its account (sacctmgr)",
            "PrivateData=jobs in slurm.conf",
            "PrivateData=nodes in slurm.conf",
            "PrivateData=events in slurm.conf"};
}

} // namespace restart
