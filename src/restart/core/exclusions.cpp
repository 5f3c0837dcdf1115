// What keeps a requeued job off the hosts that hurt it: our drain where there is one, else a place in the
// list of hosts the job must not use, beside its user's. Ours are taken back when the fault is over or a
// drain keeps the host away by itself: a job that needs every host must not be left without one for good.

#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

bool wanted(const State& state, const std::string& name) {
    const auto host = state.hosts.find(name);
    return host != state.hosts.end() && is_faulty(state, host->second) && !kept_out(state, name);
}

bool waits(const JobState& job) {
    return job.rm.phase == JobPhase::pending && job.rm.nodes.empty();
}

Action change_of(std::uint32_t id, const JobState& job) {
    Action action;
    action.kind = ActionKind::keep_off;
    action.job = id;
    action.job_name = job.rm.name;
    action.epoch = job.rm.restarts;
    return action;
}

// What is to be changed of one job now; one host at a time.
std::optional<Action> change_wanted(const State& state, std::uint32_t id, const JobState& job,
                                    std::string& host) {
    auto action = change_of(id, job);
    for (const auto& name : job.kept_off)
        if (!wanted(state, name)) {
            host = name;
            action.readmit = {name};
            return action;
        }
    for (const auto& name : job.hurt_by)
        if (wanted(state, name) && !has_name(job.rm.excluded, name)) {
            host = name;
            action.exclude = {name};
            return action;
        }
    return {};
}

// What the snapshot shows to be over.
void forget(const State& state, JobState& job) {
    std::erase_if(job.kept_off, [&](const auto& name) { return !has_name(job.rm.excluded, name); });
    std::erase_if(job.hurt_by, [&](const auto& name) {
        const auto host = state.hosts.find(name);
        return (host == state.hosts.end() || !is_faulty(state, host->second)) && !has_name(job.kept_off, name);
    });
}

std::string heading(const std::string& host, const Action& action) {
    return action.readmit.empty() ? fmt::format("{} is in use while its fault holds", host)
                                  : fmt::format("{} need no longer be excluded", host);
}

} // namespace

std::vector<std::string> exclusion_of(Turn& turn, JobState& job, const std::string& host) {
    add_name(job.hurt_by, host);
    if (kept_out(turn.state, host)) return {};
    if (!has_name(job.rm.excluded, host)) add_name(job.kept_off, host);
    return {host};
}

void tend_exclusions(Turn& turn) {
    if (turn.policy.observe_only) return;
    std::map<std::string, std::vector<Action>> changes; // by host and direction: an incident each
    for (auto& [id, job] : turn.state.jobs) {
        if ((job.hurt_by.empty() && job.kept_off.empty()) || job_in_flight(turn.state, id)) continue;
        forget(turn.state, job);
        if (!waits(job)) continue;
        std::string host;
        auto change = change_wanted(turn.state, id, job, host);
        if (!change) continue;
        if (change->readmit.empty()) add_name(job.kept_off, host);
        change->host = host;
        changes[heading(host, *change)].push_back(*std::move(change));
    }
    for (auto& [what, actions] : changes) {
        auto& incident =
            open_incident(turn, IncidentKind::exclusion, Phase::moving, actions.front().host, what, turn.now);
        for (auto& action : actions)
            give(turn, incident, std::move(action));
    }
}

void exclude_before_resume(Turn& turn, Incident& incident) {
    const auto host = turn.state.hosts.find(incident.host);
    if (host == turn.state.hosts.end() || !is_faulty(turn.state, host->second)) return;
    for (auto& [id, job] : turn.state.jobs) {
        if (!waits(job) || !has_name(job.hurt_by, incident.host) ||
            has_name(job.rm.excluded, incident.host) || job_in_flight(turn.state, id))
            continue;
        add_name(job.kept_off, incident.host);
        auto action = change_of(id, job);
        action.host = incident.host;
        action.exclude = {incident.host};
        give(turn, incident, std::move(action));
    }
}

bool job_in_flight(const State& state, std::uint32_t job) {
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (intent.action.job == job && intent.in_flight()) return true;
    return false;
}

std::string exclusion_overtaken(const State& state, const Action& action) {
    const auto job = state.jobs.find(action.job);
    if (job == state.jobs.end()) return "the job has ended";
    if (!waits(job->second)) return "the job no longer waits";
    for (const auto& name : action.exclude) {
        const auto host = state.hosts.find(name);
        if (host == state.hosts.end() || !is_faulty(state, host->second)) return name + " is sound again";
    }
    for (const auto& name : action.readmit)
        if (wanted(state, name)) return name + " has a fault again";
    return {};
}

} // namespace restart
