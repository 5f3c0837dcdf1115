// sched::place: which hosts a gang gets, in which order, and why. Pure: no I/O, no clock, no vendor types.
//
// The objective, lexicographic (most important first):
//   1 all nodes at once, as many of a range as fit; required hosts in, excluded and unhealthy (health 0) ones
//     out; the span is kept, no segment is split over the parts that keep it whole (segments.hpp), and the
//     hosts kept for restarts stay free
//   2 smallest top tier (one unit, one pod, the connected part of the fabric, then anything)
//   3 fewest pods   4 fewest units   5 fewest NVLink domains, where the fabric has any; a host without one
//     counts as one   6 rail alignment   7 soft avoidance (sum of 1 - health, in thousandths)
//   8 for a restarted job: most of its previous hosts (Request::had)
//   9 least fragmentation left behind: wholly free domains are spared, then wholly free units, then the
//     tightest fit in domains, then in units
//  10 stable order: of equals, the first in the fabric's order; within a unit, hosts in use
//     (HostState::mixed) before idle ones
// Whether a gang fits is decided exactly (fit.hpp); terms 2 to 9 are exact while the budget lasts
// (budget.hpp, search.hpp, choose.hpp, segmented.hpp, nested.hpp, keep.hpp), and deterministic. Host indices
// are those of the fabric. A host without a unit counts as a unit of its own (index.hpp).
#pragma once

#include "base/expected.hpp"
#include "sched/ask/index.hpp"
#include "sched/ask/request.hpp"
#include "sched/ask/snapshot.hpp"
#include "sched/search/bounds.hpp"
#include "sched/search/budget.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {

struct Score {
    std::uint32_t tier = 0; // 0 one unit, 1 one pod, 2 more, 3 parts not connected by links
    std::uint32_t pods = 0;
    std::uint32_t units = 0;
    std::uint32_t misaligned_rails = 0; // rails whose HCAs do not all meet within `tier`
    double avoidance = 0;               // sum over the hosts of 1 - health
    std::uint32_t broken_units = 0;     // wholly free units that are partly taken
    std::uint32_t left_over = 0;        // free hosts left in the units used
    std::uint32_t moved = 0;            // hosts that the job did not have before; ranks before broken_domains
    std::uint32_t domains = 0;          // 0 if the fabric has none, like the other two domain terms
    std::uint32_t broken_domains = 0;  // wholly free domains that are partly taken; ranks before broken_units
    std::uint32_t left_in_domains = 0; // free hosts left in the domains used; ranks before left_over
    bool operator==(const Score&) const = default;
};

struct Placement {
    std::vector<std::uint32_t> hosts; // in rank order, then the spares (rank_order.hpp)
    std::uint32_t spares = 0;         // the last ones of `hosts`
    Score score;
    // The search was complete: no placement has a better score. Otherwise this is the best one found.
    bool exact = true;
    Fewest fewest;                    // lower bounds for any place of this tier; equal to `score` if exact
    std::vector<std::string> reasons; // why these hosts: sentences for users
};

// For many placements on one fabric: computes once what depends on the fabric only. The fabric must outlive
// it, but after construction only the hosts' names are read: the rest may be freed. Its functions are const,
// take no lock and throw nothing.
class Placer {
public:
    explicit Placer(const topo::Fabric& fabric) : fabric_(fabric), index_(fabric) {}

    // Errors: Code::unfit with a sentence about what blocks the job, now or for ever ("can never run");
    // Code::usage for a contradictory request (nodes 0, a host both required and excluded, more hosts
    // required than nodes, only spares, segments that do not divide) or a snapshot of another fabric;
    // Code::internal when memory ran out. A request can be met some day exactly if it can be met with
    // Snapshot::all_free. `budget` limits the search for the best place; a gang that fits is placed even if
    // nothing is left.
    base::Expected<Placement> place(const Snapshot& snapshot, const Request& request, Budget& budget) const;
    base::Expected<Placement> place(const Snapshot& snapshot, const Request& request) const; // Budget::of

    // Whether place() would find a place, in time linear in the hosts, except for what only a search can tell
    // (idle_room() in few_idle.hpp). Errors: the same, but without the reason in the sentence.
    base::Expected<void> fits(const Snapshot& snapshot, const Request& request, Budget& budget) const;
    base::Expected<void> fits(const Snapshot& snapshot, const Request& request) const; // Budget::of

    Budget budget() const { return Budget::of(index_.order.size()); }

    const PlacementIndex& index() const { return index_; }

private:
    const topo::Fabric& fabric_;
    PlacementIndex index_;
};

// Placer(fabric).place(snapshot, request).
base::Expected<Placement> place(const topo::Fabric& fabric, const Snapshot& snapshot, const Request& request);

} // namespace sched
