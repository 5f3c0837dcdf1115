// Jobs that recover inside their allocation: their railrun (railrun(1)) restarts the step on the remaining
// hosts and a spare. The order is not sent once: it is derived from the present state in the answer to each
// report of the agent, until railrun reports a later launch.

#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace restart {
namespace {

// A railrun exists until its agent has not reported it for this long: a restarted agent knows nothing of it
// for a moment.
constexpr base::Duration gone_for_good{5'000};
// A step that has not restarted this long after its order will not.
constexpr base::Duration launch_patience{60'000};

bool present(const JobState& job, base::Time now) {
    return job.run && (!job.run->gone || now - *job.run->gone < gone_for_good);
}

bool fit(const State& state, const JobState& job, const std::string& name) {
    const auto host = state.hosts.find(name);
    if (host == state.hosts.end() || !host->second.node || !has_name(job.rm.nodes, name)) return false;
    const auto& node = *host->second.node;
    const auto& preflight = job.preflight;
    if (preflight && preflight->epoch == job.rm.restarts && has_name(preflight->without, name)) return false;
    return !node.down && !node.drain && !node.not_responding && !host->second.lost &&
           !is_faulty(state, host->second) && !has_drain(state, name) && state.incident_of(name) == nullptr;
}

const std::string& unit_of(const State& state, const std::string& name) {
    static const std::string none;
    const auto host = state.hosts.find(name);
    return host == state.hosts.end() ? none : host->second.unit;
}

// The ranks' hosts, each of `leaving` replaced by a spare: from its own unit, where its rails connect to the
// same leaves; else from the unit with most of the job's ranks. None if there are too few.
std::optional<std::vector<std::string>> replaced(const State& state, const JobState& job,
                                                 const std::vector<std::string>& leaving) {
    std::vector<std::string> spares;
    for (const auto& spare : job.run->spares)
        if (fit(state, job, spare)) spares.push_back(spare);
    std::map<std::string_view, std::size_t> ranks_in;
    for (const auto& host : job.run->ranks)
        ++ranks_in[unit_of(state, host)];
    auto ranks = job.run->ranks;
    for (auto& host : ranks) {
        if (!has_name(leaving, host)) continue;
        if (spares.empty()) return {};
        const auto worth = [&](const std::string& spare) {
            const auto& unit = unit_of(state, spare);
            return std::pair(unit == unit_of(state, host), ranks_in[unit]);
        };
        auto best = spares.begin();
        for (auto spare = spares.begin(); spare != spares.end(); ++spare)
            if (worth(*spare) > worth(*best)) best = spare;
        host = *best;
        spares.erase(best);
    }
    return ranks;
}

// Whether the fault's order is issued and not yet carried out.
bool is_ordered(const AffectedJob& affected, const JobState& job) {
    return affected.id == job.rm.id && affected.goal == JobGoal::inside && affected.stopped &&
           !affected.settled && affected.epoch == job.rm.restarts && affected.launch == job.run->launch;
}

// The hosts of the present launch to be left, and the last of the incidents that require it.
std::vector<std::string> to_leave(const State& state, const JobState& job,
                                  std::string* incident_id = nullptr) {
    std::vector<std::string> leaving;
    for (const auto& [number, incident] : state.incidents)
        for (const auto& affected : incident.jobs)
            if (is_ordered(affected, job) && has_name(job.run->ranks, incident.host)) {
                add_name(leaving, incident.host);
                if (incident_id != nullptr) *incident_id = incident.id();
            }
    return leaving;
}

// It is requeued after all.
void fall_back(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job,
               std::string_view why) {
    if (gate(ctx.state, ctx.policy, ctx.now, incident.host)) return;
    ctx.note(NoteKind::decision, incident, affected.id,
             fmt::format("job {} is not started again inside its allocation: {}", affected.shown(), why));
    decide_job(ctx, incident, affected, job, true);
    if (affected.goal != JobGoal::stay) requeue_affected(ctx, incident, affected);
}

} // namespace

bool stands_by(const JobState& job, const std::string& host, base::Time now) {
    return present(job, now) && job.run->host != host && !has_name(job.run->ranks, host);
}

bool can_start_inside(const State& state, const JobState& job, const std::string& host, base::Time now) {
    if (!present(job, now) || job.rm.restart == false || job.rm.phase != JobPhase::running ||
        !job.rm.components.empty() || job.run->host == host || !has_name(job.run->ranks, host))
        return false;
    auto leaving = to_leave(state, job);
    add_name(leaving, host);
    return replaced(state, job, leaving).has_value();
}

bool came_back(const AffectedJob& affected, const JobState& job, const std::string& host) {
    return affected.goal == JobGoal::inside && affected.settled && affected.epoch == job.rm.restarts &&
           job.run && job.run->launch > affected.launch && has_name(job.run->ranks, host);
}

bool start_inside(StepContext& ctx, Incident& incident, AffectedJob& affected) {
    auto& job = ctx.state.jobs.at(affected.id);
    if (!can_start_inside(ctx.state, job, incident.host, ctx.now)) {
        // Since then its spares were used up, its step left the host, or its railrun has ended.
        decide_job(ctx, incident, affected, job, true);
        return false;
    }
    affected.launch = job.run->launch;
    affected.ordered = ctx.now;
    ctx.note(NoteKind::action, incident, affected.id,
             fmt::format("job {} is to start its step again inside its allocation, without {}",
                         affected.shown(), incident.host));
    return true;
}

void settle_inside(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job) {
    if (job.rm.restarts > affected.epoch) {
        // Without --no-kill the resource manager requeues the job with its host.
        affected.goal = JobGoal::elsewhere;
        ctx.note(NoteKind::outcome, incident, affected.id,
                 fmt::format("job {} was requeued by the resource manager", affected.shown()));
        return requeue_affected(ctx, incident, affected);
    }
    if (job.rm.phase != JobPhase::running) return; // it ends, or is being requeued
    const auto& run = job.run;
    if (run && run->launch > affected.launch && !has_name(run->ranks, incident.host)) {
        affected.settled = true;
        ctx.note(
            NoteKind::outcome, incident, affected.id,
            fmt::format("job {} runs again inside its allocation on {} (launch {}), {} after it stopped; {}",
                        affected.shown(), base::fold_hostlist(run->ranks), run->launch,
                        base::human_duration(std::max(ctx.now - *affected.stopped, base::Duration{})),
                        lost_and_kept(affected)));
        return;
    }
    if (!present(job, ctx.now))
        return fall_back(ctx, incident, affected, job, "its railrun has given up or ended");
    const auto agent = ctx.state.hosts.find(run->host);
    const bool heard = agent != ctx.state.hosts.end() && agent->second.last_report &&
                       ctx.now - *agent->second.last_report < ctx.policy.silent;
    if (heard && affected.ordered && ctx.now - *affected.ordered >= launch_patience)
        fall_back(ctx, incident, affected, job,
                  fmt::format("it has not begun in {}", base::human_duration(launch_patience)));
}

std::optional<RunOrder> order_for(const State& state, const JobState& job) {
    if (!job.run) return {};
    std::string incident;
    const auto leaving = to_leave(state, job, &incident);
    if (leaving.empty()) return {};
    const auto ranks = replaced(state, job, leaving);
    if (!ranks) return {};
    const bool lost = std::any_of(leaving.begin(), leaving.end(), [&](const std::string& name) {
        const auto host = state.hosts.find(name);
        return host != state.hosts.end() && counts_as_lost(host->second);
    });
    return RunOrder{job.run->launch, base::fold_hostlist(*ranks), incident, lost};
}

bool suspects(const State& state, const RunState& run) {
    return std::any_of(run.ranks.begin(), run.ranks.end(), [&](const std::string& name) {
        const auto* incident = state.incident_of(name);
        const auto host = state.hosts.find(name);
        return (incident != nullptr && incident->phase == Phase::suspected) ||
               (host != state.hosts.end() && counts_as_lost(host->second));
    });
}

} // namespace restart
