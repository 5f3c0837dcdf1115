// The jobs a fault hurts: which they are, how they are moved, and how it ended for them.

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/core/interval.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace restart {
namespace {

// For a job that has not told what a checkpoint costs it.
constexpr base::Duration unknown_cost_deadline{60'000};
// A requeued job that is still pending after this long is worth a line.
constexpr base::Duration long_wait{60'000};

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The start of the job that the fault hurt, when it did.
std::optional<std::uint32_t> hurt_epoch(const JobState& job, const Incident& incident) {
    const auto phase = job.rm.phase;
    if (phase != JobPhase::pending && contains(job.rm.nodes, incident.host)) return job.rm.restarts;
    // The resource manager saw the loss before we confirmed it and has already requeued the job.
    if (incident.kind == IncidentKind::node_loss && phase != JobPhase::running && job.left &&
        *job.left >= incident.fault && job.rm.restarts <= job.ran_epoch + 1 &&
        contains(job.ran_on, incident.host))
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

void decide_job(Turn& turn, Incident& incident, HurtJob& hurt, const JobState& job) {
    const auto leave = [&](std::string_view why) {
        hurt.settled = true;
        turn.note(NoteKind::decision, incident, hurt.id,
                  fmt::format("job {} is left to the resource manager: {}", hurt.id, why));
    };
    if (!job.rm.restart) return leave("it was submitted without --restart=auto");
    if (!*job.rm.restart) return leave("--restart=never");
    if (!job.rm.requeue) return leave("it may not be requeued");
    const auto why = futile(job, turn.policy);
    if (why.empty()) {
        hurt.recover = true;
    } else if (incident.kind == IncidentKind::node_loss) {
        hurt.recover = hurt.hold = true;
        turn.note(NoteKind::decision, incident, hurt.id, fmt::format("job {} is held: {}", hurt.id, why));
    } else {
        hurt.settled = true;
        turn.note(NoteKind::decision, incident, hurt.id,
                  fmt::format("job {} is left where it runs: {}", hurt.id, why));
    }
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
    if (contains(job.rm.nodes, incident.host)) {
        turn.note(
            NoteKind::outcome, incident, hurt.id,
            fmt::format("job {} runs on {} again, with {} in spite of its exclusion: not moved a second time",
                        hurt.id, nodes, incident.host));
        return;
    }
    const auto began = std::clamp(job.rm.start, *hurt.stopped, std::max(*hurt.stopped, turn.now));
    turn.note(NoteKind::outcome, incident, hurt.id,
              fmt::format("job {} is RUNNING on {} (restart {}), {} after it stopped; {}", hurt.id, nodes,
                          job.rm.restarts, base::human_duration(began - *hurt.stopped), lost_and_kept(hurt)));
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
        turn.note(NoteKind::outcome, incident, hurt.id, fmt::format("job {} has ended", hurt.id));
        return;
    }
    if (!hurt.stopped) return; // it may still save
    const auto& job = found->second;
    const auto* requeue = requeue_of(incident, hurt.id);
    if (requeue == nullptr) return;
    if (hurt.hold ? requeue->settled() : requeue->progress == Progress::failed) {
        if (!requeue->seen) return; // it may have failed because the job has just ended
        hurt.settled = true;
        turn.note(NoteKind::outcome, incident, hurt.id,
                  fmt::format("job {} {}", hurt.id,
                              requeue->progress == Progress::failed
                                  ? "was not requeued: an administrator must see to it"
                                  : "is held: release it when its fault is found"));
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
        action.epoch = hurt.epoch;
        action.exclude = {incident.host};
        give(turn, incident, std::move(action));
    }
    if (!hurt.told_waiting && turn.now - *hurt.stopped >= long_wait) {
        hurt.told_waiting = true;
        turn.note(NoteKind::outcome, incident, hurt.id,
                  fmt::format("job {} still waits: {}", hurt.id, job.rm.why));
    }
}

} // namespace

const Intent* requeue_of(const Incident& incident, std::uint32_t job) {
    const auto found =
        std::find_if(incident.intents.begin(), incident.intents.end(), [&](const Intent& intent) {
            return intent.action.job == job && (intent.action.kind == ActionKind::requeue_job ||
                                                intent.action.kind == ActionKind::update_job);
        });
    return found == incident.intents.end() ? nullptr : &*found;
}

void gather_jobs(Turn& turn, Incident& incident) {
    for (const auto& [id, job] : turn.state.jobs) {
        const auto epoch = hurt_epoch(job, incident);
        if (!epoch) continue;
        if (std::any_of(incident.jobs.begin(), incident.jobs.end(),
                        [&, job_id = id](const HurtJob& known) { return known.id == job_id; }))
            continue;
        HurtJob hurt;
        hurt.id = id;
        hurt.epoch = *epoch;
        hurt.started = job.ran_since;
        decide_job(turn, incident, hurt, job);
        incident.jobs.push_back(hurt);
    }
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
        if (!hurt.settled) settle_job(turn, incident, hurt);
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
