// sched::lsf::dispatch: which of the gangs waiting in LSF's parking queues start now, on which hosts, and
// what is reserved for the first ones that cannot. Pure: no I/O, no clock.
//
// LSF reserves nothing for a gang that waits in a queue from which nothing starts, so the queue is handled
// here: gangs are taken in LSF's own order, and a gang that fits is started. The first one that does not fit
// is promised the earliest moment at which it fits if every job runs until its limit (the reservation). Later
// gangs start if that does not delay the reservation: they end before it, or the gang still fits at its
// moment next to them (EASY backfill: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem and
// Feitelson, IEEE TPDS 12(6), 2001). For each, its best place and its best place outside the reserved hosts
// are tried; other places that would not delay the reserved gang either are not searched.
//
// Jobs without a limit are assumed to end after all jobs with one, in the order in which they started. So a
// gang that waits for some of them gets no time, but is not delayed by later jobs without a limit. A gang
// that would not fit even then waits for hosts that are drained or down; it has no reservation and is tried
// again each time, in its place in the order. A job over its limit is assumed to need as long again as it has
// overrun, at least a minute.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "sched/ask/hints.hpp"
#include "sched/outlook.hpp"
#include "sched/place.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::lsf {

// A gang that waits only for hosts: the caller leaves out those with an unmet dependency, or that LSF itself
// does not start (a user's limit).
struct WaitingGang {
    base::JobId job{};
    Request request{};     // nodes, most, required and excluded; the rest comes from hints and options
    Hints hints{};         // span with its wait, segment, spares, order
    base::Time eligible{}; // since when it may start: the wait of its span counts from here
    std::optional<base::Duration> limit{}; // run limit (bsub -W); nullopt: none
    bool restart = false;                  // a restart after a failure: may take the hosts kept for restarts
    std::uint32_t slots = 0; // on each host (ptile); 0: the whole host. Only with Options::share_hosts
};

// A job that holds hosts: any running job, gang or not, and a gang that is planned but not running yet.
struct HoldingJob {
    Holder holder{};                    // holder.ends: by its run limit
    std::optional<base::Time> since{};  // when it started; nullopt: planned just now
    std::vector<std::uint32_t> slots{}; // by position in holder.hosts; empty: the whole hosts
};

struct Queue {
    base::Time now{};
    // As reported by LSF, before this pass's plans. A host named by a holding job is in use whatever its
    // state is. A busy or mixed host that no holding job names counts as held by a job without a limit.
    Snapshot snapshot;
    std::vector<std::uint32_t> slots;  // of each host (MXJ); only with Options::share_hosts; empty: unknown
    std::vector<WaitingGang> waiting;  // in LSF's order; if an id occurs twice, the first entry counts
    std::vector<HoldingJob> holding;   // in any order
    std::optional<base::JobId> resume; // Plan::resume of the last pass
};

struct Options {
    // Gangs may use hosts that have as many free slots as they request, those in use first. False: a host on
    // which any job holds a slot is full.
    bool share_hosts = false;
    std::uint32_t spare_floor = 0; // hosts kept free for restarts (spare_floor.hpp)
    // How many of the first gangs that do not fit get a reservation; 0 counts as 1. The first reservation can
    // only become earlier from pass to pass; the others are recomputed after it.
    std::uint32_t reservations = 1;
    // The limit of one pass, in steps (budget.hpp); 0: twice that of one placement. The gangs up to the last
    // reservation and one more are examined whatever that costs.
    std::uint64_t steps = 0;
};

struct Start {
    base::JobId job{};
    Placement placement;            // hosts in rank order
    std::optional<base::Time> ends; // by its limit, if it starts now
    bool backfilled = false;        // it was started before a waiting gang
};

struct Reservation {
    base::JobId job{};
    std::optional<base::Time> at;       // nullopt: when the jobs of `unlimited` have ended
    std::vector<base::JobId> unlimited; // jobs without a limit on its future hosts, by id
    Placement placement;                // its placement then
};

struct Verdict {
    enum class Kind : std::uint8_t {
        starts,
        reserved,     // it has one of the reservations
        no_room,      // does not fit now; the reservations are for earlier gangs
        would_delay,  // fits now, but would delay a gang with a reservation
        hosts_away,   // ahead of the last reservation: fits only if drained or down hosts return
        never,        // ahead of the last reservation: does not fit this fabric
        refused,      // a contradictory request: Verdict::text
        placed,       // already has hosts, or is in the queue twice: not examined
        not_looked_at // the pass has used up its limit; the next one begins with it
    };
    base::JobId job{};
    Kind kind = Kind::not_looked_at;
    std::string text; // for refused: the sentence; else ""
};

std::string_view to_string(Verdict::Kind kind); // "starts", "no room" … for logs

struct Plan {
    std::vector<Start> starts;             // in the order in which they were decided
    std::vector<Reservation> reservations; // in queue order
    std::vector<Verdict> verdicts;         // by Queue::waiting
    std::optional<base::JobId> resume;     // the first that was not examined: for the next pass's Queue
    std::uint64_t steps = 0;               // cost of the pass
};

// One pass. Of gangs with the same request that does not fit, only the first is judged. Costs, besides the
// steps, one fit test (linear in the hosts) for each different gang up to the last reservation. The same
// queue always gives the same plan. Errors: Code::usage when the queue does not match the fabric of `placer`;
// Code::internal when memory ran out.
base::Expected<Plan> dispatch(const topo::Fabric& fabric, const Placer& placer, const Queue& queue,
                              const Options& options = {});

// Why a gang in the queue waits, for its user: what blocks it, when it starts, and what would start it
// sooner. `why`: as in Remarks. Costs one outlook(). Errors: Code::usage when the plan does not contain the
// gang, and those of outlook().
base::Expected<std::string> why_waits(const topo::Fabric& fabric, const Placer& placer, const Queue& queue,
                                      const Options& options, const Plan& plan, base::JobId job,
                                      const Remarks& remarks = {});

} // namespace sched::lsf
