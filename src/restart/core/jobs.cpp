// The jobs a fault hurts: which they are, how they are moved, and how it ended for them.

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/ckpt/interval.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace restart {
namespace {

// For a job that has not told what a checkpoint costs it.
constexpr base::Duration unknown_cost_deadline{60'000};
// A requeued job that is still pending after this long is worth a line, and a word to its user.
constexpr base::Duration long_wait{60'000};

// The start of the job that the fault hurt, when it did.
std::optional<std::uint32_t> hurt_epoch(const JobState& job, const Incident& incident) {
    const auto phase = job.rm.phase;
    if (phase != JobPhase::pending && has_name(job.rm.nodes, incident.host)) return job.rm.restarts;
    // sbatch --no-kill: the resource manager saw the loss before we confirmed it, and the job goes on
    // without.
    if (incident.kind == IncidentKind::node_loss && phase != JobPhase::pending)
        if (const auto shed = job.shed.find(incident.host);
            shed != job.shed.end() && shed->second >= incident.fault)
            return job.rm.restarts;
    // The resource manager saw the loss before we confirmed it and has already requeued the job.
    if (incident.kind == IncidentKind::node_loss && phase != JobPhase::running && job.left &&
        *job.left >= incident.fault && job.rm.restarts <= job.ran_epoch + 1 &&
        has_name(job.ran_on, incident.host))
        return job.ran_epoch;
    return {};
}

// Why a job is not to be started once more; empty: it may.
std::string futile(const JobState& job, const Policy& policy) {
    if (policy.no_progress != 0 && job.fruitless >= policy.no_progress)
        return fmt::format("requeued {} times in a row without a newer checkpoint (no_progress = {})",
                           job.fruitless, policy.no_progress);
    if (policy.max_requeues != 0 && job.requeues >= policy.max_requeues)
        return fmt::format("requeued {} times (max_requeues = {})", job.requeues, policy.max_requeues);
    return {};
}

// What is to become of a job that the fault hurts.
struct Verdict {
    bool recover = false, hold = false;
    std::string left, why; // why it is left alone or held, and what is told of that: "is held: …"
};

// The job's user is told what the operator reads in the notes. Each costs the resource manager a call before
// the recovery goes on, so that a host of a thousand small jobs does not keep the others waiting.
void tell_user(Turn& turn, Incident& incident, const HurtJob& hurt, std::string_view text) {
    constexpr std::ptrdiff_t most_told = 50;
    const auto& intents = incident.intents;
    if (turn.policy.observe_only || std::count_if(intents.begin(), intents.end(), [](const Intent& intent) {
                                        return intent.action.kind == ActionKind::tell_job;
                                    }) >= most_told)
        return;
    Action action;
    action.kind = ActionKind::tell_job;
    action.host = incident.host;
    action.job = hurt.id;
    action.job_name = hurt.name;
    action.reason =
        printable(fmt::format("{}: {} {}: {}", incident.id(), incident.host,
                              incident.kind == IncidentKind::node_loss ? "was lost" : "has a fault", text),
                  300);
    give(turn, incident, std::move(action));
}

// Why this job cannot be started again; empty: it can.
std::string immovable(const Turn& turn, const RmJob& job) {
    if (job.interactive)
        return "an allocation of salloc or srun cannot be requeued, only batch jobs (sbatch) can";
    const auto& config = turn.state.rm_config;
    if (!job.restart && config && !config->takes_flags())
        return "no --restart=auto is known of it: slurmctld does not know the flag (JobSubmitPlugins lacks "
               "rail)";
    if (!job.restart) return "it was submitted without --restart=auto";
    if (!*job.restart) return "--restart=never";
    if (!job.requeue) return "it may not be requeued";
    return {};
}

Verdict judge_job(const Turn& turn, const Incident& incident, const JobState& job) {
    if (const auto why = immovable(turn, job.rm); !why.empty())
        return {false, false, why, fmt::format("is left to the resource manager: {}", why)};
    const auto why = futile(job, turn.policy);
    if (why.empty()) return {true, false, {}, {}};
    if (incident.kind == IncidentKind::node_loss) return {true, true, {}, "is held: " + why};
    return {false, false, why, "is left where it runs: " + why};
}

void weigh(Turn& turn, Incident& incident, HurtJob& hurt, const JobState& job, bool first) {
    const auto verdict = judge_job(turn, incident, job);
    if (!first && verdict.left == hurt.left) return;
    hurt.recover = verdict.recover;
    hurt.hold = verdict.hold;
    hurt.left = verdict.left;
    if (!verdict.why.empty()) {
        turn.note(NoteKind::decision, incident, hurt.id, fmt::format("job {} {}", hurt.shown(), verdict.why));
        tell_user(turn, incident, hurt, fmt::format("this job {}", verdict.why));
    } else {
        for (const auto& component : job.rm.components)
            if (has_name(component.nodes, incident.host))
                turn.note(NoteKind::decision, incident, hurt.id,
                          fmt::format("job {} moves whole: {} runs its component {}", hurt.shown(),
                                      incident.host, component.name));
    }
}

// The last action that was to start the job anew from the start that the fault hurt.
const Intent* requeue_of(const Incident& incident, const HurtJob& hurt) {
    const auto found =
        std::find_if(incident.intents.rbegin(), incident.intents.rend(), [&](const Intent& intent) {
            return intent.action.job == hurt.id && intent.action.epoch == hurt.epoch &&
                   (intent.action.kind == ActionKind::requeue_job ||
                    intent.action.kind == ActionKind::update_job);
        });
    return found == incident.intents.rend() ? nullptr : &*found;
}

// A requeue that was refused is asked for again after a while, where the job still is on the culprit.
bool to_ask_again(const Turn& turn, const Incident& incident, const HurtJob& hurt, const JobState& job) {
    if (!hurt.settled || job.rm.restarts != hurt.epoch || !has_name(job.rm.nodes, incident.host))
        return false;
    const auto* requeue = requeue_of(incident, hurt);
    return requeue != nullptr && requeue->progress == Progress::failed && turn.now >= requeue->next_try;
}

std::string lost_and_kept(const HurtJob& hurt) {
    const auto stopped = *hurt.stopped;
    if (hurt.last && hurt.last->committed >= hurt.started)
        return fmt::format("lost {} of work, kept {} (checkpoint of step {})",
                           base::human_duration(std::max(stopped - hurt.last->committed, base::Duration{})),
                           base::human_duration(hurt.last->committed - hurt.started), hurt.last->step);
    const auto lost = base::human_duration(std::max(stopped - hurt.started, base::Duration{}));
    return hurt.last ? fmt::format("lost {} of work, all since its start from step {}", lost, hurt.last->step)
                     : fmt::format("lost {} of work, all of it: it had no checkpoint", lost);
}

void settle_running(Turn& turn, Incident& incident, HurtJob& hurt, const JobState& job) {
    hurt.settled = true;
    const auto nodes = base::fold_hostlist(job.rm.nodes);
    if (has_name(job.rm.nodes, incident.host)) {
        turn.note(NoteKind::outcome, incident, hurt.id,
                  fmt::format("job {} runs on {} again, with {}", hurt.shown(), nodes, incident.host));
        return;
    }
    const auto began = std::clamp(job.rm.start, *hurt.stopped, std::max(*hurt.stopped, turn.now));
    turn.note(NoteKind::outcome, incident, hurt.id,
              fmt::format("job {} is RUNNING on {} (restart {}), {} after it stopped; {}", hurt.shown(),
                          nodes, job.rm.restarts, base::human_duration(began - *hurt.stopped),
                          lost_and_kept(hurt)));
}

// A job whose processes took long to end is put off by the resource manager when they have (Slurm: until its
// old credential has expired), after the requeue has let it begin at once.
bool put_off(const Turn& turn, const Incident& incident, const HurtJob& hurt, const JobState& job) {
    constexpr std::ptrdiff_t most_changes = 5;
    const auto& intents = incident.intents;
    const auto of_job = [&](const Intent& intent) { return intent.action.job == hurt.id; };
    return !hurt.hold && !turn.policy.observe_only && job.rm.begin > turn.now + base::Duration(1'000) &&
           std::none_of(intents.begin(), intents.end(),
                        [&](const Intent& i) { return of_job(i) && !(i.settled() && i.seen); }) &&
           std::count_if(intents.begin(), intents.end(), of_job) < most_changes;
}

void settle_job(Turn& turn, Incident& incident, HurtJob& hurt) {
    const auto found = turn.state.jobs.find(hurt.id);
    if (found == turn.state.jobs.end()) {
        hurt.settled = true;
        turn.note(NoteKind::outcome, incident, hurt.id, fmt::format("job {} has ended", hurt.shown()));
        return;
    }
    if (!hurt.stopped) return; // it may still save
    const auto& job = found->second;
    const auto* requeue = requeue_of(incident, hurt);
    if (requeue == nullptr) return;
    if (hurt.hold ? requeue->settled() : requeue->progress == Progress::failed) {
        if (!requeue->seen) return; // it may have failed because the job has just ended
        hurt.settled = true;
        turn.note(NoteKind::outcome, incident, hurt.id,
                  fmt::format("job {} {}", hurt.shown(),
                              requeue->progress == Progress::failed
                                  ? "was not requeued: an administrator must see to it"
                                  : "is held: release it when its fault is found"));
        if (requeue->progress == Progress::failed)
            tell_user(turn, incident, hurt,
                      "this job could not be requeued: an administrator must see to it");
        return;
    }
    if (job.rm.phase == JobPhase::running && job.rm.restarts > hurt.epoch)
        return settle_running(turn, incident, hurt, job);
    if (job.rm.phase != JobPhase::pending) return;
    if (put_off(turn, incident, hurt, job)) {
        Action action;
        action.kind = ActionKind::update_job;
        action.host = incident.host;
        action.job = hurt.id;
        action.job_name = hurt.name;
        action.epoch = hurt.epoch;
        action.exclude = exclusion_of(turn, found->second, incident.host);
        give(turn, incident, std::move(action));
    }
    // From when it waits: the requeue itself may have had to wait for the resource manager.
    const auto since = std::max(*hurt.stopped, job.left.value_or(*hurt.stopped));
    if (!hurt.told_waiting && turn.now - since >= long_wait) {
        hurt.told_waiting = true;
        turn.note(NoteKind::outcome, incident, hurt.id,
                  fmt::format("job {} still waits: {}", hurt.shown(), job.rm.why));
        tell_user(turn, incident, hurt,
                  fmt::format("this job was requeued and still waited a minute later: {}", job.rm.why));
    }
}

} // namespace

void gather_jobs(Turn& turn, Incident& incident) {
    // Those that were left alone and have gone from the culprit are no longer its.
    std::erase_if(incident.jobs, [&](const HurtJob& hurt) {
        const auto job = turn.state.jobs.find(hurt.id);
        return (hurt.observed || !hurt.left.empty()) &&
               (job == turn.state.jobs.end() || hurt_epoch(job->second, incident) != hurt.epoch);
    });
    for (const auto& [id, job] : turn.state.jobs) {
        const auto epoch = hurt_epoch(job, incident);
        if (!epoch) continue;
        const auto known =
            std::find_if(incident.jobs.begin(), incident.jobs.end(), [&, job_id = id](const HurtJob& hurt) {
                return hurt.id == job_id && hurt.epoch == *epoch;
            });
        if (known != incident.jobs.end() && !to_ask_again(turn, incident, *known, job)) {
            if (!known->left.empty()) weigh(turn, incident, *known, job, false);
            continue;
        }
        if (known != incident.jobs.end()) incident.jobs.erase(known);
        HurtJob hurt;
        hurt.id = id;
        hurt.name = job.rm.name;
        hurt.epoch = *epoch;
        hurt.started = job.ran_since;
        weigh(turn, incident, hurt, job, true);
        incident.jobs.push_back(hurt);
    }
}

void uncount_requeue(Turn& turn, Incident& incident, const Action& action) {
    std::erase_if(incident.jobs, [&](const HurtJob& hurt) {
        return hurt.id == action.job && hurt.epoch == action.epoch && !hurt.settled;
    });
    const auto found = turn.state.jobs.find(action.job);
    if (found == turn.state.jobs.end() || found->second.requeued_epoch != action.epoch) return;
    for (const auto& [number, other] : turn.state.incidents)
        for (const auto& intent : other.intents)
            if (intent.action.job == action.job && intent.action.epoch == action.epoch &&
                intent.action.kind == ActionKind::requeue_job && intent.progress != Progress::overtaken)
                return; // another culprit still asks for it
    auto& job = found->second;
    job.requeued_epoch.reset();
    if (job.requeues > 0) --job.requeues;
    if (job.fruitless > 0) --job.fruitless;
}

base::Time save_deadline(const JobState& job, base::Time now, const Policy& policy) {
    auto wait = unknown_cost_deadline;
    if (job.cost.count() > 0)
        wait =
            base::duration_from_seconds(std::chrono::duration<double>(job.cost).count() * policy.save_factor);
    return now + std::max(policy.save_min, std::min(wait, policy.save_max));
}

void settle_jobs(Turn& turn, Incident& incident) {
    for (auto& hurt : incident.jobs)
        if (!hurt.settled && hurt.left.empty() && !hurt.observed) settle_job(turn, incident, hurt);
}

void learn_commit(JobState& job, const Commit& commit) {
    if (!job.commit || commit.step > job.commit->step) job.fruitless = 0;
    job.commit = commit;
    // The newest weighs most, but one slow write does not triple the deadline.
    constexpr double weight = 0.5;
    const auto newest = commit.cost_s * 1e6;
    const auto before = static_cast<double>(job.cost.count());
    const auto cost = before > 0 ? before + weight * (newest - before) : newest;
    job.cost = std::chrono::microseconds(std::max<std::int64_t>(1, std::llround(cost)));
}

void refresh_interval(JobState& job, const Policy& policy) {
    job.interval = policy.min_interval; // until its cost is known: an early checkpoint tells it
    if (job.cost.count() == 0) return;
    const auto mtbf = job_mtbf(policy.mtbf_node, std::max(job.rm.node_count, 1u));
    if (!mtbf) return;
    const auto interval = checkpoint_interval(job.cost, *mtbf, {policy.min_interval, policy.max_interval});
    if (interval) job.interval = base::duration_from_seconds(interval->count());
}

} // namespace restart
