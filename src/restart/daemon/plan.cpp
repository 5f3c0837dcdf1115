#include "restart/daemon/plan.hpp"

#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/names.hpp"
#include "restart/daemon/views.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

constexpr std::string_view under_way = "under way", awaited = "awaited", next = "next", withheld = "withheld",
                           left = "left";

PlanStep step_of(std::string_view state, std::string what, std::optional<base::JobId> job = {}) {
    PlanStep step;
    step.state = state;
    step.what = std::move(what);
    step.job = job;
    return step;
}

class Planner {
public:
    Planner(const State& state, const Policy& policy, const View& view)
        : state_(state), policy_(policy), view_(view) {}

    PlannedIncident plan(const Incident& incident) {
        out_ = {};
        out_.id = incident.id();
        out_.kind = codec::name(incident.kind);
        out_.phase = codec::name(incident.phase);
        out_.host = incident.host;
        if (view_.sees_events()) out_.what = incident.what;
        add_intents(incident);
        if (incident.phase == Phase::suspected) add_suspicion(incident);
        for (const auto& job : incident.jobs)
            if (sees(state_, view_, job)) add_job(incident, job);
        add_withheld(incident);
        if (incident.phase == Phase::saving && view_.sees_events() && !has_drain(state_, incident.host))
            out_.steps.push_back(step_of(next, "drain " + incident.host));
        if (out_.steps.empty() && view_.sees_events()) add_ending(incident);
        return std::move(out_);
    }

private:
    void add_intents(const Incident& incident) {
        for (const auto& intent : incident.intents) {
            if (intent.settled() || !sees(state_, view_, intent.action)) continue;
            auto step = step_of(under_way, describe(intent.action), job_if(intent.action));
            if (intent.progress == Progress::waiting) {
                step.why = fmt::format("failed {} times, and is tried again", intent.tries);
                step.by = intent.next_try;
            } else if (intent.progress == Progress::unconfirmed) {
                step.why = "begun before restartd was restarted: the next reading of the queue shows whether "
                           "it was done";
            }
            out_.steps.push_back(std::move(step));
        }
    }

    void add_suspicion(const Incident& incident) {
        if (!view_.sees_events()) return;
        auto step = step_of(awaited, fmt::format("a second witness of the loss of {}", incident.host));
        const auto looks = state_.looks.find(incident.host);
        if (looks != state_.looks.end() &&
            (looks->second.noted == PeerView::unreached || looks->second.noted == PeerView::mute)) {
            step.why = "other hosts do not reach it either: it stays suspected as long as they do not";
        } else {
            step.by = std::max(incident.fault, state_.grace_from) + policy_.silent + policy_.witness_wait;
            step.why = "then the suspicion is dropped";
        }
        out_.steps.push_back(std::move(step));
    }

    void add_job(const Incident& incident, const AffectedJob& job) {
        const auto add = [&](std::string_view state, std::string what, std::optional<base::Time> by,
                             std::string why) {
            auto step = step_of(state, std::move(what), job.id);
            step.by = by;
            step.why = std::move(why);
            out_.steps.push_back(std::move(step));
        };
        if (job.goal == JobGoal::stay) return add(left, fmt::format("job {}", job.shown()), {}, job.left);
        if (job.settled || incident.phase == Phase::withheld) return;
        if (job.to_move()) {
            if (job.asked)
                add(awaited, fmt::format("job {} saves a checkpoint", job.shown()), job.save_by, {});
            return add(next, fmt::format("requeue job {} without {}", job.shown(), incident.host),
                       job.save_by, {});
        }
        if (job.goal == JobGoal::held) return;
        const auto found = state_.jobs.find(job.id);
        add(awaited, fmt::format("job {} starts without {}", job.shown(), incident.host), {},
            found == state_.jobs.end() ? std::string() : found->second.rm.why);
    }

