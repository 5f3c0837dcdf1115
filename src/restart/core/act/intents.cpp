// Actions from their start to their end: outcomes, retries, and what a snapshot shows about those begun
// before a restart of the daemon.

#include "restart/core/act/act.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

const HostState* find_host(const State& state, const Action& action) {
    const auto found = state.hosts.find(host_of(action));
    return found == state.hosts.end() ? nullptr : &found->second;
}

constexpr std::uint32_t most_refusals = 5; // tries of an action that is refused

// Applies `change` to each intent of the open incidents.
template <class Change> void each_intent(StepContext& ctx, Change change) {
    for (auto& [number, incident] : ctx.state.incidents)
        for (auto& intent : incident.intents)
            change(incident, intent);
}

// Permanently refused: tried again after this long if still needed.
constexpr base::Duration refused_pause{600'000};

void note_not_done(StepContext& ctx, const Incident& incident, const Intent& intent, std::string_view why) {
    ctx.note(NoteKind::action, incident, job_if(intent.action),
             fmt::format("{}: {}: {}", describe(intent.action), intent.found_bad ? "bad" : "not done", why));
}

void fail(StepContext& ctx, const Incident& incident, Intent& intent, std::string_view why) {
    intent.progress = Progress::failed;
    intent.next_try = ctx.now + refused_pause;
    note_not_done(ctx, incident, intent, why);
    // What was refused is left to an administrator: the job's list stays as it is.
    const auto* change = as<KeepOff>(intent.action);
    const auto job = ctx.state.jobs.find(job_of(intent.action));
    if (change == nullptr || job == ctx.state.jobs.end()) return;
    std::erase(change->readmit.empty() ? job->second.moved_off : job->second.excluded_by_us,
               change->job.host);
}

// It was no longer needed when it was to be performed. Nothing was done; the present state decides again.
void drop(StepContext& ctx, Incident& incident, Intent& intent, std::string_view why) {
    intent.progress = Progress::obsolete;
    note_not_done(ctx, incident, intent, why);
    if (as<RequeueJob>(intent.action) != nullptr || as<SubmitAgain>(intent.action) != nullptr)
        uncount_requeue(ctx, incident, intent.action);
}

void restart_action(StepContext& ctx, Incident& incident, Intent& intent) {
    if (const auto why = why_obsolete(ctx.state, ctx.policy, ctx.now, intent.action); !why.empty())
        return drop(ctx, incident, intent, why);
    intent.progress = Progress::dispatched;
    ctx.emit(intent.action);
}

// Whether the snapshot shows that an action was done: one function for each kind. Arguments are null when the
// resource manager does not know the host or job.
bool happened(const DrainHost& action, const HostState* host, const JobState*) {
    return host != nullptr && owned_by_us(*host) && owner_of(host->node->reason) == owner_of(action.reason);
}
bool happened(const DownHost& action, const HostState* host, const JobState*) {
    return host != nullptr && host->node->down && (!action.drain || owned_by_us(*host));
}
bool happened(const ResumeHost&, const HostState* host, const JobState*) {
    return host != nullptr && !host->node->drain;
}

bool happened(const FreeHost&, const HostState* host, const JobState*) {
    return host != nullptr && host->node->down && owned_by_us(*host);
}

// A program of the site may or may not have run: it is not run twice, and its effect shows on its own. What a
// check found does not.
bool happened(const RepairHost& action, const HostState* host, const JobState*) {
    if (action.rung == Rung::check) return false;
    return by_program(action.rung) || (host != nullptr && (host->node->rebooting || host->node->away ||
                                                           host->boot_id != action.boot_id));
}

// Whether it is known not to have been done: for a reboot only the host's own later reports show that. A
// check may still run, and two at a time would slow each other.
bool may_repeat(const StepContext& ctx, const Action& action) {
    if (as<RepairHost>(action) == nullptr) return true;
    if (is_check(action)) return false;
    const auto* host = find_host(ctx.state, action);
    return host != nullptr && host->last_report && *host->last_report > ctx.state.grace_from;
}

bool excludes(const JobState& job, const std::vector<std::string>& hosts) {
    return std::all_of(hosts.begin(), hosts.end(),
                       [&](const std::string& name) { return has_name(job.rm.excluded, name); });
}
bool happened(const RequeueJob& action, const HostState*, const JobState* job) {
    // A hold that the action did not request is its user's, or a result of the action: rm knows which.
    return job != nullptr && job->rm.restarts > action.job.epoch && excludes(*job, action.exclude) &&
           (action.hold || !job->rm.held);
}
bool happened(const UpdateJob& action, const HostState*, const JobState* job) {
    return job != nullptr && !(action.release && job->rm.unlaunched) &&
           (job->rm.phase == JobPhase::running || excludes(*job, action.exclude));
}
bool happened(const KeepOff& action, const HostState*, const JobState* job) {
    return job != nullptr && excludes(*job, action.exclude) &&
           std::none_of(action.readmit.begin(), action.readmit.end(),
                        [&](const std::string& name) { return has_name(job->rm.excluded, name); });
}
bool happened(const NotifyJob&, const HostState*, const JobState*) {
    return false; // restart/rm does not notify twice
}

// Of plans, which are not intents of an incident (gangs.cpp).
bool happened(const PlaceJob&, const HostState*, const JobState*) {
    return false;
}
bool happened(const ParkJob&, const HostState*, const JobState*) {
    return false;
}
// The same for idle checks (idle_checks.cpp).
bool happened(const CheckHost&, const HostState*, const JobState*) {
    return false;
}
bool happened(const EndCheck&, const HostState*, const JobState*) {
    return false;
}
// Another job shows it.
bool happened(const SubmitAgain&, const HostState*, const JobState*) {
    return false;
}

bool happened(const StepContext& ctx, const Action& action) {
    if (const auto* again = as<SubmitAgain>(action))
        return submitted_for(ctx.state, again->job.id, again->job.epoch) != nullptr;
    const auto* host = find_host(ctx.state, action);
    const auto job = ctx.state.jobs.find(job_of(action));
    return std::visit(
        [&](const auto& what) {
            return happened(what, host != nullptr && host->node ? host : nullptr,
                            job == ctx.state.jobs.end() ? nullptr : &job->second);
        },
        action.what);
}

// What the present state adds to an action when it starts.
void complete(const StepContext& ctx, const Incident& incident, Action& action) {
    const auto* host = find_host(ctx.state, action);
    if (auto* down = std::get_if<DownHost>(&action.what); down != nullptr && host != nullptr)
        down->generation = host->generation;
    std::visit(
        [&](auto& what) {
            if constexpr (requires { what.job; }) what.job.owner = ctx.owner_in(incident, what.job.id);
        },
        action.what);
}

} // namespace

