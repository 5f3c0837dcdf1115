// Keeps a requeued job off the hosts it was moved off: by our drain if there is one, else by an entry in the
// job's list of excluded hosts, in addition to its user's. Our entries are removed when the fault is over or
// a drain keeps the job off: a job that needs every host must not be left without one for good.

#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

KeepOff change_of(base::JobId id, const JobState& job, const std::string& host) {
    KeepOff change;
    change.job = target(id, job.rm.name, job.rm.restarts, host);
    return change;
}

// The next change for one job; one host at a time.
std::optional<KeepOff> change_wanted(const StepContext& ctx, base::JobId id, const JobState& job) {
    const auto& state = ctx.state;
    const auto open = [&](const std::string& name) { return !gate(state, ctx.policy, ctx.now, name); };
    for (const auto& name : job.excluded_by_us)
        if (!needs_exclusion(state, name) && !preflight_keeps_off(job, name, ctx.now) && open(name)) {
            auto change = change_of(id, job, name);
            change.readmit = {name};
            return change;
        }
    for (const auto& name : job.moved_off)
        if (needs_exclusion(state, name) && !has_name(job.rm.excluded, name) && open(name)) {
            auto change = change_of(id, job, name);
            change.exclude = {name};
            return change;
        }
    return {};
}

// What the snapshot shows to be over.
void forget(const State& state, JobState& job) {
    std::erase_if(job.excluded_by_us, [&](const auto& name) { return !has_name(job.rm.excluded, name); });
    std::erase_if(job.moved_off, [&](const auto& name) {
        const auto host = state.hosts.find(name);
        return (host == state.hosts.end() || !is_faulty(state, host->second)) &&
               !has_name(job.excluded_by_us, name);
    });
}

std::string heading(const KeepOff& change) {
    return change.readmit.empty() ? fmt::format("{} is in use while its fault holds", change.job.host)
                                  : fmt::format("{} need no longer be excluded", change.job.host);
}

} // namespace

std::vector<std::string> exclusion_of(StepContext& ctx, JobState& job, const std::string& host) {
    if (host.empty()) return {};
    add_name(job.moved_off, host);
    if (has_drain(ctx.state, host)) return {};
    if (!has_name(job.rm.excluded, host)) add_name(job.excluded_by_us, host);
    return {host};
}

void update_exclusions(StepContext& ctx) {
    if (gate(ctx.state, ctx.policy, ctx.now, std::string_view())) return;
    std::map<std::string, std::vector<KeepOff>> changes; // by host and direction: one incident each
    for (auto& [id, job] : ctx.state.jobs) {
        if ((job.moved_off.empty() && job.excluded_by_us.empty()) || job_in_flight(ctx.state, id)) continue;
        forget(ctx.state, job);
        if (!waits_for_hosts(job)) continue;
        auto change = change_wanted(ctx, id, job);
        if (!change) continue;
        if (change->readmit.empty()) add_name(job.excluded_by_us, change->job.host);
        changes[heading(*change)].push_back(*std::move(change));
    }
    for (auto& [what, actions] : changes) {
        auto& incident = open_incident(ctx, IncidentKind::exclusion, Phase::moving, actions.front().job.host,
                                       what, ctx.now);
        for (auto& action : actions)
            start_action(ctx, incident, std::move(action));
    }
}

void exclude_before_resume(StepContext& ctx, Incident& incident) {
    const auto host = ctx.state.hosts.find(incident.host);
    if (host == ctx.state.hosts.end() || !is_faulty(ctx.state, host->second)) return;
    for (auto& [id, job] : ctx.state.jobs) {
        if (!waits_for_hosts(job) || !has_name(job.moved_off, incident.host) ||
            has_name(job.rm.excluded, incident.host) || job_in_flight(ctx.state, id))
            continue;
        add_name(job.excluded_by_us, incident.host);
        auto change = change_of(id, job, incident.host);
        change.exclude = {incident.host};
        start_action(ctx, incident, std::move(change));
    }
}

} // namespace restart
