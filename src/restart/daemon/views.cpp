#include "restart/daemon/views.hpp"

#include "base/hostlist.hpp"
#include "restart/core/decide/weigh.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/witnesses.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/names.hpp"
#include "restart/daemon/link_views.hpp"
#include "restart/daemon/plan.hpp"
#include "restart/daemon/rate_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace restart {
namespace {

template <class T> std::string word(T value) {
    return std::string(codec::name(value));
}

HostStatus status_of(const State& state, const DriverStatus& status, const std::string& name,
                     const HostState& host, const View& to) {
    HostStatus view;
    view.name = name;
    view.unit = host.unit;
    if (host.node) {
        view.state = host.node->state;
        view.reason = host.node->reason;
        view.set_by = host.node->set_by;
        view.down = host.node->down;
        view.drain = host.node->drain;
        view.not_responding = host.node->not_responding;
        view.use = use_now(host, status.now, status.policy.silent);
    }
    view.lost = host.lost;
    view.agent.last_report = host.last_report;
    view.agent.silent = host.last_report && status.now - *host.last_report > status.policy.silent;
    view.agent.not_watching = host.not_watching;
    view.agent.slurmd = host.slurmd;
    if (host.links.links_total > 0) view.links = {host.links.links_up, host.links.links_total};
    view.findings = host.findings;
    const auto* incident = state.incident_of(name);
    if (incident != nullptr && to.sees_events()) view.incident = incident->id();
    if (to.sees_events()) view.repair = repair_of(state, status, host);
    if (!to.sees_events()) view.findings.clear();
    if (const auto looks = state.looks.find(name); looks != state.looks.end() && to.sees_events())
        for (const auto& look : looks->second.peers)
            view.peers.push_back(
                {look.peer, look.saw, look.from == base::Time{} ? std::optional<base::Time>() : look.from});
    return view;
}

JobPaceStatus status_of(const JobPace& pace) {
    const auto& suspect = pace.suspect;
    const bool found = pace.held_back || pace.verdict == StragglerVerdict::found;
    JobPaceStatus view;
    view.verdict = to_string(found ? StragglerVerdict::found : pace.verdict);
    view.judged = pace.judged;
    view.missing = pace.missing;
    view.gpus = pace.gpus;
    if (!found) return view;
    view.suspect = name_of(suspect);
    view.host = suspect.host;
    view.gpu = suspect.gpu;
    view.rail = suspect.rail;
    view.port = suspect.port;
    view.leaf = suspect.leaf;
    view.score = suspect.score;
    view.confidence = suspect.confidence;
    view.evidence = suspect.evidence;
    if (pace.held_back) view.since = pace.since;
    return view;
}

JobStatus status_of(base::JobId id, const JobState& job) {
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
    view.speaks = job.connected;
    view.commit = job.commit;
    view.cost_s = std::chrono::duration<double>(job.cost).count();
    view.interval = job.interval;
    view.requeues = job.requeues;
    if (job.pace) view.pace = status_of(*job.pace);
    if (job.nccl) {
        view.nccl_host = job.nccl->host;
        view.nccl = job.nccl->word.troubles;
    }
    return view;
}

// A record of an older release does not name the job's owner.
std::optional<JobOwner> owner_of(const State& state, base::JobId id, const std::optional<JobOwner>& noted) {
    if (noted) return noted;
    const auto* job = state.find_job(id);
    return job == nullptr ? std::optional<JobOwner>() : owner_of(job->rm);
}

} // namespace

bool sees(const State& state, const View& view, const AffectedJob& job) {
    return view.all || view.sees_story(owner_of(state, job.id, job.owner));
}

bool sees(const State& state, const View& view, const Action& action) {
    const auto* job = target_of(action);
    if (job == nullptr) return view.sees_events();
    return view.all || view.sees_story(owner_of(state, job->id, job->owner));
}

