#include "restart/run/own_job.hpp"

namespace restart::run {

base::Expected<std::unique_ptr<OwnJob>> own_job(const Lookup& get) {
    const bool slurm = get("SLURM_JOB_ID").has_value(), lsf = get("LSB_JOBID").has_value();
    if (slurm || lsf) return slurm ? own_slurm_job(get) : own_lsf_job(get);
    return base::Error{base::Code::usage, "SLURM_JOB_ID is not set, and LSB_JOBID neither: run it in the "
                                          "script of a job (sbatch, bsub)"};
}

} // namespace restart::run
