// Which host and rail a process of an MPI program is: a process a rail on each host, by its launcher's words.
// Pure.
#pragma once

#include "base/expected.hpp"

#include <functional>

namespace check::mpi {

// As the launcher tells, before MPI is begun.
struct Local {
    int rank = 0; // among this host's processes: its rail
    int size = 1; // processes on this host
};

struct Seat {
    int host = 0, rail = 0;
    int hosts = 1, rails = 1;
    int rank_of(int of_host, int of_rail) const { return of_host * rails + of_rail; }
};

// `get` reads the environment: of Open MPI's mpirun, or of srun. Errors: Code::usage, with how to start it.
base::Expected<Local> local_of(const std::function<const char*(const char*)>& get);

// Ranks are in blocks of hosts, as srun and mpirun give them. Errors: Code::usage when this one's are not.
base::Expected<Seat> seat_of(int rank, int size, const Local& local);

} // namespace check::mpi
