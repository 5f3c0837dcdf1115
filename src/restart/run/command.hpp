// The words and the environment of one launch: the same command on a different set of hosts. Pure.
//
// The environment describes an allocation of the step's hosts only, in the order of ranks. From it
// spank_rail.so passes srun, also one in a script, its list of hosts (spank_rail(8), ORDER OF RANKS); where
// it would leave the choice to Slurm, which would use spares and excluded hosts, srun gets --nodelist, in
// Slurm's order. Open MPI's mpirun finds no other hosts. Slurm 22.05's PMIx uses a node's number in the step
// as its number in SLURM_JOB_NODELIST (pmixp_dmdx.c): ranks of a step that is not on the first of these, in
// their order, would wait for each other forever.
#pragma once

#include "base/expected.hpp"
#include "restart/run/seats.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace restart::run {

using Lookup = std::function<std::optional<std::string>(const std::string&)>;
using Words = std::vector<std::string>;

// railrun's own input.
struct Given {
    Words words;          // the command
    Lookup get;           // the environment
    bool ordered = false; // spank_rail.so has made the job's lists of ranks and spares
};

struct Started {
    Words words;
    std::map<std::string, std::optional<std::string>> environment; // changes; no value: unset
    std::string hostfile;                                          // the text of `hostfile`
};

// Whether the command can be started on hosts chosen by railrun. Errors (Code::usage) name the launcher's
// option, or the variable, that chooses hosts itself, and the way out.
base::Expected<void> check_command(const Given& given, const Seats& seats);

// The command on these seats of the allocation, which is in Slurm's order. `hostfile`: the path at which Open
// MPI will find the hosts.
Started command_on(const Given& given, const Seats& seats, const Hosts& allocation,
                   const std::string& hostfile);

} // namespace restart::run
