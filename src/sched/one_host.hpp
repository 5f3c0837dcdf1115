// The place of a job of one host, in one pass over the hosts and without a search: cheap enough for thousands
// of them in one cycle of a scheduler.
#pragma once

#include "sched/ask/index.hpp"
#include "sched/ask/request.hpp"
#include "sched/ask/snapshot.hpp"

#include <cstdint>
#include <optional>

namespace sched {

struct OneHost {
    std::uint32_t host = 0;
    std::uint32_t left = 0; // other hosts of its unit that any job might take
    bool idle = true;       // no job is on it yet
    bool breaks = false;    // its unit was wholly free
    // Where the fabric has NVLink domains:
    bool breaks_domain = false; // its domain was wholly free
    std::uint32_t left_in_domain = 0;
};

// The host that place() chooses for a request of one (its objective from term 5 on: rails, health, the hosts
// it had, wholly free domains and units spared, the tightest), with one more term where hosts are shared:
// before fragmentation counts, hosts in use already (HostState::mixed) come before idle ones, so that a small
// job takes no host from gangs where another has room. Nothing: no host is a candidate. Of the request
// `shared` and `had` are looked at. Linear in the hosts.
std::optional<OneHost> best_host(const PlacementIndex& index, const Snapshot& snapshot,
                                 const Request& request);

} // namespace sched
