// Which of the hosts this process measures for, as its launcher says: srun, mpirun or a list. Pure.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace check::net {

struct Launch {
    std::vector<std::string> hosts; // by rank; the first one's process brings the others together
    std::uint32_t rank = 0;
    std::string job; // what tells this start from others: where its processes meet is taken from it
};

// What the user said; it comes before what a launcher says.
struct Said {
    std::string hosts; // "n[1-4]", in the order of ranks; empty: the launcher's
    std::optional<std::uint32_t> rank;
    std::string own_name; // this host's, by which its rank is found in the list
};

// `get` reads the environment. srun: SLURM_STEP_NODELIST, SLURM_PROCID and SLURM_NTASKS, one task a host.
// mpirun of Open MPI has ranks, but no list: said.hosts is needed. Errors (Code::usage) name what is missing.
base::Expected<Launch> launch_of(const Said& said, const std::function<const char*(const char*)>& get);

// Where the processes of a job meet, when nobody said: eight ports that follow, of which the first free one
// is taken. Below the kernel's usual range for outgoing connections, which begins at 32,768.
std::vector<std::uint16_t> meeting_ports(const std::string& job);

} // namespace check::net
