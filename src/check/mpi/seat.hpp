// Which host and rail a process of an MPI program belongs to: one process for each rail on each host,
// according to its launcher. Pure.
#pragma once

#include "base/expected.hpp"

#include <functional>

namespace check::mpi {

// As given by the launcher, before MPI starts.
struct Local {
    int rank = 0; // among this host's processes: its rail
    int size = 1; // processes on this host
};

struct Seat {
    int host = 0, rail = 0;
    int hosts = 1, rails = 1;
    int rank_of(int of_host, int of_rail) const { return of_host * rails + of_rail; }
};

// `get` reads the environment: that of Open MPI's mpirun, or of srun. Errors: Code::usage, with how to start
// it.
base::Expected<Local> local_of(const std::function<const char*(const char*)>& get);

// Ranks are in blocks of hosts, as srun and mpirun assign them. Errors: Code::usage if this rank is not.
base::Expected<Seat> seat_of(int rank, int size, const Local& local);

} // namespace check::mpi
