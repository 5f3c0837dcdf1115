// Version 1 remembered which findings had been decided on ("judged"), whether or not anything was done, and
// did not tell our exclusions from a user's.

#include "restart/core/state_1.hpp"

#include "restart/core/turn.hpp"

#include <algorithm>

namespace restart {
namespace {

// A host in use whose findings were decided on was resumed by a person, or a bound or observe_only kept it in
// use. Which it was is not told: what a person may have decided stands, until the finding ends.
void pardon_judged(HostState& host, const base::Reader& read) {
    if (!host.node || ours(host) || anothers(host) || !read.has("judged")) return;
    const auto list = read.at("judged");
    if (!list) return;
    for (const auto& item : list->items().value_or({}))
        if (const auto key = item.text(); key && holds_finding(host, *key)) host.pardoned.push_back(*key);
}

// A host that hurt a job was not among those its user excluded.
void claim_exclusions(State& state, const Incident& incident) {
    for (const auto& intent : incident.intents) {
        const auto job = state.jobs.find(intent.action.job);
        if (job == state.jobs.end()) continue;
        for (const auto& host : intent.action.exclude) {
            add_name(job->second.hurt_by, host);
            if (has_name(job->second.rm.excluded, host)) add_name(job->second.kept_off, host);
        }
    }
}

} // namespace

void take_up_version_1(State& state, const base::Reader& document) {
    for (auto& [number, incident] : state.incidents) {
        claim_exclusions(state, incident);
        // Jobs that were left alone, or only observed, are weighed anew.
        std::erase_if(incident.jobs,
                      [](const HurtJob& hurt) { return !hurt.stopped && (hurt.settled || !hurt.recover); });
    }
    const auto hosts = document.at("hosts");
    if (!hosts) return;
    for (const auto& [name, read] : hosts->members().value_or({})) {
        const auto host = state.hosts.find(name);
        if (host != state.hosts.end() && state.incident_of(name) == nullptr)
            pardon_judged(host->second, read);
    }
}

} // namespace restart
