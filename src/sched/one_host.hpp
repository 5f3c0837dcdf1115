// The placement of a one-host job, in one pass over the hosts and without a search: cheap enough for
// thousands of them in one scheduler cycle.
#pragma once

#include "sched/ask/index.hpp"
#include "sched/ask/request.hpp"
#include "sched/ask/snapshot.hpp"

#include <cstdint>
#include <optional>

namespace sched {

struct OneHost {
    std::uint32_t host = 0;
    std::uint32_t left = 0; // other hosts of its unit that are free for any job
    bool idle = true;       // no job is on it yet
    bool breaks = false;    // its unit was wholly free
    // If the fabric has NVLink domains:
    bool breaks_domain = false; // its domain was wholly free
    std::uint32_t left_in_domain = 0;
};

// The host that place() chooses for a request of one host (its objective from term 5 on: rails, health,
// previous hosts, wholly free domains and units spared, the tightest fit), with one additional term if hosts
// are shared: before fragmentation, hosts in use (HostState::mixed) come before idle ones, so a small job
// takes no host from gangs if another one has room. Nothing: no host is a candidate. Only `shared` and `had`
// of the request are used. Linear in the hosts.
std::optional<OneHost> best_host(const PlacementIndex& index, const Snapshot& snapshot,
                                 const Request& request);

} // namespace sched
