// A job's hosts in the order of its ranks, its spares, and the variables for launchers. Pure.
#pragma once

#include "sched/ask/request.hpp"
#include "spank/environment.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spank {

struct RankLists {
    std::vector<std::string> ranks, spares;
    bool operator==(const RankLists&) const = default;
};

// sched::order_ranks() by name, with one difference: the first of Slurm's hosts stays first. It runs the
// batch script, and scripts assume that it is the host of rank 0 (MASTER_ADDR). So its unit comes first (a
// ring is rotated), and the host comes first in its unit. A spare changes places with a rank in its unit, or
// in its NVLink domain if the fabric has any. `segments`: sizes, smallest first. `hosts`: in Slurm's order.
// If a host is not in the fabric, or with order none, ranks are in Slurm's order; if a host is not in the
// fabric, the last hosts are spares. At least one host is not a spare.
RankLists rank_lists(const topo::Fabric& fabric, const std::vector<std::string>& hosts,
                     const std::vector<std::uint32_t>& segments, std::uint32_t spares,
                     sched::RankOrder order);

// Parses what railrun --preflight prints: RAIL_NODELIST=LIST and RAIL_SPARE_NODELIST=LIST, one per line.
// Nothing if one is missing or invalid.
std::optional<RankLists> read_rank_lists(std::string_view text);

// Whether these are the ranks and spares of a job that has exactly these hosts.
bool same_hosts(const RankLists& lists, const std::vector<std::string>& hosts);

// Slurm's counts "2(x3),1", one for each host. nullopt for other text, or more than 1,048,576 hosts.
std::vector<std::uint32_t> expand_counts(std::string_view text);

// For Open MPI and others: one host per line in the order of ranks, repeated for each of its tasks. `tasks`:
// by host in Slurm's order; all 1 if the total would exceed 1,048,576.
std::string hostfile(const RankLists& lists, const std::vector<std::string>& hosts,
                     const std::vector<std::uint32_t>& tasks);

// For the batch script: RAIL_NODELIST, RAIL_SPARE_NODELIST, RAIL_NUM_NODES and, if there is a file,
// RAIL_HOSTFILE. If ranks are not simply Slurm's hosts in Slurm's order, variables for Open MPI's mpirun are
// also set, unless the user sets a mapping in the environment; RAIL_LAUNCHERS claims these variables as
// RAIL_EXPORTS does.
std::vector<Variable> rank_environment(const RankLists& lists, const std::vector<std::string>& hosts,
                                       const std::string& hostfile, const Lookup& get);

} // namespace spank
