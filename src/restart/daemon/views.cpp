#include "restart/daemon/views.hpp"

#include "base/json.hpp"
#include "restart/core/witnesses.hpp"

namespace restart {
namespace {

namespace json = boost::json;

json::value time_or_null(const std::optional<base::Time>& time) {
    return time ? json::value(base::to_seconds(*time)) : json::value(nullptr);
}

json::array texts(const std::vector<std::string>& list) {
    json::array array;
    for (const auto& text : list)
        array.emplace_back(text);
    return array;
}

json::value commit_json(const std::optional<Commit>& commit) {
    if (!commit) return nullptr;
    return {{"step", commit->step},
            {"path", commit->path},
            {"committed", base::to_seconds(commit->committed)},
            {"cost_s", commit->cost_s},
            {"bytes", commit->bytes}};
}

json::object host_json(const State& state, const DriverStatus& status, const std::string& name,
                       const HostState& host) {
    json::object object{{"name", name}, {"unit", host.unit}};
    object["state"] = host.node ? json::value(host.node->state) : json::value(nullptr);
    object["reason"] = host.node ? host.node->reason : "";
    object["down"] = host.node && host.node->down;
    object["drain"] = host.node && host.node->drain;
    object["not_responding"] = host.node && host.node->not_responding;
    object["lost"] = host.lost;
    const bool silent = host.last_report && status.now - *host.last_report > status.policy.silent;
    object["agent"] = {{"last_report", time_or_null(host.last_report)},
                       {"silent", silent},
                       {"not_watching", texts(host.not_watching)}};
    if (host.links.links_total > 0)
        object["links"] = {{"up", host.links.links_up}, {"total", host.links.links_total}};
    json::array findings;
    for (const auto& finding : host.findings)
        findings.push_back({{"rule", finding.rule},
                            {"component", finding.component},
                            {"severity", to_string(finding.severity)},
                            {"since", base::to_seconds(finding.since)},
                            {"evidence", finding.evidence}});
    object["findings"] = std::move(findings);
    const auto* incident = state.incident_of(name);
    object["incident"] = incident != nullptr ? json::value(incident->id()) : json::value(nullptr);
    return object;
}

std::string_view word(JobPhase phase) {
    switch (phase) {
    case JobPhase::pending: return "pending";
    case JobPhase::running: return "running";
    case JobPhase::suspended: return "suspended";
    case JobPhase::completing: return "completing";
    case JobPhase::ended: break;
    }
    return "ended";
}

json::array components_json(const RmJob& job) {
    json::array array;
    for (const auto& component : job.components)
        array.push_back({{"id", component.id}, {"name", component.name}, {"nodes", texts(component.nodes)}});
    return array;
}

json::object job_json(std::uint32_t id, const JobState& job) {
    return {
        {"id", id},
        {"name", name_of(job.rm)},
        {"interactive", job.rm.interactive},
        {"components", components_json(job.rm)},
        {"uid", job.rm.uid},
        {"state", word(job.rm.phase)},
        {"nodes", texts(job.rm.nodes)},
        {"node_count", job.rm.node_count},
        {"epoch", job.rm.restarts},
        {"start", base::to_seconds(job.rm.start)},
        {"restart", job.rm.restart ? json::value(*job.rm.restart ? "auto" : "never") : json::value(nullptr)},
        {"ckpt_dir", job.rm.ckpt_dir},
        {"excluded", texts(job.rm.excluded)},
        {"why_pending", job.rm.phase == JobPhase::pending ? job.rm.why : ""},
        {"speaks", job.speaks},
        {"commit", commit_json(job.commit)},
        {"cost_s", std::chrono::duration<double>(job.cost).count()},
        {"interval_s", base::to_seconds(job.interval)},
        {"requeues", job.requeues}};
}

std::string_view word(Progress progress) {
    switch (progress) {
    case Progress::given: return "given";
    case Progress::doubtful: return "doubtful";
    case Progress::waiting: return "waiting";
    case Progress::done: return "done";
    case Progress::overtaken: return "overtaken";
    case Progress::failed: break;
    }
    return "failed";
}

json::object incident_json(const Incident& incident) {
    json::array jobs;
    for (const auto& job : incident.jobs)
        jobs.push_back({{"id", job.id},
                        {"name", job.shown()},
                        {"epoch", job.epoch},
                        {"recover", job.recover},
                        {"save_by", time_or_null(job.save_by)},
                        {"last", commit_json(job.last)},
                        {"stopped", time_or_null(job.stopped)},
                        {"settled", job.settled}});
    json::array actions;
    for (const auto& intent : incident.intents)
        actions.push_back({{"id", intent.action.id},
                           {"kind", to_string(intent.action.kind)},
                           {"text", describe(intent.action)},
                           {"progress", word(intent.progress)},
                           {"tries", intent.tries}});
    return {{"id", incident.id()},
            {"kind", to_string(incident.kind)},
            {"phase", to_string(incident.phase)},
            {"host", incident.host},
            {"what", incident.what},
            {"opened", base::to_seconds(incident.opened)},
            {"fault", base::to_seconds(incident.fault)},
            {"jobs", std::move(jobs)},
            {"actions", std::move(actions)}};
}

// By its name as long as the job is there, then by its number alone.
std::string job_name(const State& state, std::uint32_t job) {
    const auto found = state.jobs.find(job);
    return job == 0                    ? std::string()
           : found == state.jobs.end() ? std::to_string(job)
                                       : name_of(found->second.rm);
}

json::array timeline(const State& state, const std::vector<Note>& notes) {
    json::array array;
    for (const auto& note : notes)
        array.push_back({{"time", base::to_seconds(note.time)},
                         {"kind", to_string(note.kind)},
                         {"incident", note.incident},
                         {"host", note.host},
                         {"job", note.job},
                         {"job_name", job_name(state, note.job)},
                         {"text", note.text}});
    return array;
}

json::object witnesses_json(const Witnesses& witnesses) {
    const auto seconds = [](const std::optional<base::Duration>& lasting) {
        return lasting ? json::value(base::to_seconds(*lasting)) : json::value(nullptr);
    };
    return {{"hosts", witnesses.hosts},
            {"agents", witnesses.agents},
            {"gives_up_s", seconds(witnesses.gives_up)},
            {"swept_s", seconds(witnesses.swept)},
            {"slow", witnesses.slow},
            {"sentences", texts(sentences(witnesses))}};
}

template <class Wanted> json::array incidents(const State& state, Wanted wanted) {
    json::array array;
    for (const auto& [number, incident] : state.incidents)
        if (wanted(incident)) array.push_back(incident_json(incident));
    return array;
}

} // namespace

std::string status_json(const State& state, const DriverStatus& status) {
    json::array hosts;
    for (const auto& [name, host] : state.hosts)
        hosts.push_back(host_json(state, status, name, host));
    json::array jobs;
    for (const auto& [id, job] : state.jobs)
        jobs.push_back(job_json(id, job));
    return base::to_text(
        {{"v", 1},
         {"time", base::to_seconds(status.now)},
         {"observe_only", status.policy.observe_only},
         {"resource_manager", {{"answers", state.rm_answers}, {"read", time_or_null(state.rm_read)}}},
         {"journal", {{"file", status.journal.string()}, {"error", status.journal_error}}},
         {"fabric", {{"error", status.fabric_error}}},
         {"witnesses", witnesses_json(witnesses_of(state, status.policy, status.now))},
         {"installation",
          {{"missing", state.rm_config ? texts(missing_parts(*state.rm_config)) : json::array()}}},
         {"drained_by_railyard", drained_by_us(state)},
         {"hosts", std::move(hosts)},
         {"jobs", std::move(jobs)},
         {"incidents", incidents(state, [](const Incident&) { return true; })}});
}

std::string explain_job_json(const State& state, const DriverStatus& status, std::uint32_t job,
                             json::object placement, const std::vector<Note>& notes) {
    const auto found = state.jobs.find(job);
    const auto hurts = [&](const Incident& incident) {
        for (const auto& hurt : incident.jobs)
            if (hurt.id == job) return true;
        return false;
    };
    return base::to_text({{"v", 1},
                          {"time", base::to_seconds(status.now)},
                          {"job", found == state.jobs.end() ? json::value(nullptr)
                                                            : json::value(job_json(job, found->second))},
                          {"placement", std::move(placement)},
                          {"incidents", incidents(state, hurts)},
                          {"timeline", timeline(state, notes)}});
}

std::string explain_host_json(const State& state, const DriverStatus& status, const std::string& host,
                              const std::vector<Note>& notes) {
    const auto found = state.hosts.find(host);
    return base::to_text(
        {{"v", 1},
         {"time", base::to_seconds(status.now)},
         {"host", found == state.hosts.end() ? json::value(nullptr)
                                             : json::value(host_json(state, status, host, found->second))},
         {"incidents", incidents(state, [&](const Incident& incident) { return incident.host == host; })},
         {"timeline", timeline(state, notes)}});
}

std::string history_json(const State& state, const std::vector<Note>& notes,
                         const std::vector<StoredIntent>& intents) {
    json::array actions;
    for (const auto& intent : intents)
        actions.push_back({{"id", intent.id},
                           {"incident", intent.incident},
                           {"kind", intent.kind},
                           {"text", intent.text},
                           {"state", intent.state},
                           {"tries", intent.tries},
                           {"created", base::to_seconds(intent.created)},
                           {"finished", time_or_null(intent.finished)},
                           {"error", intent.error}});
    return base::to_text({{"v", 1}, {"timeline", timeline(state, notes)}, {"actions", std::move(actions)}});
}

} // namespace restart
