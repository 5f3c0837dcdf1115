// The third part of step(): actions from their start to their end. Each is an intent in its incident until
// its outcome is known. Internal to restart/core; each function is in the .cpp file named.
#pragma once

#include "restart/core/facts/event.hpp"
#include "restart/core/facts/step_context.hpp"

#include <cstdint>
#include <string>

namespace restart {

// intents.cpp
void start_action(StepContext& ctx, Incident& incident, decltype(Action::what) what);
void take_outcome(StepContext& ctx, const ActionDone& done);
void mark_unconfirmed(StepContext& ctx); // after a restart of the daemon
void reconcile(StepContext& ctx);        // settles unconfirmed intents with the new snapshot
void retry_waiting(StepContext& ctx, bool all_now);
bool all_settled(const Incident& incident); // no action is under way or will be repeated

// gate.cpp
// Adds it to what the incident has withheld, and notes what would be done, unless that is in `noted`. `more`:
// the end of the note.
void keep_back(StepContext& ctx, Incident& incident, const std::vector<Withheld>& noted, Withheld kept,
               std::string_view more);

// gangs.cpp: plans of gangs (gang_plan.hpp).
void plan_gang(StepContext& ctx, const PlannedGang& gang);
bool take_gang_outcome(StepContext& ctx, const ActionDone& done); // false: not a plan's action
void tend_gangs(StepContext& ctx);                                // with the new snapshot
// After a restart of the daemon: the next snapshot shows what was done.
void forget_gang_orders(StepContext& ctx);
// Why a gang may not start on the host, or on one of these, now; empty: it may.
std::string why_not_on(const State& state, const std::string& host);
std::string why_not_on(const State& state, const std::vector<std::string>& hosts);

// requeues.cpp: how often a job was requeued. Two culprits of one start both cause its requeue, each with its
// exclusion; it is done, and counted, once.
void count_requeue(JobState& job, std::uint32_t epoch);
void uncount_requeue(StepContext& ctx, Incident& incident, const Action& action); // it became obsolete
// Requeues while the resource manager has the job's record, else submits the job again.
void start_requeue(StepContext& ctx, Incident& incident, const RmJob& job, RequeueJob requeue);
// The job that was submitted in place of this start; null: none.
const RmJob* submitted_for(const State& state, base::JobId job, std::uint32_t epoch);

// obsolete.cpp
// Why an action is no longer needed in the present state; empty: still needed. To be called just before the
// action is performed: it may have waited for the journal or for the resource manager.
std::string why_obsolete(const State& state, const Policy& policy, base::Time now, const Action& action);
bool waits_for_hosts(const JobState& job);
// Whether a job that was moved off this host must be kept off it by the job's own list: the host is faulty,
// and not drained.
bool needs_exclusion(const State& state, const std::string& host);
// Why railcheck is not run on an idle host, or not any more; empty: it may be.
std::string why_not_tried(const State& state, const Policy& policy, base::Time now, std::string_view host);

} // namespace restart
