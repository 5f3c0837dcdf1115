// From libslurm's records to ours: pure, so that it is tested without a cluster. Only slurm_*.cpp files and
// their tests include this.
#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/expected.hpp"
#include "base/host_state.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/rm/slurm_calls.hpp"

#include <slurm/slurm_errno.h>

#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// How far a node may be given to jobs, by its state with flags, if it responds.
base::HostState use_of(std::uint32_t state);

// `user` returns the name of the user with a number.
RmNode read_node(const node_info_t& node, const std::function<std::string(std::uint32_t)>& user);
RmJob read_job(const job_info_t& job); // a component of a heterogeneous job on its own

// Those of these records that have not ended, or ended in a failure of their own from which --restart=auto
// may restart them; heterogeneous jobs as a whole: under their leader's id and with its values for what
// exists once, on the hosts of all components, and in the earliest phase of them. A heterogeneous job has
// ended when its leader has.
std::vector<RmJob> read_whole_jobs(const job_info_t* jobs, std::size_t count);

// The name with which to requeue the record: one that means to slurmctld only this record, or the whole
// heterogeneous job.
std::string requeue_name(const job_info_t& job);

// The name by which the user knows the record: "12", "12_3", "12_[4-9%2]", "12+1".
std::string name_of_job(const job_info_t& job);

// The job as Slurm's calls take it. Errors (Code::input): not a job of Slurm, with 32 bits and no index.
base::Expected<std::uint32_t> slurm_id(base::JobId job);
RmConfig read_config(const slurm_conf_t& conf);

// slurmctld's data about this user; empty if it knows no user of that name.
RmUser read_user(const assoc_mgr_info_msg_t& known, std::string_view name);

// Fields of libslurm: a text that may be absent, seconds since the epoch, and a host list, empty if it cannot
// be read.
std::string text_of(const char* text);
base::Time time_of(std::time_t seconds);
std::vector<std::string> names_of(const char* list);
std::vector<std::string> words_of(std::string_view list); // separated by commas, without blanks

// When its time limit ends the running job; none: no limit.
std::optional<base::Time> limit_of(const job_info_t& job);

// squeue's term for what a job waits for: "Resources".
std::string pending_reason(const job_info_t& job);

// Slurm's error number as ours: "slurm_update_node n003: Invalid node name specified".
base::Error slurm_error(std::string_view what, int number);

// The exclusion list with `more` added and `less` removed, folded, "" when nothing is left; none if the list
// does not change. A list that cannot be read is kept unchanged at the front.
std::optional<std::string> merged_exclusion(std::string_view before, const std::vector<std::string>& more,
                                            const std::vector<std::string>& less = {});

// The required list without `excluded`; none if it names none of them. An empty text clears it.
std::optional<std::string> rewritten_requirement(std::string_view before,
                                                 const std::vector<std::string>& excluded);

} // namespace restart
