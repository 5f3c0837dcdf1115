// restart::step: everything the restart daemon decides, as a function from state and event to state and
// actions. No I/O and no clock: the daemon calls it, and a simulator can too.
//
// The rules, in short:
//  * A host is lost when its agent has been silent for `silent` AND a second source confirms it after the
//    silence began: the resource manager (not responding, down) or the fabric (all links down). Without
//    confirmation in `witness_wait` the suspicion is dropped, and resumed when the resource manager gives
//    the host up or the fabric loses it. When half of the agents or more are silent, or were within a day
//    and only the resource manager declared them lost, it is the network or this daemon: one incident that
//    only watches.
//  * A finding of severity evict asks the host's jobs to save, by a deadline from their measured checkpoint
//    cost, then drains the host and requeues them without it; fatal does so at once; warn and info are noted.
//  * Actions are derived from the present state at each step: a drain that a bound refused is done when
//    there is room, what observe_only withheld when it is off, a job that starts on a bad host is moved.
//  * A finding that depends on the fabric file counts only if most hosts that have read that file match
//    it: else the file is wrong, not the hosts, and one incident reports it.
//  * A pause by an operator, maintenance and observe_only hold back everything that was not requested.
//  * Bounds stop new drains, never a recovery. A drain without our tag is never undone or overwritten,
//    and an administrator's resume of a host is respected while the same findings hold.
//  * A job under railrun keeps its allocation while it has a good spare: its step restarts there, by an
//    order that is derived from the state in each answer to its agent until a later launch is seen.
//  * A job is requeued at most once from each of its starts, and not at all when it makes no progress. It is
//    kept off the culprit by our drain, else by an exclusion that is removed when the fault is over.
//  * An action is checked again when it is performed: why_obsolete().
//  * Each action is an intent in the state until its outcome is known; one that fails because the resource
//    manager is down is tried again, one begun before a restart is confirmed by the next snapshot.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/event.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/facts/step_context.hpp"

namespace restart {

// Cost: O(log hosts) for a report, O(hosts + jobs) for a snapshot, a sweep and a tick. Pass the state with
// std::move: it is not copied.
Step step(State state, const Event& event, base::Time now, const Policy& policy);

// The reply to a report, for the jobs of its host; to be called with the state after the report. Jobs whose
// owner is not the reported uid are left out.
Reply reply_to(const State& state, const Report& report);

} // namespace restart
