// The second part of step(): the goal for each incident, derived from the present state at each step, and the
// next actions towards it. Internal to restart/core; each function is in the .cpp file named.
#pragma once

#include "restart/core/facts/event.hpp"
#include "restart/core/facts/step_context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// recovery.cpp
void decide_fresh(StepContext& ctx); // incidents that are new or have become worse
void decide_all(StepContext& ctx);   // every incident; finished ones end
void requeue_affected(StepContext& ctx, Incident& incident, AffectedJob& affected);

bool still_there(const StepContext& ctx, const AffectedJob& affected); // to be moved, and not ended
void ask_to_save(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job);
// Whether there is no need to wait for the job any longer.
bool saved(StepContext& ctx, Incident& incident, const AffectedJob& affected);
void move_job(StepContext& ctx, Incident& incident, AffectedJob& affected);
bool all_seen(const Incident& incident); // the results of all actions, and what happened to the jobs

// cause.cpp: what is done about a common cause. False: it is over and may be removed.
bool advance_cause(StepContext& ctx, Incident& incident);

// culprit.cpp
void drain_culprit(StepContext& ctx, Incident& incident); // drains or sets it down, or notes once why not

// jobs.cpp
// Where the job runs, or ran until it ended: as read while it ran, if known. For a job whose processes are
// still being ended Slurm names only the hosts on which they are.
const std::vector<std::string>& nodes_of(const JobState& job);
// The start `epoch` of the job, undecided.
AffectedJob affected_of(base::JobId id, const JobState& job, std::uint32_t epoch);
// Adds jobs that the fault affects, or ended, and decides again about those that were left alone.
// `ended_only`: only ended ones, as the fault may pass.
void gather_jobs(StepContext& ctx, Incident& incident, bool ended_only = false);
// Whether accounting is still being asked how a job ended that the fault may have ended (Forgotten::asking).
bool awaits_word_of_jobs(const State& state, const Incident& incident);
// Decides what is done about it, and notes that at first and when it changes.
void decide_job(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job, bool first);
// Why a job whose record is gone cannot be submitted again, and what to do; empty: it can, or its record
// exists.
std::string why_not_again(const Policy& policy, const RmJob& job);
base::Time save_deadline(const JobState& job, base::Time now, const Policy& policy);

// returns.cpp: hosts that were shut down in order and are back without a fault are put into use again
void end_departures(StepContext& ctx);

// relaunch.cpp: jobs whose railrun restarts their step inside the allocation
// Whether that can be done without this host: it runs ranks but not the batch script, and spares are left.
bool can_start_inside(const State& state, const JobState& job, const std::string& host, base::Time now);
// Whether it is a host of the job that runs none of its ranks: a spare, or one that the job has left.
bool stands_by(const JobState& job, const std::string& host, base::Time now);
// The culprit runs ranks again after the job had left it.
bool came_back(const AffectedJob& affected, const JobState& job, const std::string& host);
// Issues the order. False: the job can no longer be restarted inside, and another goal was decided.
bool start_inside(StepContext& ctx, Incident& incident, AffectedJob& affected);
void settle_inside(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job);
// What the job's railrun is to do now, derived from the present state; none: nothing.
std::optional<RunOrder> order_for(const State& state, const JobState& job);
bool suspects(const State& state, const RunState& run); // one of its rank hosts may be lost

// comments.cpp: the job's comment, which everyone who can see the job can read
std::string requeued_comment(const Incident& incident, const JobState& job);
std::string held_comment(const Incident& incident, std::string_view why);
std::string from_where(const JobState& job); // where it restarts: "from step 1200"

// failures.cpp
void decide_failures(StepContext& ctx); // after a snapshot
// Why a job that failed on its own is not restarted; empty: it may be.
std::string crash_loop(const JobState& job, const Policy& policy);

// preflights.cpp
void decide_preflights(StepContext& ctx); // after a report or a snapshot
// Whether its preflight keeps the waiting job off this host; only for a while, as it may need the host.
bool preflight_keeps_off(const JobState& job, std::string_view host, base::Time now);

// outcomes.cpp
void settle_jobs(StepContext& ctx, Incident& incident); // finds out which run again
// Notifies the job's user of what the notes say, within limits.
void notify_user(StepContext& ctx, Incident& incident, const AffectedJob& affected, std::string_view text);
std::string lost_and_kept(const AffectedJob& affected);                     // parts of its work, in words
JobTarget target_of(const AffectedJob& affected, const Incident& incident); // of an action
// The last action to restart the job from the start that the fault affected; null: none.
const Intent* requeue_of(const Incident& incident, const AffectedJob& affected);

// exclusions.cpp
// The hosts that the job's requeue excludes because of its culprit; records them as ours.
std::vector<std::string> exclusion_of(StepContext& ctx, JobState& job, const std::string& host);
void update_exclusions(StepContext& ctx); // after a snapshot
void exclude_before_resume(StepContext& ctx, Incident& incident);

// idle_checks.cpp
// From the new snapshot: follows those under way, ends those that are in the way, begins those that are due.
void tend_idle_checks(StepContext& ctx);
bool take_idle_check_outcome(StepContext& ctx, const ActionDone& done); // false: not one of these actions
// After a restart of the daemon: the next snapshot shows what was done.
void forget_idle_check_orders(StepContext& ctx);

// operator.cpp
void operator_drain(StepContext& ctx, const OperatorDrain& request);
void operator_resume(StepContext& ctx, const OperatorResume& request);

// pauses.cpp
void operator_pause(StepContext& ctx, const OperatorPause& request);
void operator_go(StepContext& ctx, const OperatorGo& request);
void end_pauses(StepContext& ctx); // those whose time is over

} // namespace restart
