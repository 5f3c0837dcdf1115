// Owners of what libslurm allocates. Only slurm_*.cpp files include this.
#pragma once

#include "restart/rm/slurm_calls.hpp"

#include <memory>

namespace restart {

struct FreeJobs {
    void operator()(job_info_msg_t* message) const { slurm_free_job_info_msg(message); }
};
struct FreeNodes {
    void operator()(node_info_msg_t* message) const { slurm_free_node_info_msg(message); }
};
struct FreePartitions {
    void operator()(partition_info_msg_t* message) const { slurm_free_partition_info_msg(message); }
};
struct FreeConfig {
    void operator()(slurm_conf_t* conf) const { slurm_free_ctl_conf(conf); }
};
struct FreeAssociations {
    void operator()(assoc_mgr_info_msg_t* message) const { slurm_free_assoc_mgr_info_msg(message); }
};
struct FreeAnswers {
    void operator()(job_array_resp_msg_t* answers) const { slurm_free_job_array_resp(answers); }
};
using Jobs = std::unique_ptr<job_info_msg_t, FreeJobs>;
using Answers = std::unique_ptr<job_array_resp_msg_t, FreeAnswers>; // to a request about tasks of an array
using Config = std::unique_ptr<slurm_conf_t, FreeConfig>;
using Partitions = std::unique_ptr<partition_info_msg_t, FreePartitions>;
using Nodes = std::unique_ptr<node_info_msg_t, FreeNodes>;

} // namespace restart
