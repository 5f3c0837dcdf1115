// The environment of a job's line, as spank_rail sets it for a batch script: flags, the order of hosts for
// launchers, the HCAs of its host. Pure except for view_of(), which reads files.
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "restart/lsf/allocation.hpp"
#include "sched/ask/hints.hpp"
#include "spank/rank_lists.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace restart::lsf {

// Changes of the environment by name; no value: unset.
using Changes = std::map<std::string, std::optional<std::string>>;

// RAIL_SPAN and so on, RAIL_JOB_ID, RAIL_RESTART_COUNT and RAIL_CKPT_SOCKET.
Changes job_variables(const sched::Hints& hints, base::JobId job, std::uint32_t starts_before,
                      const std::string& socket);

// RAIL_NODELIST, RAIL_SPARE_NODELIST, RAIL_NUM_NODES, RAIL_HOSTFILE (`hostfile`; empty: none); and for
// launchers, which may not support LSF or features missing from its engine, the hosts in order and `agent`,
// by which they start their daemons on the others: Open MPI 4 and 5 (PRRTE), MPICH and Intel MPI (Hydra).
// Launcher variables that the user has set are kept, and RAIL_LAUNCHERS names those that were set here, as
// under Slurm: an outer job's are unset.
Changes order_variables(const spank::RankLists& lists, const std::string& hostfile, const std::string& agent,
                        const Lookup& get);

// The text of the host file: one line per slot, in the order of ranks.
std::string hostfile_of(const spank::RankLists& lists, const Allocation& allocation);

// The ranks and spares of an allocation, by the fabric file in railyard.conf; if none can be read, LSF's
// order, with the last hosts as spares. `why`: why it could not be read; empty: no problem.
spank::RankLists lists_of(const Allocation& allocation, const sched::Hints& hints, const std::string& fabric,
                          std::string& why);

// The variables that depend on `host`: UCX_NET_DEVICES, NCCL_IB_HCA and so on; inherited ones that Railyard
// set on another host are unset. `run_folder` stores this host's part of the fabric; `alone`: the line runs
// on no other host, and files of this host may be named. `why`: why nothing is set; empty: not requested, or
// no problem.
Changes host_variables(const std::string& host, const std::string& run_folder, bool alone, const Lookup& get,
                       std::string& why);

// LD_PRELOAD with librailucx, if RAIL_UCX requests it and the library exists.
Changes ucx_variables(const std::string& library, const Lookup& get);

} // namespace restart::lsf
