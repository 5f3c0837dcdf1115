// What a job's line finds in its environment, as spank_rail gives it to a batch script: flags, the order of
// hosts for launchers, the HCAs of its host. Pure but for view_of(), which reads files.
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

// Changes of the environment by name; none: unset.
using Changes = std::map<std::string, std::optional<std::string>>;

// RAIL_SPAN and so on, RAIL_JOB_ID, RAIL_RESTART_COUNT and RAIL_CKPT_SOCKET.
Changes job_variables(const sched::Hints& hints, base::JobId job, std::uint32_t starts_before,
                      const std::string& socket);

// RAIL_NODELIST, RAIL_SPARE_NODELIST, RAIL_NUM_NODES, RAIL_HOSTFILE (`hostfile`; empty: there is none), and
// for launchers, which may know nothing of LSF or of what its engine lacks, the hosts in their order and
// `agent`, by which they start their daemons on the others: Open MPI 4 and 5 (PRRTE), MPICH and Intel MPI
// (Hydra). Whatever of the latter the user has set stays, and RAIL_LAUNCHERS names what was set, as under
// Slurm: an outer job's is unset.
Changes order_variables(const spank::RankLists& lists, const std::string& hostfile, const std::string& agent,
                        const Lookup& get);

// The text of the host file: a line a slot, in the order of ranks.
std::string hostfile_of(const spank::RankLists& lists, const Allocation& allocation);

// The ranks and spares of an allocation, by the fabric that railyard.conf names; without one that can be read
// in LSF's order, the last hosts spares. `why`: what kept it from being read; empty: nothing.
spank::RankLists lists_of(const Allocation& allocation, const sched::Hints& hints, const std::string& fabric,
                          std::string& why);

// What differs by host, of `host`: UCX_NET_DEVICES, NCCL_IB_HCA and so on; another host's of ours, which were
// inherited, are unset. `run_folder` keeps this host's part of the fabric; `alone`: the line runs on no other
// host, and may be named files of this one. `why`: why nothing is set; empty: it is not to be, or all is
// well.
Changes host_variables(const std::string& host, const std::string& run_folder, bool alone, const Lookup& get,
                       std::string& why);

// LD_PRELOAD with librailucx, where RAIL_UCX asks for it and the library is there.
Changes ucx_variables(const std::string& library, const Lookup& get);

} // namespace restart::lsf