// For an incident that is shown because of a job, only what concerns that job.
bool sees(const State& state, const View& view, const Incident& incident) {
    return view.sees_events() || std::any_of(incident.jobs.begin(), incident.jobs.end(),
                                             [&](const AffectedJob& job) { return sees(state, view, job); });
}

namespace {

// With what keeps its culprit in use; what is withheld for jobs is in the plan.
std::string described(const Incident& incident) {
    auto what = incident.what;
    for (const auto& kept : incident.withheld)
        if (!kept.job) what += fmt::format("; withheld: {} ({})", kept.what, kept.key);
    return what;
}

JobCostStatus status_of(const JobCost& cost) {
    JobCostStatus view{cost.slowdown,   cost.slowed_by, cost.nodes,    cost.stays,
                       cost.stays_from, cost.waiting(), cost.moving(), {}};
    for (const auto& term : cost.terms)
        view.terms.push_back({std::string(term.name), cost.node_hours(term.time), term.from});
    return view;
}

// While nothing has been done about it.
std::optional<JobCostStatus> cost_now(const State& state, const DriverStatus& status,
                                      const Incident& incident, const AffectedJob& affected) {
    const auto job = state.jobs.find(affected.id);
    if (job == state.jobs.end() || job->second.rm.restarts != affected.epoch || affected.stopped ||
        (affected.goal == JobGoal::stay && !affected.weighed))
        return {};
    const auto cost = weigh(state, status.policy, status.now, incident, job->second);
    return cost ? std::optional(status_of(*cost)) : std::nullopt;
}

IncidentStatus status_of(const State& state, const DriverStatus& status, const Incident& incident,
                         const View& to) {
    IncidentStatus view;
    view.id = incident.id();
    view.kind = word(incident.kind);
    view.phase = word(incident.phase);
    view.host = incident.host;
    if (to.sees_events()) view.what = described(incident);
    view.opened = incident.opened;
    view.fault = incident.fault;
    for (const auto& job : incident.jobs)
        if (sees(state, to, job))
            view.jobs.push_back({job.id, job.shown(), job.epoch, job.goal != JobGoal::stay, job.left,
                                 cost_now(state, status, incident, job), job.save_by, job.last, job.stopped,
                                 job.settled});
    for (const auto& intent : incident.intents)
        if (sees(state, to, intent.action))
            view.actions.push_back({intent.action.id, word(kind_of(intent.action)), describe(intent.action),
                                    word(intent.progress), intent.tries});
    return view;
}

template <class Wanted>
std::vector<IncidentStatus> incidents(const State& state, const DriverStatus& status, const View& view,
                                      Wanted wanted) {
    std::vector<IncidentStatus> views;
    for (const auto& [number, incident] : state.incidents)
        if (wanted(incident) && sees(state, view, incident))
            views.push_back(status_of(state, status, incident, view));
    return views;
}

// By its name while the job exists, then only by its number.
std::string job_name(const State& state, const std::optional<base::JobId>& job) {
    if (!job) return {};
    const auto found = state.jobs.find(*job);
    return found == state.jobs.end() ? to_string(*job) : name_of(found->second.rm);
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
    return {witnesses.hosts, witnesses.agents, witnesses.declares_down_after,
            witnesses.swept, witnesses.slow,   sentences(witnesses)};
}

// With the jobs that run behind them now: a job's hosts are looked up once for all links.
std::vector<BadLinkStatus> bad_links(const State& state, const View& to) {
    std::map<std::string_view, std::vector<const JobState*>> jobs_on;
    for (const auto& [id, job] : state.jobs)
        if (job.rm.phase == JobPhase::running && to.sees_job(owner_of(job.rm)))
            for (const auto& node : job.rm.nodes)
                jobs_on[node].push_back(&job);
    std::vector<BadLinkStatus> views;
    for (const auto& finding : state.links) {
        auto& view = views.emplace_back();
        view.finding = finding;
        std::set<std::string> names;
        for (const auto& host : base::expand_hostlist(finding.hosts).value_or(std::vector<std::string>()))
            if (const auto jobs = jobs_on.find(host); jobs != jobs_on.end())
                for (const auto* job : jobs->second)
                    names.insert(name_of(job->rm));
        view.jobs.assign(names.begin(), names.end());
    }
    return views;
}

} // namespace

