// The first of the three parts of step(): takes the content of events into the state, and opens incidents for
// faults. It neither decides nor acts: an incident that is new or has become worse is `fresh`. Internal to
// restart/core; each function is in the .cpp file named.
#pragma once

#include "restart/core/facts/event.hpp"
#include "restart/core/facts/step_context.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// facts.cpp
void take_report(StepContext& ctx, const Report& report);
void take_sweep(StepContext& ctx, const FabricReport& report);
void take_answer(StepContext& ctx, const HostAsked& asked);
void take_snapshot(StepContext& ctx, const RmSnapshot& snapshot);
void take_fabric(StepContext& ctx, const FabricLoaded& fabric);

// idle_checks.cpp
// What an idle check's own job reports from its host; false: it is another job.
bool take_idle_check_word(StepContext& ctx, const std::string& host, const JobReport& report);

// links.cpp: what fabricwatchd reports about links by their counters, if anything
void take_links_word(StepContext& ctx, const FabricReport& report);

// paces.cpp
// How the host proceeded with its jobs, if reported.
void take_pace(StepContext& ctx, HostAgent& host, const Report& report);
// At a Tick: judges the job whose judgement is the oldest, when due.
void judge_paces(StepContext& ctx);

// maintenance.cpp
void take_windows(StepContext& ctx, std::vector<Maintenance> open);
// Hosts whose maintenance by the resource manager begins or ends with this snapshot.
void note_maintenance(StepContext& ctx, const std::vector<std::string>& begun,
                      const std::vector<std::string>& ended);

// departures.cpp
void take_departure(StepContext& ctx, HostState& host, const Report& report);

// commits.cpp
void record_commit(JobState& job, const Commit& commit);
// When its start has ended: with days of progress the job's own failures are forgotten.
void credit_progress(JobState& job, base::Time until);

// node_loss.cpp
void check_silence(StepContext& ctx);     // every host
void grace_after_pause(StepContext& ctx); // at a Tick: starts a grace period when this daemon was paused
void start_grace(StepContext& ctx);       // no host is suspected for a while

// findings.cpp
// Opens the host's incident, or makes it more severe, as its findings require.
void judge(StepContext& ctx, const std::string& name);
// Findings that count and ask to move jobs off the host, neither overruled by an operator nor explained by a
// common cause.
std::vector<const Finding*> leave_findings(const State& state, const HostState& host);
// Lost, or a finding that counts asks to move jobs off it; not those that an operator overruled.
bool fault_holds(const State& state, const HostState& host);
bool is_faulty(const State& state, const HostState& host); // the same, overruled or not

// file_trust.cpp: whether most hosts match their fabric file; an incident while they do not.
void check_files(StepContext& ctx);

} // namespace restart
