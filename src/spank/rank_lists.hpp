// The hosts of a job in the order of their ranks, its spares, and the variables for launchers. Pure.
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

// sched::order_ranks() by name, with one change: the first of Slurm's hosts stays first. Scripts take it for
// the host of rank 0 (MASTER_ADDR), and it runs the batch script. So its unit comes first, in a ring by
// turning it, and it comes first in its unit; as a spare it changes places with a rank of its unit, or of its
// NVLink domain where the fabric has any, where there is one. `segments`: sizes, smallest first. `hosts`: in
// Slurm's order. A host that the fabric does not know, or order none: ranks are in Slurm's order, and, if the
// fabric does not know them, the last are spares. At least one host is not a spare.
RankLists rank_lists(const topo::Fabric& fabric, const std::vector<std::string>& hosts,
                     const std::vector<std::uint32_t>& segments, std::uint32_t spares,
                     sched::RankOrder order);

// As railrun --preflight prints them: RAIL_NODELIST=LIST and RAIL_SPARE_NODELIST=LIST, a line each. Nothing
// where one is missing or is no list.
std::optional<RankLists> read_rank_lists(std::string_view text);

// Whether these are the ranks and spares of a job that has exactly these hosts.
bool same_hosts(const RankLists& lists, const std::vector<std::string>& hosts);

// Slurm's counts "2(x3),1": by host. nullopt for other text, or more than 1,048,576 hosts.
std::vector<std::uint32_t> expand_counts(std::string_view text);

// For Open MPI and others: a host a line in the order of ranks, once for each of its tasks. `tasks` by host
// of Slurm's order; all 1 where there would be more than 1,048,576.
std::string hostfile(const RankLists& lists, const std::vector<std::string>& hosts,
                     const std::vector<std::uint32_t>& tasks);

// For the batch script: RAIL_NODELIST, RAIL_SPARE_NODELIST, RAIL_NUM_NODES and, where there is a file,
// RAIL_HOSTFILE. Where ranks are not just Slurm's hosts in Slurm's order, variables for Open MPI's mpirun are
// set as well, unless the user maps ranks in the environment; RAIL_LAUNCHERS then claims its variables as
// RAIL_EXPORTS does.
std::vector<Variable> rank_environment(const RankLists& lists, const std::vector<std::string>& hosts,
                                       const std::string& hostfile, const Lookup& get);

} // namespace spank
