#include "restart/ctl/show.hpp"

#include "base/hostlist.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "sched/explain_show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

namespace restart {
namespace {

using base::Duration;
using base::Expected;
using base::Table;
using base::Time;

// "14:20:05.1" today, "2026-03-01 14:20:05" on other days.
std::string when(Time time, Time now) {
    const auto local = [](Time moment) {
        const auto whole = std::chrono::system_clock::to_time_t(moment);
        std::tm parts{};
        ::localtime_r(&whole, &parts);
        return parts;
    };
    const auto then = local(time);
    const auto today = local(now);
    char text[32];
    if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday) {
        std::strftime(text, sizeof text, "%H:%M:%S", &then);
        return fmt::format("{}.{}", text, time.time_since_epoch() / std::chrono::milliseconds(100) % 10);
    }
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &then);
    return text;
}

std::string lasting(Duration duration) {
    return base::human_duration(std::max(duration, Duration::zero()));
}

std::string nodes_text(const std::vector<std::string>& nodes) {
    return nodes.empty() ? "-" : base::fold_hostlist(nodes);
}

std::string checkpoint_text(const JobStatus& job, Time now) {
    if (!job.commit) return "-";
    return fmt::format("step {}, {} ago", job.commit->step, lasting(now - job.commit->committed));
}

std::string agent_text(const AgentStatus& agent, Time now) {
    if (!agent.last_report) return "never heard";
    const auto age = lasting(now - *agent.last_report);
    return agent.silent ? "silent for " + age : age + " ago";
}

std::string state_text(const HostStatus& host) {
    if (!host.state) return "unknown";
    return *host.state + (host.lost ? ", lost" : "");
}

std::string findings_text(const HostStatus& host) {
    std::string text;
    for (const auto& finding : host.findings)
        text += fmt::format("{}{} on {} ({})", text.empty() ? "" : "; ", finding.rule, finding.component,
                            to_string(finding.severity));
    return text;
}

std::string incidents_text(const std::vector<IncidentStatus>& incidents, Time now) {
    Table table({"INCIDENT", "PHASE", "HOST", "OPENED", "WHAT"});
    Table actions({"ACTION", "PROGRESS", "WHAT"});
    for (const auto& incident : incidents) {
        table.add({incident.id, incident.phase, incident.host, when(incident.opened, now), incident.what});
        for (const auto& action : incident.actions)
            actions.add({action.id, action.progress, action.text});
    }
    std::string out;
    if (!table.empty()) out += "\n" + table.print();
    if (!actions.empty()) out += "\n" + actions.print();
    return out;
}

// `empty` is what it means when there is nothing to tell.
std::string timeline_text(const std::vector<TimelineEntry>& timeline, Time now, std::string_view empty) {
    Table table({"TIME", "", "INCIDENT", "HOST", "JOB", "WHAT"});
    for (const auto& entry : timeline)
        table.add({when(entry.time, now), entry.kind, entry.incident, entry.host, entry.job_name, entry.text});
    return table.empty() ? fmt::format("{}\n", empty) : table.print();
}

std::string job_heading(const JobStatus& job, Time now) {
    auto out = fmt::format("job {}, user {}: {}", job.name, job.uid, job.state);
    if (!job.nodes.empty()) out += " on " + base::fold_hostlist(job.nodes);
    if (!job.why_pending.empty()) out += fmt::format(" ({})", job.why_pending);
    if (job.state == "running") out += " since " + when(job.start, now);
    if (job.epoch > 0) out += fmt::format(", started again {} times", job.epoch);
    return out + '\n';
}

std::string job_facts(const JobStatus& job, Time now) {
    std::string out;
    if (job.interactive) out += "an allocation of salloc or srun: nothing can start it again\n";
    for (const auto& component : job.components)
        out += fmt::format("component {} (its own number is {}): {}\n", component.name, component.id,
                           nodes_text(component.nodes));
    if (!job.excluded.empty()) out += fmt::format("kept away from {}\n", base::fold_hostlist(job.excluded));
    if (job.commit)
        out += fmt::format("last checkpoint: step {} at {} ({}), cost {:.2f} s, one every {}\n",
                           job.commit->step, when(job.commit->committed, now), job.commit->path, job.cost_s,
                           lasting(job.interval));
    return out;
}

// What the placement's sentence rests on.
Expected<std::string> placement_details(const base::Reader& placement, Time now) {
    const auto kind = placement.text("kind");
    if (!kind) return kind.error();
    if (*kind == "unknown") return std::string();
    auto out = sched::show_details(placement);
    if (!out) return out;
    if (placement.has("expected_start")) {
        const auto start = placement.number("expected_start");
        if (!start) return start.error();
        *out += fmt::format("Slurm expects to start it at {}\n", when(base::time_from_seconds(*start), now));
    }
    if (!placement.has("notes")) return out;
    const auto list = placement.at("notes");
    const auto notes = list ? list->items() : list.error();
    if (!notes) return notes.error();
    for (const auto& note : *notes)
        *out += fmt::format("note: {}\n", note.text().value_or(""));
    return out;
}

// The sentence that says most first.
Expected<std::string> job_text(const JobExplanation& explanation) {
    const auto& job = *explanation.job;
    auto out = job_heading(job, explanation.time);
    if (explanation.placement.empty()) return out + job_facts(job, explanation.time); // an older restartd
    const boost::json::value held(explanation.placement);
    const base::Reader placement(held, "placement");
    const auto sentence = placement.text("sentence");
    if (!sentence) return sentence.error();
    const auto details = placement_details(placement, explanation.time);
    if (!details) return details.error();
    return out + *sentence + '\n' + job_facts(job, explanation.time) + *details;
}

