// sched::place: which hosts a gang gets, in which order, and why. Pure: no I/O, no clock, no vendor's types.
//
// The objective, lexicographic (most important first):
//   1 all nodes at once, of a range as many as fit; required in, excluded and unhealthy (health 0) out; the
//     span is kept, no segment is split over the parts that keep it whole (segments.hpp), and the hosts kept
//     for restarts stay free
//   2 smallest top tier (one unit, one pod, the fabric as far as links join it, then anything)
//   3 fewest pods   4 fewest units   5 fewest NVLink domains, where the fabric has any; a host without one
//     counts as one   6 rail alignment   7 soft avoidance (sum of 1 - health, in thousandths)
//   8 of a job that starts again: most of the hosts that it had before (Request::had)
//   9 least fragmentation left behind: wholly free domains are spared, then wholly free units, then the
//     tightest fit in domains, then in units
//  10 stable order: of equals the one that comes first in the fabric's order; of a unit's hosts those in use
//     already (HostState::mixed) before idle ones
// Whether a gang fits is decided exactly (fit.hpp); terms 2 to 9 are exact while the budget lasts
// (budget.hpp, search.hpp, choose.hpp, segmented.hpp, nested.hpp, keep.hpp), and the same each time. Host
// indices are those of the fabric. A host without a unit counts as a unit of its own (index.hpp).
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
    std::uint32_t tier = 0; // 0 one unit, 1 one pod, 2 more, 3 parts that no link joins
    std::uint32_t pods = 0;
    std::uint32_t units = 0;
    std::uint32_t misaligned_rails = 0; // rails whose HCAs do not all meet within `tier`
    double avoidance = 0;               // sum over the hosts of 1 - health
    std::uint32_t broken_units = 0;     // wholly free units of which a part was taken
    std::uint32_t left_over = 0;        // free hosts left in the units that were touched
    std::uint32_t moved = 0;          // hosts that the job did not have before; counts before the broken ones
    std::uint32_t domains = 0;        // 0 where the fabric has none, as are the other two of domains
    std::uint32_t broken_domains = 0; // wholly free domains of which a part was taken; before broken_units
    std::uint32_t left_in_domains = 0; // free hosts left in the domains that were touched; before left_over
    bool operator==(const Score&) const = default;
};

struct Placement {
    std::vector<std::uint32_t> hosts; // in rank order, then the spares (rank_order.hpp)
    std::uint32_t spares = 0;         // the last ones of `hosts`
    Score score;
    // The search was complete: no placement has a better score. Otherwise this is the best that was found.
    bool exact = true;
    Fewest fewest;                    // below which no place of this tier is; those of `score` where exact
    std::vector<std::string> reasons; // why here: sentences for people
};

// Places on one fabric many times: computes once what depends on the fabric only. Refers to the fabric, which
// must outlive it, but after construction reads only the hosts' names: the rest may be freed. Its functions
// are const, take no lock and throw nothing.
class Placer {
public:
    explicit Placer(const topo::Fabric& fabric) : fabric_(fabric), index_(fabric) {}

    // Errors: Code::unfit with the sentence that says what blocks the job, now or for ever ("can never run");
    // Code::usage for a request that contradicts itself (nodes 0, a host both required and excluded, more
    // hosts required than nodes, nothing but spares, segments that do not divide) or a snapshot of another
    // fabric; Code::internal when memory ran out. A request can be met some day exactly when it can be with
    // Snapshot::all_free.
    // `budget` limits the search for the best place; a gang that fits is placed even when nothing is left.
    base::Expected<Placement> place(const Snapshot& snapshot, const Request& request, Budget& budget) const;
    base::Expected<Placement> place(const Snapshot& snapshot, const Request& request) const; // Budget::of

    // Whether place() would find a place, in time linear in the hosts, but for what only a search tells
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
