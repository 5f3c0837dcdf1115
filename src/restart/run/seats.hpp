// Which hosts of an allocation run a step, and which stand by. Pure.
#pragma once

#include "base/expected.hpp"

#include <set>
#include <string>
#include <vector>

namespace restart::run {

using Hosts = std::vector<std::string>;

struct Seats {
    Hosts ranks;  // in the order of ranks
    Hosts spares; // in the order in which they are taken
    bool operator==(const Seats&) const = default;
};

// The seats of a job's first launch: the lists that spank_rail made for its script where the job still has
// these hosts and no others, else the allocation's hosts in Slurm's order, the last `spares` of them as
// spares. `given` may name hosts that the job has lost since: then they are replaced.
// Errors: Code::unfit when no spare is left for one; Code::input for an empty allocation.
base::Expected<Seats> first_seats(const Hosts& allocation, const Seats& given, std::size_t spares);

// Each rank host of `left` gives its place to the first spare that is not in `left`, so that all other ranks
// stay where they are. Errors (Code::unfit): no spare is left for a host, which is named.
base::Expected<Seats> without(const Seats& seats, const std::set<std::string>& left);

// These ranks in an allocation: its other hosts are spares, but for those of `left`. Errors (Code::input): a
// host that the job does not have, or one named twice.
base::Expected<Seats> with_ranks(Hosts ranks, const Hosts& allocation, const std::set<std::string>& left);

// Those of `hosts` that the allocation lacks.
std::set<std::string> missing(const Hosts& hosts, const Hosts& allocation);

} // namespace restart::run
