// Which hosts of an allocation run a step, and which are spares. Pure.
#pragma once

#include "base/expected.hpp"

#include <set>
#include <string>
#include <vector>

namespace restart::run {

using Hosts = std::vector<std::string>;

struct Seats {
    Hosts ranks;  // in the order of ranks
    Hosts spares; // in the order of use
    bool operator==(const Seats&) const = default;
};

// The seats of a job's first launch: the lists that spank_rail made for its script, if the job still has
// exactly these hosts; else the allocation's hosts in Slurm's order, the last `spares` of them as spares.
// Hosts of `given` that the job has lost since are replaced. Errors: Code::unfit if no spare is left for one;
// Code::input for an empty allocation.
base::Expected<Seats> first_seats(const Hosts& allocation, const Seats& given, std::size_t spares);

// The first spare that is not in `left` replaces each rank host that is in it, so that all other ranks stay
// where they are. Errors (Code::unfit): no spare is left for a host, which is named.
base::Expected<Seats> without(const Seats& seats, const std::set<std::string>& left);

// These ranks in an allocation: its other hosts, except those in `left`, are spares. Errors (Code::input): a
// host that the job does not have, or a duplicate.
base::Expected<Seats> with_ranks(Hosts ranks, const Hosts& allocation, const std::set<std::string>& left);

// The `hosts` that are not in the allocation.
std::set<std::string> missing(const Hosts& hosts, const Hosts& allocation);

} // namespace restart::run