Status status_of(const State& state, const DriverStatus& status, const View& to) {
    Status view;
    view.time = status.now;
    view.observe_only = status.policy.observe_only;
    view.modes = modes_of(state, status, to);
    view.resource_manager = {state.rm_answers, state.rm_read};
    view.journal = {status.journal.string(), status.journal_error};
    view.primary = status.primary;
    view.fabric = {status.fabric_error};
    view.witnesses = status_of(witnesses_of(state, status.policy, status.now));
    if (state.rm_config) view.installation.missing = state.rm_config->missing;
    view.not_shown = to.not_shown(status.policy.words);
    if (to.sees_hosts()) {
        view.drained_by_railyard = drained_by_us(state);
        view.hosts.reserve(state.hosts.size());
        for (const auto& [name, host] : state.hosts)
            view.hosts.push_back(status_of(state, status, name, host, to));
        view.unknown_hosts = status.unknown_hosts;
    }
    view.jobs.reserve(state.jobs.size());
    for (const auto& [id, job] : state.jobs)
        if (job.rm.phase != JobPhase::ended && to.sees_job(owner_of(job.rm)))
            view.jobs.push_back(status_of(id, job));
    view.incidents = incidents(state, status, to, [](const Incident&) { return true; });
    if (to.sees_hosts() && to.sees_events()) {
        view.links = bad_links(state, to);
        view.counters = state.counters;
    }
    return view;
}

JobExplanation explain_job(const State& state, const DriverStatus& status, base::JobId job,
                           boost::json::object placement, const std::vector<Note>& notes, const View& to) {
    JobExplanation view;
    view.time = status.now;
    const auto found = state.jobs.find(job);
    if (found != state.jobs.end() && to.sees_job(owner_of(found->second.rm))) {
        view.job = status_of(job, found->second);
        view.interval = interval_of(state, status.policy, found->second);
        const auto& rm = found->second.rm;
        const bool has_hosts = rm.phase == JobPhase::running || rm.phase == JobPhase::suspended;
        if (has_hosts && to.sees_story(owner_of(rm)))
            view.links = used_links(state, status.now, rm.nodes, true, to);
        view.program = program_of(state, status.policy, found->second);
    }
    const auto told = std::find_if(notes.begin(), notes.end(), [](const Note& note) { return note.owner; });
    if (found == state.jobs.end() && told != notes.end())
        view.ended = {.name = to_string(job), .uid = told->owner->uid};
    view.placement = std::move(placement);
    view.incidents = incidents(state, status, to, [&](const Incident& incident) {
        return std::any_of(incident.jobs.begin(), incident.jobs.end(), [&](const AffectedJob& affected) {
            return affected.id == job && sees(state, to, affected);
        });
    });
    view.timeline = timeline(state, notes);
    return view;
}

HostExplanation explain_host(const State& state, const DriverStatus& status, const std::string& host,
                             const std::vector<Note>& notes, const View& to) {
    HostExplanation view;
    view.time = status.now;
    if (const auto found = state.hosts.find(host); found != state.hosts.end())
        view.host = status_of(state, status, host, found->second, to);
    if (view.host && to.sees_events()) view.links = used_links(state, status.now, {host}, false, to);
    if (to.sees_events())
        view.incidents = incidents(state, status, to, [&](const Incident& incident) {
            return incident.host == host || has_host(incident, host);
        });
    view.timeline = timeline(state, notes);
    return view;
}

History history_of(const State& state, const std::vector<Note>& notes, std::vector<StoredAction> actions) {
    std::reverse(actions.begin(), actions.end());
    return {timeline(state, notes), std::move(actions)};
}

} // namespace restart
