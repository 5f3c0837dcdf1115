// The words and the environment of one launch: the same command on other hosts. Pure.
//
// The environment describes an allocation of the step's hosts alone, in the order of ranks. From it
// spank_rail.so hands an srun, also one in a script, its list of hosts (spank_rail(8), ORDER OF RANKS); where
// it would leave them to Slurm, which would use spares and hosts that were left, an srun is told them by
// --nodelist, in Slurm's order. mpirun of Open MPI finds no other host. Slurm 22.05's PMIx takes a node's
// number in the step for its number in SLURM_JOB_NODELIST (pmixp_dmdx.c): ranks of a step that is not on the
// first of these, in their order, would wait for each other for ever.
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

// What railrun's caller gave it.
struct Given {
    Words words;          // the command
    Lookup get;           // the environment
    bool ordered = false; // spank_rail.so has made the job's lists of ranks and spares
};

struct Started {
    Words words;
    std::map<std::string, std::optional<std::string>> environment; // changes; none: unset
    std::string hostfile;                                          // the text of `hostfile`
};

// Whether the command can be started on hosts that railrun chooses. Errors (Code::usage) name the option of
// the launcher, or the variable, that chooses hosts itself, and the way out.
base::Expected<void> check_command(const Given& given, const Seats& seats);

// The command on these seats of the allocation, which is in Slurm's order. `hostfile`: the path at which
// Open MPI is to find the hosts.
Started command_on(const Given& given, const Seats& seats, const Hosts& allocation,
                   const std::string& hostfile);

} // namespace restart::run
