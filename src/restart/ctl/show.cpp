#include "restart/ctl/show.hpp"

#include "base/hostlist.hpp"
#include "base/json_time.hpp"
#include "base/table.hpp"
#include "restart/ctl/show_links.hpp"
#include "restart/ctl/show_rates.hpp"
#include "restart/ctl/show_time.hpp"
#include "sched/explain_show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace restart {
namespace {

using base::Duration;
using base::Expected;
using base::Look;
using base::Table;
using base::Time;
using base::Tint;

std::string nodes_text(const std::vector<std::string>& nodes) {
    return nodes.empty() ? "-" : base::fold_sorted(nodes);
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

// "ib.link_down on mlx5_[0-7]:1 (evict)": similar findings are printed once.
std::string findings_text(const HostStatus& host) {
    std::map<std::string, std::vector<std::string>> alike; // components by the text before and after them
    std::vector<std::string> order;
    for (const auto& finding : host.findings) {
        const auto end = std::min(finding.component.find(':'), finding.component.size());
        const auto key = fmt::format("{} on \n{} ({})", finding.rule, finding.component.substr(end),
                                     to_string(finding.severity));
        auto& components = alike[key];
        if (components.empty()) order.push_back(key);
        components.push_back(finding.component.substr(0, end));
    }
    std::string text;
    for (const auto& key : order) {
        const auto at = key.find('\n');
        text += fmt::format("{}{}{}{}", text.empty() ? "" : "; ", key.substr(0, at),
                            base::fold_sorted(alike[key]), key.substr(at + 1));
    }
    return text;
}

std::string incidents_text(const std::vector<IncidentStatus>& incidents, Time now, const Look& look) {
    Table table({"INCIDENT", "PHASE", "HOST", "OPENED", "WHAT"});
    Table actions({"ACTION", "PROGRESS", "WHAT"});
    for (const auto& incident : incidents) {
        table.add({incident.id, incident.phase, incident.host, when(incident.opened, now), incident.what});
        for (const auto& action : incident.actions)
            actions.add({action.id, action.progress, action.text},
                        action.progress == "failed" ? Tint::bad : Tint::none);
    }
    std::string out;
    if (!table.empty()) out += "\n" + table.print(look);
    if (!actions.empty()) out += "\n" + actions.print(look);
    return out;
}

// "0.026", "1.2", "480".
std::string node_hours_text(double hours) {
    return hours >= 100 ? fmt::format("{:.0f}", hours)
           : hours >= 1 ? fmt::format("{:.1f}", hours)
                        : fmt::format("{:.2g}", hours);
}

// The costs of leaving the job where it is and of moving it, if they are compared.
std::string costs_text(const std::vector<IncidentStatus>& incidents, base::JobId id, const Look& look) {
    std::string out;
    for (const auto& incident : incidents)
        for (const auto& job : incident.jobs) {
            if (job.id != id || !job.cost) continue;
            const auto& cost = *job.cost;
            Table table({"COST", "NODE-HOURS", "FROM"});
            table.add({"waiting", node_hours_text(cost.waiting),
                       fmt::format("{:.3g} % of {} nodes for {} ({}): {}", cost.slowdown * 100, cost.nodes,
                                   lasting(cost.stays), cost.stays_from, cost.slowed_by)});
            table.add({"moving", node_hours_text(cost.moving), "the sum of what follows"});
            for (const auto& term : cost.terms)
                table.add({"  " + term.name, node_hours_text(term.node_hours), term.from});
            out += fmt::format("\n{}: {}\n{}", incident.id,
                               job.recover ? "it is moved" : "it stays, which is judged again as time passes",
                               table.print(look));
        }
    return out;
}

Table timeline_table(const std::vector<TimelineEntry>& timeline, Time now) {
    Table table({"TIME", "", "INCIDENT", "HOST", "JOB", "WHAT"});
    for (const auto& entry : timeline)
        table.add({when(entry.time, now), entry.kind, entry.incident, entry.host, entry.job_name, entry.text},
                  entry.kind == "signal" ? Tint::doubtful : Tint::none);
    return table;
}

// `empty` is printed when the list is empty.
std::string timeline_text(const std::vector<TimelineEntry>& timeline, Time now, std::string_view empty,
                          const Look& look) {
    const auto table = timeline_table(timeline, now);
    return table.empty() ? fmt::format("{}\n", empty) : table.print(look);
}

// Its columns keep their width while lines are added.
Table going_on(const History& history) {
    auto table = timeline_table(history.timeline, base::now());
    table.at_least({10, 8, 8, 8, 8});
    return table;
}

std::string ended_text(const EndedJobStatus& job, Time now) {
    const auto who = fmt::format("job {}, user {}: ", job.name, job.uid);
    if (job.how.empty())
        return who + "no longer in the resource manager, whose accounting says how it ended\n";
    const auto how = fmt::format("{}{} at {}", who, job.how, when(job.end, now));
    if (job.start == Time{} || job.nodes.empty()) return how + ", before it had nodes\n";
    return fmt::format("{}, {} after its last start, on {}\n", how, lasting(job.end - job.start),
                       base::fold_sorted(job.nodes));
}

std::string job_heading(const JobStatus& job, Time now) {
    auto out = fmt::format("job {}, user {}: {}", job.name, job.uid, job.state);
    if (!job.nodes.empty()) out += " on " + base::fold_sorted(job.nodes);
    if (!job.why_pending.empty()) out += fmt::format(" ({})", job.why_pending);
    if (job.state == "running") out += " since " + when(job.start, now);
    if (job.epoch > 0) out += fmt::format(", started again {} times", job.epoch);
    return out + '\n';
}

// What slows the job down, or what would be needed to find out.
std::string pace_text(const JobPaceStatus& pace, Time now) {
    const auto judged = fmt::format("judged {} ago", lasting(now - pace.judged));
    const auto unseen =
        pace.missing.empty() ? "" : fmt::format("; not seen: {}", fmt::join(pace.missing, "; "));
    if (pace.verdict == "none")
        return fmt::format("held back by nothing that is seen ({}{})\n", judged, unseen);
    if (pace.suspect.empty())
        return fmt::format("what holds it back cannot be told ({}{})\n", judged, unseen);
    auto out = fmt::format("{} by {}: score {:.2f}, confidence {:.2f} ({}{})\n",
                           pace.since ? "held back" : "perhaps held back", pace.suspect, pace.score,
                           pace.confidence, pace.since ? "since " + when(*pace.since, now) : judged, unseen);
    for (const auto& evidence : pace.evidence)
        out += fmt::format("  {}\n", evidence);
    return out;
}

std::string job_facts(const JobStatus& job, const JobExplanation& explanation) {
    const auto& interval = explanation.interval;
    const auto now = explanation.time;
    std::string out;
    if (job.interactive) out += "an allocation of salloc or srun: nothing can start it again\n";
    for (const auto& component : job.components)
        out += fmt::format("component {} (its own number is {}): {}\n", component.name,
                           to_string(component.id), nodes_text(component.nodes));
    if (job.pace) {
        out += pace_text(*job.pace, now);
        for (const auto& sentence : job.pace->gpus)
            out += sentence + '\n';
    }
    for (const auto& trouble : job.nccl)
        out += fmt::format("NCCL, asked by {}: {}\n", job.nccl_host, trouble);
    if (!job.excluded.empty()) out += fmt::format("kept away from {}\n", base::fold_sorted(job.excluded));
    if (explanation.program && !job.interactive) out += show(*explanation.program);
    if (!job.commit) return out;
    out += fmt::format("last checkpoint: step {} at {} ({}), cost {:.2f} s, one every {}\n", job.commit->step,
                       when(job.commit->committed, now), job.commit->path, job.cost_s, lasting(job.interval));
    return interval ? out + show(*interval) : out;
}

// The tables after the placement's sentence.
Expected<std::string> placement_details(const base::Reader& placement, Time now, const Look& look) {
    const auto kind = placement.text("kind");
    if (!kind) return kind.error();
    if (*kind == "unknown") return std::string();
    auto out = sched::show_details(placement, look);
    if (!out) return out;
    const auto verdict = placement.text("verdict"); // the sentence names what fits now
    if (placement.has("expected_start") && (!verdict || *verdict != "fits")) {
        const auto start = base::read_time(placement, "expected_start");
        if (!start) return start.error();
        *out += fmt::format("it is expected to start at {}\n", when(*start, now));
    }
    if (!placement.has("notes")) return out;
    const auto list = placement.at("notes");
    const auto notes = list ? list->items() : list.error();
    if (!notes) return notes.error();
    for (const auto& note : *notes)
        *out += fmt::format("note: {}\n", note.text().value_or(""));
    return out;
}

// The most informative sentence first.
Expected<std::string> job_text(const JobExplanation& explanation, const Look& look) {
    const auto& job = *explanation.job;
    auto out = explanation.ended ? ended_text(*explanation.ended, explanation.time)
                                 : job_heading(job, explanation.time);
    if (explanation.placement.empty()) return out + job_facts(job, explanation); // an older restartd
    const boost::json::value held(explanation.placement);
    const base::Reader placement(held, "placement");
    const auto sentence = placement.text("sentence");
    if (!sentence) return sentence.error();
    const auto details = placement_details(placement, explanation.time, look);
    if (!details) return details.error();
    return out + *sentence + '\n' + job_facts(job, explanation) + *details;
}

// With its author, unless a tag of ours names it.
std::string reason_text(const HostStatus& host) {
    const bool named = host.set_by.empty() || host.reason.empty() || host.reason.starts_with(host.set_by);
    return named ? host.reason : fmt::format("{}: {}", host.set_by, host.reason);
}

std::string repair_text(const ReturnStatus& repair, Time now) {
    auto out = fmt::format("repair ({}: {}): ", repair.fault, fmt::join(repair.ladder, ", "));
    if (repair.stage == "hands")
        return out + fmt::format("given up since {}: a person is to see to it\n", when(repair.since, now));
    out += repair.stage == "waiting"     ? fmt::format("{} is next, and waits for its turn", repair.rung)
           : repair.stage == "acting"    ? fmt::format("{} under way", repair.rung)
           : repair.stage == "returning" ? std::string("it is being resumed")
           : repair.stage == "checking"
               ? fmt::format("{}; its check is under way since {}", repair.rung, when(repair.since, now))
           : repair.clean_since
               ? fmt::format("{}; without a fault since {}, to be resumed at {}", repair.rung,
                             when(*repair.clean_since, now), when(repair.until.value_or(now), now))
               : fmt::format("{} since {}, has until {} to bring it back", repair.rung,
                             when(repair.since, now), when(repair.until.value_or(now), now));
    return out +
           fmt::format("; attempt {} of {}; then {}\n", repair.attempts, repair.most_attempts, repair.next);
}

std::string sight_text(base::Knocked saw, bool said) {
    switch (saw) {
    case base::Knocked::unreached: return "not reached, though others are";
    case base::Knocked::refused: return "its kernel lives and refuses the connection";
    case base::Knocked::mute: return "its kernel takes connections, and nothing answers";
    case base::Knocked::answers: return "it answers";
    case base::Knocked::unknown: break;
    }
    return said ? "it reaches nothing itself" : "it has not said yet";
}

std::string host_text(const HostStatus& host, Time now) {
    auto out = fmt::format("host {}", host.name);
    if (!host.unit.empty()) out += fmt::format(" in unit {}", host.unit);
    out += fmt::format(": {}", state_text(host));
    if (!host.reason.empty()) out += fmt::format(" ({})", reason_text(host));
    out += fmt::format("; agent {}\n", agent_text(host.agent, now));
    for (const auto& finding : host.findings)
        out += fmt::format("finding: {} on {}, {}, since {}: {}\n", finding.rule, finding.component,
                           to_string(finding.severity), when(finding.since, now), finding.evidence);
    if (host.links) out += fmt::format("links: {} of {} up\n", host.links->up, host.links->total);
    for (const auto& peer : host.peers)
        out += fmt::format("seen by {}: {}{}\n", peer.host, sight_text(peer.saw, peer.at.has_value()),
                           peer.at ? fmt::format(", {} ago", lasting(now - *peer.at)) : std::string());
    if (host.repair) out += repair_text(*host.repair, now);
    for (const auto& sentence : host.agent.not_watching)
        out += fmt::format("not watching {}\n", sentence);
    return out;
}

std::string hosts_text(const std::vector<std::string>& hosts) {
    return hosts.empty() ? std::string("all hosts") : base::fold_sorted(hosts);
}

// What stops it from acting comes first.
std::string modes_text(const Modes& modes, bool observe_only, Time now) {
    std::string out;
    bool paused = false;
    for (const auto& pause : modes.pauses) {
        paused = paused || pause.hosts.empty();
        out += fmt::format("PAUSED for {} by {} until {} ({} more): {}; railctl go ends it\n",
                           hosts_text(pause.hosts), pause.user, when(pause.until, now),
                           lasting(pause.until - now), pause.reason);
    }
    if (observe_only)
        out += "restartd observes only: nothing is drained or requeued\n";
    else if (!paused)
        out += "restartd acts\n";
    for (const auto& maintenance : modes.maintenance)
        out += fmt::format("in maintenance by {}: {}\n", maintenance.by, hosts_text(maintenance.hosts));
    for (const auto& bound : modes.bounds)
        out += fmt::format("bound {}{}{} keeps hosts back since {}: {}\n", bound.key,
                           bound.of.empty() ? "" : " of ", bound.of, when(bound.since, now), bound.why);
    return out;
}

std::string summary(const Status& status) {
    std::string out = modes_text(status.modes, status.observe_only, status.time);
    if (const auto& primary = status.primary; primary.epoch != 0)
        out += fmt::format("primary: the restartd on {}, {}, epoch {}\n", primary.host, primary.url,
                           primary.epoch);
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
    if (const auto& read = status.counters; read && read->answered < read->ports)
        out += fmt::format("fabric: counters of {} of {} ports are not read\n", read->ports - read->answered,
                           read->ports);
    for (const auto& missing : status.installation.missing)
        out += fmt::format("installed half: {}\n", missing);
    for (const auto& what : status.not_shown)
        out += fmt::format("not shown to you: {}\n", what);
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

// Hosts under repair, by what is done to them; those left to an operator last.
std::string repairs_text(const Status& status) {
    std::map<std::string, std::vector<std::string>> repairs;
    std::vector<std::string> hands;
    for (const auto& host : status.hosts) {
        if (!host.repair) continue;
        if (host.repair->stage == "hands")
            hands.push_back(host.name);
        else
            repairs[host.repair->stage == "waiting" ? "waiting for " + host.repair->rung : host.repair->rung]
                .push_back(host.name);
    }
    std::string out;
    for (const auto& [rung, hosts] : repairs)
        out += fmt::format("in repair ({}): {}\n", rung, base::fold_sorted(hosts));
    if (!hands.empty()) out += fmt::format("a person is to see to: {}\n", base::fold_sorted(hands));
    return out;
}

Tint tint_of(const HostStatus& host) {
    const bool bad = host.lost || host.down ||
                     std::any_of(host.findings.begin(), host.findings.end(),
                                 [](const Finding& f) { return f.severity >= Severity::evict; });
    const bool doubtful =
        host.drain || is_silent(host.agent) || !host.findings.empty() || host.not_responding;
    return bad ? Tint::bad : doubtful ? Tint::doubtful : Tint::none;
}

Table hosts_table(const Status& status, bool all) {
    Table table({"HOST", "UNIT", "STATE", "AGENT", "FINDINGS", "REASON"});
    for (const auto& host : status.hosts)
        if (all || host.down || host.drain || is_silent(host.agent) || !host.findings.empty() || host.lost ||
            host.not_responding)
            table.add({host.name, host.unit, state_text(host), agent_text(host.agent, status.time),
                       findings_text(host), reason_text(host)},
                      tint_of(host));
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

// What is printed when restartd has nothing to report.
constexpr std::string_view no_story_of_job =
    "restartd has done nothing about this job: no fault was seen on its hosts that would have moved it.";
constexpr std::string_view no_story_of_host = "restartd has nothing on record about this host: no fault was "
                                              "seen and nobody drained it through railctl.";
constexpr std::string_view no_history =
    "restartd's journal holds nothing that fits: no fault was seen, and nothing decided or done.";
constexpr std::string_view gone = "no longer in the resource manager\n";

} // namespace

std::string show(const Status& status, bool all, const Look& look) {
    auto out = summary(status) + count_text(status) + repairs_text(status);
    const auto hosts = hosts_table(status, all), jobs = jobs_table(status, all);
    if (!hosts.empty()) out += "\n" + hosts.print(look);
    out += show_links(status, look);
    out += incidents_text(status.incidents, status.time, look);
    if (!jobs.empty()) out += "\n" + jobs.print(look);
    if (hosts.empty() && jobs.empty() && status.incidents.empty() && status.links.empty())
        out += "nothing to report of hosts, incidents and jobs (--all lists every host and job)\n";
    return out;
}

Expected<std::string> show(const JobExplanation& explanation, const Look& look) {
    std::string out =
        explanation.ended ? ended_text(*explanation.ended, explanation.time) : std::string(gone);
    std::string empty(no_story_of_job);
    if (explanation.job) {
        auto text = job_text(explanation, look);
        if (!text) return text;
        out = *std::move(text);
        if (explanation.links) out += show(*explanation.links, explanation.time, "links it uses");
        if (explanation.job->restart.value_or("never") == "never")
            empty += " If one is seen the job is left to the resource manager: it was submitted without "
                     "--restart=auto.";
    }
    return out + incidents_text(explanation.incidents, explanation.time, look) +
           (explanation.job ? costs_text(explanation.incidents, explanation.job->id, look) : std::string()) +
           "\n" + timeline_text(explanation.timeline, explanation.time, empty, look);
}

std::string show(const HostExplanation& explanation, const Look& look) {
    return (explanation.host ? host_text(*explanation.host, explanation.time) : std::string(gone)) +
           (explanation.links ? show(*explanation.links, explanation.time, "links it uses") : std::string()) +
           incidents_text(explanation.incidents, explanation.time, look) + "\n" +
           timeline_text(explanation.timeline, explanation.time, no_story_of_host, look);
}

std::string show(const RecoveryPlan& plan, const Look& look) {
    auto out = modes_text(plan.modes, plan.modes.observe_only, plan.time);
    for (const auto& what : plan.not_shown)
        out += fmt::format("not shown to you: {}\n", what);
    Table table({"INCIDENT", "PHASE", "STATE", "BY", "WHAT", "WHY"});
    for (const auto& incident : plan.incidents)
        for (const auto& step : incident.steps)
            table.add({incident.id, incident.phase, step.state, step.by ? when(*step.by, plan.time) : "-",
                       step.what, step.key.empty() ? step.why : fmt::format("{}: {}", step.key, step.why)});
    return out + (table.empty() ? "nothing is to be done\n" : "\n" + table.print(look));
}

std::string show(const History& history, const Look& look) {
    return timeline_text(history.timeline, base::now(), no_history, look);
}

std::string show_first(const History& history, const Look& look) {
    return going_on(history).print(look);
}

std::string show_more(const History& history, const Look& look) {
    return going_on(history).print_rows(look);
}

} // namespace restart
