#include "restart/daemon/views.hpp"

#include "restart/core/names.hpp"
#include "restart/core/witnesses.hpp"

#include <algorithm>

namespace restart {
namespace {

template <class T> std::string word(T value) {
    return std::string(codec::name(value));
}

HostStatus status_of(const State& state, const DriverStatus& status, const std::string& name,
                     const HostState& host) {
    HostStatus view;
    view.name = name;
    view.unit = host.unit;
    if (host.node) {
        view.state = host.node->state;
        view.reason = host.node->reason;
        view.down = host.node->down;
        view.drain = host.node->drain;
        view.not_responding = host.node->not_responding;
    }
    view.lost = host.lost;
    view.agent.last_report = host.last_report;
    view.agent.silent = host.last_report && status.now - *host.last_report > status.policy.silent;
    view.agent.not_watching = host.not_watching;
    if (host.links.links_total > 0) view.links = {host.links.links_up, host.links.links_total};
    view.findings = host.findings;
    if (const auto* incident = state.incident_of(name)) view.incident = incident->id();
    return view;
}

JobStatus status_of(std::uint32_t id, const JobState& job) {
    JobStatus view;
    view.id = id;
    view.name = name_of(job.rm);
    view.interactive = job.rm.interactive;
    for (const auto& component : job.rm.components)
        view.components.push_back({component.id, component.name, component.nodes});
    view.uid = job.rm.uid;
    view.state = word(job.rm.phase);
    view.nodes = job.rm.nodes;
    view.node_count = job.rm.node_count;
    view.epoch = job.rm.restarts;
    view.start = job.rm.start;
    if (job.rm.restart) view.restart = *job.rm.restart ? "auto" : "never";
    view.ckpt_dir = job.rm.ckpt_dir;
    view.excluded = job.rm.excluded;
    if (job.rm.phase == JobPhase::pending) view.why_pending = job.rm.why;
    view.speaks = job.speaks;
    view.commit = job.commit;
    view.cost_s = std::chrono::duration<double>(job.cost).count();
    view.interval = job.interval;
    view.requeues = job.requeues;
    return view;
}

IncidentStatus status_of(const Incident& incident) {
    IncidentStatus view;
    view.id = incident.id();
    view.kind = word(incident.kind);
    view.phase = word(incident.phase);
    view.host = incident.host;
    view.what = incident.what;
    view.opened = incident.opened;
    view.fault = incident.fault;
    for (const auto& job : incident.jobs)
        view.jobs.push_back({job.id, job.shown(), job.epoch, job.recover, job.save_by, job.last, job.stopped,
                             job.settled});
    for (const auto& intent : incident.intents)
        view.actions.push_back({intent.action.id, word(intent.action.kind), describe(intent.action),
                                word(intent.progress), intent.tries});
    return view;
}

template <class Wanted> std::vector<IncidentStatus> incidents(const State& state, Wanted wanted) {
    std::vector<IncidentStatus> views;
    for (const auto& [number, incident] : state.incidents)
        if (wanted(incident)) views.push_back(status_of(incident));
    return views;
}

// By its name as long as the job is there, then by its number alone.
std::string job_name(const State& state, std::uint32_t job) {
    const auto found = state.jobs.find(job);
    return job == 0                    ? std::string()
           : found == state.jobs.end() ? std::to_string(job)
                                       : name_of(found->second.rm);
}

std::vector<TimelineEntry> timeline(const State& state, const std::vector<Note>& notes) {
    std::vector<TimelineEntry> entries;
    entries.reserve(notes.size());
    for (const auto& note : notes)
        entries.push_back({note.time, word(note.kind), note.incident, note.host, note.job,
                           job_name(state, note.job), note.text});
    return entries;
}

WitnessStatus status_of(const Witnesses& witnesses) {
    return {witnesses.hosts, witnesses.agents, witnesses.gives_up,
            witnesses.swept, witnesses.slow,   sentences(witnesses)};
}

} // namespace

Status status_of(const State& state, const DriverStatus& status) {
    Status view;
    view.time = status.now;
    view.observe_only = status.policy.observe_only;
    view.resource_manager = {state.rm_answers, state.rm_read};
    view.journal = {status.journal.string(), status.journal_error};
    view.fabric = {status.fabric_error};
    view.witnesses = status_of(witnesses_of(state, status.policy, status.now));
    if (state.rm_config) view.installation.missing = missing_parts(*state.rm_config);
    view.drained_by_railyard = drained_by_us(state);
    view.hosts.reserve(state.hosts.size());
    for (const auto& [name, host] : state.hosts)
        view.hosts.push_back(status_of(state, status, name, host));
    view.jobs.reserve(state.jobs.size());
    for (const auto& [id, job] : state.jobs)
        view.jobs.push_back(status_of(id, job));
    view.incidents = incidents(state, [](const Incident&) { return true; });
    return view;
}

JobExplanation explain_job(const State& state, const DriverStatus& status, std::uint32_t job,
                           boost::json::object placement, const std::vector<Note>& notes) {
    JobExplanation view;
    view.time = status.now;
    if (const auto found = state.jobs.find(job); found != state.jobs.end())
        view.job = status_of(job, found->second);
    view.placement = std::move(placement);
    view.incidents = incidents(state, [&](const Incident& incident) {
        return std::any_of(incident.jobs.begin(), incident.jobs.end(),
                           [&](const HurtJob& hurt) { return hurt.id == job; });
    });
    view.timeline = timeline(state, notes);
    return view;
}

HostExplanation explain_host(const State& state, const DriverStatus& status, const std::string& host,
                             const std::vector<Note>& notes) {
    HostExplanation view;
    view.time = status.now;
    if (const auto found = state.hosts.find(host); found != state.hosts.end())
        view.host = status_of(state, status, host, found->second);
    view.incidents = incidents(state, [&](const Incident& incident) { return incident.host == host; });
    view.timeline = timeline(state, notes);
    return view;
}

History history_of(const State& state, const std::vector<Note>& notes, std::vector<StoredAction> actions) {
    return {timeline(state, notes), std::move(actions)};
}

} // namespace restart
