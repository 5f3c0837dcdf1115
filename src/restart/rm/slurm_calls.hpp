// The functions of libslurm that restartd calls, as pointers of the same names within this namespace, and the
// library, loaded when Slurm is the resource manager: with LSF there is none. Files that call them include
// this, and write no "::" in front; a function missing from the list does not link.
#pragma once

#include "base/expected.hpp"

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>

#include <string>

namespace restart {

#define RAIL_SLURM_CALLS(CALL)                                                                               \
    CALL(slurm_free_assoc_mgr_info_msg)                                                                      \
    CALL(slurm_free_ctl_conf)                                                                                \
    CALL(slurm_free_job_array_resp)                                                                          \
    CALL(slurm_free_job_info_msg)                                                                            \
    CALL(slurm_free_node_info_msg)                                                                           \
    CALL(slurm_free_partition_info_msg)                                                                      \
    CALL(slurm_free_submit_response_response_msg)                                                            \
    CALL(slurm_get_select_nodeinfo)                                                                          \
    CALL(slurm_init)                                                                                         \
    CALL(slurm_init_job_desc_msg)                                                                            \
    CALL(slurm_init_update_node_msg)                                                                         \
    CALL(slurm_kill_job)                                                                                     \
    CALL(slurm_list_append)                                                                                  \
    CALL(slurm_list_create)                                                                                  \
    CALL(slurm_list_destroy)                                                                                 \
    CALL(slurm_list_iterator_create)                                                                         \
    CALL(slurm_list_iterator_destroy)                                                                        \
    CALL(slurm_list_next)                                                                                    \
    CALL(slurm_load_assoc_mgr_info)                                                                          \
    CALL(slurm_load_ctl_conf)                                                                                \
    CALL(slurm_load_job)                                                                                     \
    CALL(slurm_load_jobs)                                                                                    \
    CALL(slurm_load_node)                                                                                    \
    CALL(slurm_load_node_single)                                                                             \
    CALL(slurm_load_partitions)                                                                              \
    CALL(slurm_notify_job)                                                                                   \
    CALL(slurm_requeue2)                                                                                     \
    CALL(slurm_strerror)                                                                                     \
    CALL(slurm_submit_batch_job)                                                                             \
    CALL(slurm_update_job)                                                                                   \
    CALL(slurm_update_node)

#define RAIL_SLURM_POINTER(name) extern decltype(&::name) name;
RAIL_SLURM_CALLS(RAIL_SLURM_POINTER)
#undef RAIL_SLURM_POINTER

// Finds them all in the library of this name, which stays loaded; to be called before any of them, by one
// thread; all or, with an error, none. Errors: Code::not_found when the library cannot be loaded, Code::unfit
// when it lacks a function.
base::Expected<void> load_slurm_calls(const std::string& library);

// The name of the library that this was compiled for, "libslurm.so.38".
const char* slurm_library();

} // namespace restart