void start_action(StepContext& ctx, Incident& incident, decltype(Action::what) what) {
    Action action{fmt::format("{}/{}", incident.id(), incident.next_action++), std::move(what)};
    // Earlier failed attempts have been noted; they need not be kept.
    std::erase_if(incident.intents, [&](const Intent& old) {
        return old.progress >= Progress::failed && old.seen && kind_of(old.action) == kind_of(action) &&
               job_if(old.action) == job_if(action) && host_of(old.action) == host_of(action);
    });
    complete(ctx, incident, action);
    if (drains(action) && incident.kind != IncidentKind::operator_request)
        ctx.state.hosts[host_of(action)].drain_begun = ctx.now;
    ctx.emit(action);
    incident.intents.push_back({std::move(action), Progress::dispatched, {}, 0, false});
}

void take_outcome(StepContext& ctx, const ActionDone& done) {
    each_intent(ctx, [&](Incident& incident, Intent& intent) {
        if (intent.action.id != done.action || intent.settled()) return;
        if (done.obsolete) return drop(ctx, incident, intent, done.error ? done.error->text : std::string());
        if (!done.error) {
            intent.progress = Progress::done;
            ctx.note(NoteKind::action, incident, job_if(intent.action),
                     describe(intent.action) +
                         (done.said.empty() ? std::string() : ": " + state_text(done.said, 256)));
            return;
        }
        const bool away = done.error->code == base::Code::unavailable;
        if (away) ctx.state.rm_answers = false;
        ++intent.tries;
        if (!away && (done.error->code == base::Code::not_found || done.error->code == base::Code::denied ||
                      intent.tries >= most_refusals || as<RepairHost>(intent.action) != nullptr)) {
            intent.found_bad = is_check(intent.action) && done.error->code == base::Code::unfit;
            return fail(ctx, incident, intent, done.error->text);
        }
        const auto wait =
            std::min(ctx.policy.retry_most, base::Duration(1'000) * (1 << std::min(intent.tries - 1, 16u)));
        intent.progress = Progress::waiting;
        intent.next_try = ctx.now + wait;
        ctx.changed();
        if (intent.tries == 1)
            ctx.note(NoteKind::action, incident, job_if(intent.action),
                     fmt::format("{}: {}; tried again", describe(intent.action), done.error->text));
    });
}

void mark_unconfirmed(StepContext& ctx) {
    each_intent(ctx, [&](Incident&, Intent& intent) {
        if (intent.progress == Progress::dispatched) intent.progress = Progress::unconfirmed;
    });
    ctx.changed();
}

void reconcile(StepContext& ctx) {
    each_intent(ctx, [&](Incident& incident, Intent& intent) {
        if (intent.settled()) intent.seen = true;
        if (intent.progress != Progress::unconfirmed) return;
        if (!happened(ctx, intent.action)) {
            if (may_repeat(ctx, intent.action)) restart_action(ctx, incident, intent);
            return;
        }
        intent.progress = Progress::done;
        intent.seen = true;
        ctx.note(NoteKind::action, incident, job_if(intent.action),
                 describe(intent.action) +
                     (by_program(intent.action)
                          ? ": may have been done before restartd was restarted, and is not begun again"
                          : ": was done before restartd was restarted"));
    });
}

void retry_waiting(StepContext& ctx, bool all_now) {
    each_intent(ctx, [&](Incident& incident, Intent& intent) {
        if (intent.progress == Progress::waiting && (all_now || ctx.now >= intent.next_try))
            restart_action(ctx, incident, intent);
    });
}

bool all_settled(const Incident& incident) {
    return std::all_of(incident.intents.begin(), incident.intents.end(),
                       [](const Intent& i) { return i.settled(); });
}

} // namespace restart
