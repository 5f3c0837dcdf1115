// Which of the hosts this process measures for, according to its launcher: srun, mpirun or a list. Pure.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace check::net {

struct Launch {
    std::vector<std::string> hosts; // by rank; the first host's process coordinates
    std::uint32_t rank = 0;
    std::string job; // identifies this launch: its processes derive their meeting ports from it
};

// The user's settings, which take precedence over the launcher's.
struct Said {
    std::string hosts; // "n[1-4]", in rank order; empty: the launcher's
    std::optional<std::uint32_t> rank;
    std::string own_name; // this host's, to find its rank in the list
};

// `get` reads the environment. srun: SLURM_STEP_NODELIST, SLURM_PROCID and SLURM_NTASKS, one task per host.
// Open MPI's mpirun sets ranks, but no list: said.hosts is needed. Errors (Code::usage) name what is missing.
base::Expected<Launch> launch_of(const Said& said, const std::function<const char*(const char*)>& get);

// Where the processes of a job meet by default: eight consecutive ports, of which the first free one is used.
// Below the kernel's usual range for outgoing connections, which begins at 32,768.
std::vector<std::uint16_t> meeting_ports(const std::string& job);

} // namespace check::net
