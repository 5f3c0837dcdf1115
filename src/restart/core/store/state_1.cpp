// Version 1 recorded which findings had been decided on ("judged"), whether or not anything was done, and did
// not distinguish our exclusions from a user's.

#include "restart/core/store/state_1.hpp"

#include "restart/core/facts/host_use.hpp"

#include <algorithm>

namespace restart {
namespace {

// A host in use whose findings were decided on was resumed by an administrator, or a bound or observe_only
// kept it in use. Which is not known: a possible resume is respected, until the finding ends.
void overrule_judged(HostState& host, const base::Reader& read) {
    if (!host.node || owned_by_us(host) || owned_by_others(host) || !read.has("judged")) return;
    const auto list = read.at("judged");
    if (!list) return;
    for (const auto& item : list->items().value_or({}))
        if (const auto key = item.text(); key && holds_finding(host, *key)) host.overruled.push_back(*key);
}

// A host that a job was moved off was not among those its user excluded.
void claim_exclusions(State& state, const Incident& incident) {
    for (const auto& intent : incident.intents) {
        const auto job = state.jobs.find(job_of(intent.action));
        if (job == state.jobs.end()) continue;
        for (const auto& host : exclusions_of(intent.action)) {
            add_name(job->second.moved_off, host);
            if (has_name(job->second.rm.excluded, host)) add_name(job->second.excluded_by_us, host);
        }
    }
}

} // namespace

void take_up_version_1(State& state, const base::Reader& document) {
    for (auto& [number, incident] : state.incidents) {
        claim_exclusions(state, incident);
        // Jobs that were left alone, or only observed, are decided again.
        std::erase_if(incident.jobs, [](const AffectedJob& affected) {
            return !affected.stopped && (affected.settled || affected.goal == JobGoal::stay);
        });
    }
    const auto hosts = document.at("hosts");
    if (!hosts) return;
    for (const auto& [name, read] : hosts->members().value_or({})) {
        const auto host = state.hosts.find(name);
        if (host != state.hosts.end() && state.incident_of(name) == nullptr)
            overrule_judged(host->second, read);
    }
}

} // namespace restart
