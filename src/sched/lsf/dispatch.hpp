// sched::lsf::dispatch: which of the gangs that wait in LSF's parking queues start now, on which hosts, and
// what is kept for the first that cannot. Pure: no I/O, no clock.
//
// LSF reserves nothing for a gang that waits in a queue from which nothing starts, so this is the queue:
// gangs are taken in LSF's own order, and one that has a place gets it. The first that has none is promised
// the earliest moment at which it fits when every job runs until its limit (the reservation). Those behind it
// start when that does not make the promise later: they end before it, or it still fits at its moment beside
// them (EASY backfill: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem and Feitelson, IEEE
// TPDS 12(6), 2001). Tried for each are its best place and its best place off the reserved hosts; other
// places that would not delay the reserved gang either are not looked for.
//
// Jobs without a limit are taken to end after all that have one, in the order in which they started. So a
// gang that waits for some of them is promised no time, but nothing that starts later without a limit gets in
// its way: the jobs that it waits for become fewer. A gang that would not fit even then waits for hosts that
// are drained or down; it has no reservation and is asked again each time, in its place in the order. A job
// that runs beyond its limit is taken to need as long again as it has overrun, a minute at least.
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

// A gang that waits for a place and that nothing but hosts keeps waiting: one with an unmet dependency, or
// that LSF itself refuses to start (a user's limit), is for the caller to leave out.
struct WaitingGang {
    base::JobId job{};
    Request request{};     // nodes, most, required and excluded; the rest comes from hints and options
    Hints hints{};         // span with its wait, segment, spares, order
    base::Time eligible{}; // since when it may start: its wish for a span is counted from here
    std::optional<base::Duration> limit{}; // run limit (bsub -W); nullopt: none
    bool restart = false;                  // runs again after a failure: may take the hosts kept for restarts
    std::uint32_t slots = 0; // on each host (ptile); 0: the whole host. Only with Options::share_hosts
};

// A job that holds hosts: any that runs, gang or not, and a gang that has its plan and does not run yet.
struct HoldingJob {
    Holder holder{};                    // holder.ends: by its run limit
    std::optional<base::Time> since{};  // when it started; nullopt: just planned
    std::vector<std::uint32_t> slots{}; // by position in holder.hosts; empty: the whole hosts
};

struct Queue {
    base::Time now{};
    // By LSF's words for the hosts, before this pass's plans; a host that a holding job names is in use
    // whatever its state says. One that is busy or mixed and that no holding job names is held by a job
    // without a limit.
    Snapshot snapshot;
    std::vector<std::uint32_t> slots;  // of each host (MXJ); only with Options::share_hosts; empty: not known
    std::vector<WaitingGang> waiting;  // in LSF's order; of entries with one id the first counts
    std::vector<HoldingJob> holding;   // in any order
    std::optional<base::JobId> resume; // Plan::resume of the last pass
};

struct Options {
    // Gangs go onto hosts that have as many free slots as they ask for, those in use first. False: a host on
    // which any job holds a slot is full.
    bool share_hosts = false;
    std::uint32_t spare_floor = 0; // hosts kept free for restarts (spare_floor.hpp)
    // So many of the first gangs without a place get one; 0 counts as 1. The first's moment only comes nearer
    // from pass to pass; those of others are made anew, behind it.
    std::uint32_t reservations = 1;
    // What a pass may cost, in steps (budget.hpp); 0: twice what one placement may. The gangs up to the last
    // reservation and one more are looked at whatever that costs.
    std::uint64_t steps = 0;
};

struct Start {
    base::JobId job{};
    Placement placement;            // hosts in rank order
    std::optional<base::Time> ends; // by its limit, had it started now
    bool backfilled = false;        // it went ahead of a gang that waits
};

struct Reservation {
    base::JobId job{};
    std::optional<base::Time> at;       // nullopt: when the jobs of `unlimited` have ended
    std::vector<base::JobId> unlimited; // jobs without a limit on the hosts it will get, by their ids
    Placement placement;                // where it would go then
};

struct Verdict {
    enum class Kind : std::uint8_t {
        starts,
        reserved,     // has one of the reservations
        no_room,      // does not fit now; the reservations are for gangs before it
        would_delay,  // fits now, but a gang with a reservation would then start later
        hosts_away,   // before the last reservation: fits only when drained or down hosts return
        never,        // before the last reservation: does not fit this fabric
        refused,      // a request that contradicts itself: Verdict::text
        placed,       // holds hosts already, or stands twice in the queue: not looked at
        not_looked_at // the pass had cost what it may; the next one begins with it
    };
    base::JobId job{};
    Kind kind = Kind::not_looked_at;
    std::string text; // of refused: the sentence; else ""
};

std::string_view to_string(Verdict::Kind kind); // "starts", "no room" … for logs

struct Plan {
    std::vector<Start> starts;             // in the order in which they were decided
    std::vector<Reservation> reservations; // in the queue's order
    std::vector<Verdict> verdicts;         // by Queue::waiting
    std::optional<base::JobId> resume;     // the first that was not looked at: for the next pass's Queue
    std::uint64_t steps = 0;               // what the pass cost
};

// One pass. Of gangs that ask for the same and do not fit only the first is judged. Costs, beyond the steps,
// one test of fit (linear in the hosts) for each different gang up to the last reservation. The same queue
// has the same plan. Errors: Code::usage when the queue is of another fabric than `placer`; Code::internal
// when memory ran out.
base::Expected<Plan> dispatch(const topo::Fabric& fabric, const Placer& placer, const Queue& queue,
                              const Options& options = {});

// Why a gang of the queue waits, for its user: what blocks it, when it will start, and what would let it
// start sooner. `why`: as in Remarks. Costs an outlook(). Errors: Code::usage when the plan has no such gang,
// and outlook's.
base::Expected<std::string> why_waits(const topo::Fabric& fabric, const Placer& placer, const Queue& queue,
                                      const Options& options, const Plan& plan, base::JobId job,
                                      const Remarks& remarks = {});

} // namespace sched::lsf
