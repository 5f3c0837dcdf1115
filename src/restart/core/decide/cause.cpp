// What is done about a common cause that does not recover on its own: jobs leave its hosts where that costs
// less than staying, those that gain most first, within the bounds on drains. No host is drained for it: none
// of them is at fault, and what each can still do may be enough.

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/decide/weigh.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace restart {
namespace {

bool begun(const AffectedJob& affected) {
    return affected.goal != JobGoal::stay && (affected.stopped || affected.asked);
}

// Hosts that jobs have left or are about to leave because of such incidents.
std::set<std::string> hosts_left(const State& state) {
    std::set<std::string> left;
    for (const auto& [number, incident] : state.incidents)
        if (incident.kind == IncidentKind::common_cause)
            for (const auto& affected : incident.jobs)
                if (begun(affected)) left.insert(affected.on.begin(), affected.on.end());
    return left;
}

// Those to be moved, first the ones for which waiting costs most compared with moving.
std::vector<AffectedJob*> in_order_of_cost(const StepContext& ctx, Incident& incident) {
    std::vector<std::pair<double, AffectedJob*>> gains;
    for (auto& affected : incident.jobs) {
        if (!still_there(ctx, affected)) continue;
        const auto cost = weigh(ctx.state, ctx.policy, ctx.now, incident, ctx.state.jobs.at(affected.id));
        gains.emplace_back(cost ? cost->waiting() - cost->moving() : 0, &affected);
    }
    std::stable_sort(gains.begin(), gains.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    std::vector<AffectedJob*> jobs;
    for (const auto& [gain, affected] : gains)
        jobs.push_back(affected);
    return jobs;
}

void move_jobs(StepContext& ctx, Incident& incident) {
    const auto noted = std::exchange(incident.withheld, {});
    const auto shut = gate(ctx.state, ctx.policy, ctx.now, std::string_view());
    auto left = hosts_left(ctx.state);
    const auto most = drains_left(ctx.state, ctx.policy);
    for (auto* affected : in_order_of_cost(ctx, incident)) {
        const bool ended = ctx.state.jobs.at(affected->id).rm.phase == JobPhase::ended;
        const auto what = "requeue job " + affected->shown();
        if (shut) {
            affected->asked = affected->save_by = {};
            keep_back(ctx, incident, noted, {what, affected->id, shut->key, shut->why}, ": " + shut->why);
            continue;
        }
        auto with = left;
        with.insert(affected->on.begin(), affected->on.end());
        if (!ended && !begun(*affected) && with.size() > most) {
            const auto why = fmt::format("no more than {} hosts are left or drained at a time", most);
            keep_back(ctx, incident, noted, {what, affected->id, "max_drained_percent", why}, ": " + why);
            continue;
        }
        left = std::move(with);
        const auto& job = ctx.state.jobs.at(affected->id);
        if (!affected->asked && job.connected) ask_to_save(ctx, incident, *affected, job);
        if (!affected->asked || saved(ctx, incident, *affected)) move_job(ctx, incident, *affected);
    }
}

bool was_resumed(const Incident& incident, const std::string& host) {
    return std::any_of(incident.intents.begin(), incident.intents.end(), [&](const Intent& intent) {
        return as<ResumeHost>(intent.action) != nullptr && host_of(intent.action) == host;
    });
}

// Jobs that were to be moved stay; hosts drained before the cause was seen are used again.
void let_go(StepContext& ctx, Incident& incident) {
    std::erase_if(incident.jobs, [&](const AffectedJob& affected) {
        if (affected.to_move() && ctx.state.jobs.contains(affected.id))
            ctx.note(
                NoteKind::outcome, incident, affected.id,
                fmt::format("job {} goes on where it runs: {} is over", affected.shown(), incident.cause));
        return affected.to_move() || affected.goal == JobGoal::stay;
    });
    incident.withheld.clear();
    if (incident.merged.empty() || gate(ctx.state, ctx.policy, ctx.now, std::string_view())) return;
    for (const auto& [name, host] : ctx.state.hosts)
        if (owned_by_us(host) && host.node->drain && !host.node->down &&
            has_name(incident.merged, owner_of(host.node->reason)) && !is_faulty(ctx.state, host) &&
            !host_in_flight(ctx.state, name) && !was_resumed(incident, name))
            start_action(ctx, incident, ResumeHost{name});
}

bool is_over(const Incident& incident) {
    return incident.phase == Phase::verifying;
}

} // namespace

bool advance_cause(StepContext& ctx, Incident& incident) {
    if (is_over(incident)) {
        let_go(ctx, incident);
        settle_jobs(ctx, incident);
        return !all_seen(incident);
    }
    if (incident.phase == Phase::suspected) return true;
    if (incident.phase == Phase::watching) {
        if (ctx.now < incident.wait_until || incident.none_since) {
            gather_jobs(ctx, incident, true);
            move_jobs(ctx, incident);
            settle_jobs(ctx, incident);
            return true;
        }
        incident.phase = Phase::moving;
        const auto hosts = hosts_of(incident);
        ctx.note(NoteKind::decision, incident, {},
                 hosts.empty()
                     ? fmt::format("{} has not come back: no host has lost its links, and no job is moved",
                                   incident.cause)
                     : fmt::format("{} has not come back: jobs leave {} where that costs less than staying",
                                   incident.cause, base::fold_hostlist(hosts)));
    }
    gather_jobs(ctx, incident);
    move_jobs(ctx, incident);
    settle_jobs(ctx, incident);
    return true;
}

} // namespace restart
