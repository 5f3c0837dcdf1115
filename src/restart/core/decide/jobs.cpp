// The jobs that a fault affects: which they are, and whether they are moved.

#include "restart/core/decide/decide.hpp"
#include "restart/core/decide/weigh.hpp"
#include "restart/core/detect/common_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace restart {
namespace {

// For a job whose checkpoint cost is not known.
constexpr base::Duration unknown_cost_deadline{60'000};

// A job's processes may notice a fault before its host's agent does, and clocks differ.
constexpr base::Duration sooner{10'000};

// The resolution of the end times that resource managers report.
constexpr base::Duration whole_second{1'000};

// The hosts of a common cause that the job runs on.
std::vector<std::string> runs_on(const JobState& job, const Incident& incident) {
    auto hosts = hosts_of(incident);
    const auto& nodes = nodes_of(job);
    std::erase_if(hosts, [&](const std::string& host) { return !has_name(nodes, host); });
    return hosts;
}

bool is_on(const JobState& job, const Incident& incident) {
    return incident.kind == IncidentKind::common_cause ? !runs_on(job, incident).empty()
                                                       : has_name(nodes_of(job), incident.host);
}

// It was asked to save, which makes some programs end.
bool was_asked(const JobState& job, const Incident& incident, base::Time before) {
    return std::any_of(incident.jobs.begin(), incident.jobs.end(), [&](const AffectedJob& affected) {
        return affected.id == job.rm.id && affected.epoch == job.rm.restarts && affected.asked &&
               *affected.asked <= before;
    });
}

// Whether the fault ended the job: it failed after the fault had begun, or a reported success after it cannot
// be true: a step failed, a host was lost, or it was asked to save.
bool ended_by(const JobState& job, const Incident& incident) {
    const auto& end = *job.rm.failure;
    if (!is_on(job, incident)) return false;
    if (end.unknown) return end.ended >= incident.fault;
    if (end.code != 0) return end.ended + sooner >= incident.fault;
    // Failed steps of former starts count, too, as does one that railrun restarted: this is not proof.
    const bool doubtful = (end.step_failed && !job.run) || incident.kind == IncidentKind::node_loss;
    return (doubtful && end.ended >= incident.fault) || was_asked(job, incident, end.ended + whole_second);
}

// The start of the job that the fault affected, if any.
std::optional<std::uint32_t> affected_epoch(const JobState& job, const Incident& incident) {
    const auto phase = job.rm.phase;
    if (job.rm.forgotten && job.rm.forgotten->asking) return {};
    if (phase == JobPhase::ended)
        return ended_by(job, incident) ? std::optional(job.rm.restarts) : std::nullopt;
    if (phase != JobPhase::pending && is_on(job, incident)) return job.rm.restarts;
    // A job that may survive the loss of a host: the resource manager saw the loss before we confirmed it,
    // and the job continues without the host.
    if (incident.kind == IncidentKind::node_loss && phase != JobPhase::pending)
        if (const auto dropped_nodes = job.dropped_nodes.find(incident.host);
            dropped_nodes != job.dropped_nodes.end() && dropped_nodes->second >= incident.fault)
            return job.rm.restarts;
    // The resource manager saw the loss before we confirmed it and has already requeued the job.
    if (incident.kind == IncidentKind::node_loss && phase != JobPhase::running && job.left &&
        *job.left >= incident.fault && job.rm.restarts <= job.ran_epoch + 1 &&
        has_name(job.ran_on, incident.host))
        return job.ran_epoch;
    return {};
}

// What is decided for a job that the fault affects.
struct Verdict {
    JobGoal goal = JobGoal::stay;
    std::string left, why; // why it is left alone, and the note on it
    bool weighed = false;  // it is left alone because that costs less
};

// Why this job cannot be restarted; empty: it can.
std::string immovable(const StepContext& ctx, const RmJob& job) {
    if (job.interactive) return ctx.policy.words.interactive;
    const auto& config = ctx.state.rm_config;
    if (!job.restart && config && !config->takes_flags)
        return "no --restart=auto is known of it: " + ctx.policy.words.no_flags;
    if (!job.restart) return "it was submitted without --restart=auto";
    if (!*job.restart) return "--restart=never";
    if (!job.requeue) return "it may not be requeued";
    return {};
}

// `inside`: its step may be restarted in its allocation.
Verdict judge_job(const StepContext& ctx, const Incident& incident, const JobState& job, bool inside) {
    if (stands_by(job, incident.host, ctx.now))
        return {JobGoal::stay, "it runs none of its ranks",
                fmt::format("goes on: {} runs none of its ranks", incident.host), false};
    inside = inside && can_start_inside(ctx.state, job, incident.host, ctx.now);
    if (const auto why = why_not_again(ctx.policy, job.rm); !why.empty())
        return {JobGoal::stay, why, "cannot be started again: " + why, false};
    if (const auto why = immovable(ctx, job.rm); !inside && !why.empty())
        return {JobGoal::stay, why, fmt::format("is left to the resource manager: {}", why), false};
    // What has ended cannot stay.
    if (job.rm.phase == JobPhase::ended) return {JobGoal::elsewhere, {}, {}, false};
    if (const auto cost = weigh(ctx.state, ctx.policy, ctx.now, incident, job); cost && cost->waits()) {
        const auto terms = sentence(*cost);
        return {JobGoal::stay, terms, "stays: " + terms, true};
    }
    // However often: a fault of a host never counts against the job.
    return {inside ? JobGoal::inside : JobGoal::elsewhere, {}, {}, false};
}

// It stayed because of the cost, and is moved now.
void note_turn(StepContext& ctx, Incident& incident, const AffectedJob& affected, const JobState& job) {
    if (job.rm.phase == JobPhase::ended)
        return ctx.note(NoteKind::decision, incident, affected.id,
                        fmt::format("job {} failed there and is started elsewhere", affected.shown()));
    const auto cost = weigh(ctx.state, ctx.policy, ctx.now, incident, job);
    ctx.note(NoteKind::decision, incident, affected.id,
             fmt::format("job {} moves now: {}", affected.shown(),
                         cost ? sentence(*cost) : "what it runs on is worse than slow"));
}

// A refused requeue is tried again after a while, if the job is still on the culprit.
bool must_retry_requeue(const StepContext& ctx, const Incident& incident, const AffectedJob& affected,
                        const JobState& job) {
    if (came_back(affected, job, incident.host)) return true;
    if (job.rm.restarts != affected.epoch) return false;
    const auto* requeue = requeue_of(incident, affected);
    if (requeue == nullptr || requeue->progress != Progress::failed) return false;
    // Its record disappeared while its requeue was under way.
    if (job.rm.forgotten) return as<SubmitAgain>(requeue->action) == nullptr;
    // It failed because of the fault while its requeue was under way: it is restarted from its end.
    const auto* action = as<RequeueJob>(requeue->action);
    if (job.rm.phase == JobPhase::ended) return action != nullptr && !action->ended;
    return affected.settled && is_on(job, incident) && ctx.now >= requeue->next_try;
}

} // namespace

std::string why_not_again(const Policy& policy, const RmJob& job) {
    if (!job.forgotten || job.forgotten->why_not.empty()) return {};
    return fmt::format("{} has no record of it any more, and {}: submit it again by hand",
                       policy.words.controller, job.forgotten->why_not);
}

const std::vector<std::string>& nodes_of(const JobState& job) {
    if (!job.rm.failure) return job.rm.nodes;
    const bool known = job.ran_epoch == job.rm.restarts && !job.ran_on.empty();
    return known ? job.ran_on : job.rm.failure->nodes;
}

AffectedJob affected_of(base::JobId id, const JobState& job, std::uint32_t epoch) {
    AffectedJob affected;
    affected.id = id;
    affected.name = job.rm.name;
    affected.owner = owner_of(job.rm);
    affected.epoch = epoch;
    affected.started = job.ran_since == base::Time{} ? job.rm.start : job.ran_since;
    return affected;
}

void decide_job(StepContext& ctx, Incident& incident, AffectedJob& affected, const JobState& job,
                bool first) {
    // An order that had no effect is not repeated.
    const auto verdict = judge_job(ctx, incident, job, !affected.ordered);
    // While it stays because of the cost, the numbers are noted once: they change all the time.
    if (!first && (verdict.left == affected.left || (verdict.weighed && affected.weighed))) return;
    if (std::exchange(affected.weighed, verdict.weighed) && verdict.goal != JobGoal::stay)
        note_turn(ctx, incident, affected, job);
    affected.goal = verdict.goal;
    affected.left = verdict.left;
    // The fault caused it, whatever happens to it.
    if (job.rm.forgotten && verdict.goal == JobGoal::stay)
        ctx.state.jobs.at(affected.id).judged_epoch = affected.epoch;
    if (!verdict.why.empty()) {
        ctx.note(NoteKind::decision, incident, affected.id,
                 fmt::format("job {} {}", affected.shown(), verdict.why));
        notify_user(ctx, incident, affected, fmt::format("this job {}", verdict.why));
    } else {
        for (const auto& component : job.rm.components)
            if (has_name(component.nodes, incident.host))
                ctx.note(NoteKind::decision, incident, affected.id,
                         fmt::format("job {} moves whole: {} runs its component {}", affected.shown(),
                                     incident.host, component.name));
    }
}

bool awaits_word_of_jobs(const State& state, const Incident& incident) {
    return std::any_of(state.jobs.begin(), state.jobs.end(), [&](const auto& entry) {
        const auto& job = entry.second;
        return job.rm.forgotten && job.rm.forgotten->asking && is_on(job, incident);
    });
}

void gather_jobs(StepContext& ctx, Incident& incident, bool ended_only) {
    // Jobs that have left the culprit before anything was done about them are no longer affected.
    std::erase_if(incident.jobs, [&](const AffectedJob& affected) {
        const auto job = ctx.state.jobs.find(affected.id);
        return (affected.goal == JobGoal::stay || (affected.to_move() && !affected.asked)) &&
               (job == ctx.state.jobs.end() || affected_epoch(job->second, incident) != affected.epoch);
    });
    for (const auto& [id, job] : ctx.state.jobs) {
        if (ended_only && job.rm.phase != JobPhase::ended) continue;
        const auto epoch = affected_epoch(job, incident);
        if (!epoch) continue;
        const auto known = std::find_if(incident.jobs.begin(), incident.jobs.end(),
                                        [&, job_id = id](const AffectedJob& affected) {
                                            return affected.id == job_id && affected.epoch == *epoch;
                                        });
        if (known != incident.jobs.end() && !must_retry_requeue(ctx, incident, *known, job)) {
            if (known->goal == JobGoal::stay) decide_job(ctx, incident, *known, job, false);
            continue;
        }
        if (known != incident.jobs.end()) incident.jobs.erase(known);
        auto affected = affected_of(id, job, *epoch);
        if (incident.kind == IncidentKind::common_cause) affected.on = runs_on(job, incident);
        decide_job(ctx, incident, affected, job, true);
        incident.jobs.push_back(affected);
    }
}

base::Time save_deadline(const JobState& job, base::Time now, const Policy& policy) {
    auto wait = unknown_cost_deadline;
    if (const auto safe = std::max(job.cost, job.safe_after); safe.count() > 0)
        wait = base::duration_from_seconds(std::chrono::duration<double>(safe).count() * policy.save_factor);
    return now + std::max(policy.save_min, std::min(wait, policy.save_max));
}

} // namespace restart