std::string host_text(const HostStatus& host, Time now) {
    auto out = fmt::format("host {}", host.name);
    if (!host.unit.empty()) out += fmt::format(" in unit {}", host.unit);
    out += fmt::format(": {}", state_text(host));
    if (!host.reason.empty()) out += fmt::format(" ({})", host.reason);
    out += fmt::format("; agent {}\n", agent_text(host.agent, now));
    for (const auto& finding : host.findings)
        out += fmt::format("finding: {} on {}, {}, since {}: {}\n", finding.rule, finding.component,
                           to_string(finding.severity), when(finding.since, now), finding.evidence);
    if (host.links) out += fmt::format("links: {} of {} up\n", host.links->up, host.links->total);
    for (const auto& sentence : host.agent.not_watching)
        out += fmt::format("not watching {}\n", sentence);
    return out;
}

std::string summary(const Status& status) {
    std::string out = status.observe_only ? "restartd observes only: nothing is drained or requeued\n"
                                          : "restartd acts\n";
    const auto& rm = status.resource_manager;
    if (!rm.read)
        out += "the resource manager has not answered yet\n";
    else if (!rm.answers)
        out += fmt::format("the resource manager does not answer; last read {} ago\n",
                           lasting(status.time - *rm.read));
    if (!status.journal.error.empty()) out += fmt::format("journal: {}\n", status.journal.error);
    if (!status.fabric.error.empty()) out += fmt::format("fabric: {}\n", status.fabric.error);
    for (const auto& sentence : status.witnesses.sentences)
        out += fmt::format("witness of a host's loss: {}\n", sentence);
    for (const auto& missing : status.installation.missing)
        out += fmt::format("installed half: {}\n", missing);
    return out;
}

bool is_silent(const AgentStatus& agent) {
    return !agent.last_report || agent.silent;
}

std::string count_text(const Status& status) {
    std::map<std::string_view, int> counts;
    for (const auto& host : status.hosts) {
        ++counts[!host.state ? "unknown to it" : host.down ? "down" : host.drain ? "drained" : "up"];
        if (is_silent(host.agent)) ++counts["with a silent agent"];
    }
    std::string line;
    for (const char* word : {"up", "drained", "down", "unknown to it", "with a silent agent"})
        if (counts[word] > 0) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", counts[word], word);
    return fmt::format("hosts: {}; {} drained by Railyard\n", line.empty() ? "none known" : line,
                       status.drained_by_railyard);
}

Table hosts_table(const Status& status, bool all) {
    Table table({"HOST", "UNIT", "STATE", "AGENT", "FINDINGS", "REASON"});
    for (const auto& host : status.hosts)
        if (all || host.down || host.drain || is_silent(host.agent) || !host.findings.empty() || host.lost ||
            host.not_responding)
            table.add({host.name, host.unit, state_text(host), agent_text(host.agent, status.time),
                       findings_text(host), host.reason});
    return table;
}

Table jobs_table(const Status& status, bool all) {
    Table table({"JOB", "STATE", "NODES", "STARTS", "CHECKPOINT", "EVERY"});
    for (const auto& job : status.jobs)
        if (all || job.commit || job.epoch > 0 || job.restart)
            table.add({job.name, job.state, nodes_text(job.nodes), std::to_string(job.epoch + 1),
                       checkpoint_text(job, status.time),
                       job.interval > Duration::zero() ? lasting(job.interval) : "-"});
    return table;
}

// What the answers say when restartd has nothing to tell.
constexpr std::string_view no_story_of_job =
    "restartd has done nothing about this job: no fault was seen on its hosts that would have moved it.";
constexpr std::string_view no_story_of_host =
    "restartd has nothing on record about this host: no fault was seen and nobody drained it through railctl.";
constexpr std::string_view no_history =
    "restartd's journal holds nothing that fits: no fault was seen, and nothing decided or done.";
constexpr std::string_view gone = "no longer in the resource manager\n";

} // namespace

std::string show(const Status& status, bool all) {
    auto out = summary(status) + count_text(status);
    const auto hosts = hosts_table(status, all), jobs = jobs_table(status, all);
    if (!hosts.empty()) out += "\n" + hosts.print();
    out += incidents_text(status.incidents, status.time);
    if (!jobs.empty()) out += "\n" + jobs.print();
    if (hosts.empty() && jobs.empty() && status.incidents.empty())
        out += "nothing to tell of hosts, incidents and jobs (--all lists every host and job)\n";
    return out;
}

Expected<std::string> show(const JobExplanation& explanation) {
    std::string out(gone), empty(no_story_of_job);
    if (explanation.job) {
        auto text = job_text(explanation);
        if (!text) return text;
        out = *std::move(text);
        if (explanation.job->restart.value_or("never") == "never")
            empty += " If one is seen the job is left to Slurm: it was submitted without --restart=auto.";
    }
    return out + incidents_text(explanation.incidents, explanation.time) + "\n" +
           timeline_text(explanation.timeline, explanation.time, empty);
}

std::string show(const HostExplanation& explanation) {
    return (explanation.host ? host_text(*explanation.host, explanation.time) : std::string(gone)) +
           incidents_text(explanation.incidents, explanation.time) + "\n" +
           timeline_text(explanation.timeline, explanation.time, no_story_of_host);
}

std::string show(const History& history) {
    return timeline_text(history.timeline, base::now(), no_history);
}

} // namespace restart