    void add_withheld(const Incident& incident) {
        for (const auto& kept : incident.withheld) {
            if (!sees_kept(incident, kept)) continue;
            auto step = step_of(withheld, kept.what, kept.job);
            step.key = kept.key;
            step.why = kept.why;
            out_.steps.push_back(std::move(step));
        }
    }

    bool sees_kept(const Incident& incident, const Withheld& kept) const {
        if (!kept.job) return view_.sees_events();
        return std::any_of(incident.jobs.begin(), incident.jobs.end(), [&](const AffectedJob& job) {
            return job.id == *kept.job && sees(state_, view_, job);
        });
    }

    // Nothing is left to do: what ends it.
    void add_ending(const Incident& incident) {
        switch (incident.kind) {
        case IncidentKind::mass_silence:
            out_.steps.push_back(
                step_of(awaited, "the agents report again, or the fabric shows who is lost"));
            out_.steps.back().by = incident.opened + policy_.group_wait;
            out_.steps.back().why = "then each host is judged alone";
            break;
        case IncidentKind::wrong_file:
            out_.steps.push_back(step_of(awaited, "agents read a fabric file that fits most hosts"));
            break;
        case IncidentKind::common_cause:
            out_.steps.push_back(step_of(awaited, fmt::format("{} comes back", incident.cause)));
            if (incident.phase == Phase::watching) {
                out_.steps.back().by = incident.wait_until;
                out_.steps.back().why = "then jobs leave its hosts where that costs less than staying";
            }
            break;
        case IncidentKind::repair:
            out_.steps.push_back(
                step_of(awaited, fmt::format("{} comes back without a fault", incident.host)));
            break;
        case IncidentKind::node_loss:
        case IncidentKind::bad_host:
        case IncidentKind::operator_request:
        case IncidentKind::exclusion:
        case IncidentKind::job_failure:
        case IncidentKind::departure:
        case IncidentKind::preflight:
            out_.steps.push_back(step_of(awaited, "the resource manager shows what was done"));
            break;
        }
    }

    const State& state_;
    const Policy& policy_;
    const View& view_;
    PlannedIncident out_;
};

} // namespace

Modes modes_of(const State& state, const DriverStatus& status, const View& view) {
    Modes modes;
    modes.observe_only = status.policy.observe_only;
    const auto shown = [&](const std::vector<std::string>& hosts) {
        return view.sees_hosts() ? hosts : std::vector<std::string>();
    };
    for (const auto& pause : state.pauses)
        if (status.now < pause.until && (pause.hosts.empty() || view.sees_hosts()))
            modes.pauses.push_back({pause.user, pause.reason, pause.since, pause.until, shown(pause.hosts)});
    for (const auto& open : state.maintenance)
        if (open.hosts.empty() || view.sees_hosts())
            modes.maintenance.push_back(
                {fmt::format("restartd.maintenance, \"{}\"", open.window), shown(open.hosts)});
    if (!view.sees_hosts()) return modes;
    MaintenanceStatus reserved{"the resource manager", {}};
    for (const auto& [name, host] : state.hosts)
        if (host.node && host.node->maintenance) reserved.hosts.push_back(name);
    if (!reserved.hosts.empty()) modes.maintenance.push_back(std::move(reserved));
    if (!view.sees_events()) return modes;
    for (const auto& [key, crossing] : state.crossings) {
        const auto gap = std::min(key.find(' '), key.size());
        modes.bounds.push_back(
            {key.substr(0, gap), key.substr(std::min(gap + 1, key.size())), crossing.why, crossing.since});
    }
    return modes;
}

RecoveryPlan plan_of(const State& state, const DriverStatus& status, const View& view) {
    RecoveryPlan plan;
    plan.time = status.now;
    plan.modes = modes_of(state, status, view);
    plan.not_shown = view.not_shown(status.policy.words);
    Planner planner(state, status.policy, view);
    for (const auto& [number, incident] : state.incidents)
        if (sees(state, view, incident)) plan.incidents.push_back(planner.plan(incident));
    return plan;
}

} // namespace restart
