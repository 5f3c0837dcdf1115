#include "restart/daemon/railctl_show.hpp"

#include "base/fields.hpp"
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

using base::Expected;
using base::Fields;
using base::Reader;
using base::Table;

// "14:20:05.1" today, "2026-03-01 14:20:05" on other days.
std::string when(double seconds, double now) {
    const auto local = [](double moment) {
        const auto whole = static_cast<std::time_t>(moment);
        std::tm parts{};
        ::localtime_r(&whole, &parts);
        return parts;
    };
    const auto then = local(seconds);
    const auto today = local(now);
    char text[32];
    if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday) {
        std::strftime(text, sizeof text, "%H:%M:%S", &then);
        return fmt::format(
            "{}.{}", text,
            static_cast<int>((seconds - static_cast<double>(static_cast<std::int64_t>(seconds))) * 10));
    }
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &then);
    return text;
}

std::string lasting(double seconds) {
    return base::human_duration(base::duration_from_seconds(std::max(seconds, 0.0)));
}

std::string nodes_text(const std::vector<std::string>& nodes) {
    return nodes.empty() ? "-" : base::fold_hostlist(nodes);
}

std::string checkpoint_text(Fields& fields, const Reader& job, double now) {
    const auto commit = fields.object(job, "commit");
    if (!commit) return "-";
    return fmt::format("step {}, {} ago", fields.integer(*commit, "step"),
                       lasting(now - fields.number(*commit, "committed")));
}

std::string agent_text(Fields& fields, const Reader& host, double now) {
    const auto agent = fields.object(host, "agent");
    if (!agent || !agent->has("last_report")) return "never heard";
    const auto age = lasting(now - fields.number(*agent, "last_report"));
    return fields.boolean(*agent, "silent") ? "silent for " + age : age + " ago";
}

std::string state_text(Fields& fields, const Reader& host) {
    if (!host.has("state")) return "unknown";
    auto text = fields.text(host, "state");
    if (fields.boolean(host, "lost")) text += ", lost";
    return text;
}

std::string findings_text(Fields& fields, const Reader& host) {
    std::string text;
    for (const auto& finding : fields.items(host, "findings"))
        text += fmt::format("{}{} on {} ({})", text.empty() ? "" : "; ", fields.text(finding, "rule"),
                            fields.text(finding, "component"), fields.text(finding, "severity"));
    return text;
}

void add_incidents(Fields& fields, const Reader& top, double now, std::string& out) {
    Table table({"INCIDENT", "PHASE", "HOST", "OPENED", "WHAT"});
    Table actions({"ACTION", "PROGRESS", "WHAT"});
    for (const auto& incident : fields.items(top, "incidents")) {
        table.add({fields.text(incident, "id"), fields.text(incident, "phase"), fields.text(incident, "host"),
                   when(fields.number(incident, "opened"), now), fields.text(incident, "what")});
        for (const auto& action : fields.items(incident, "actions"))
            actions.add(
                {fields.text(action, "id"), fields.text(action, "progress"), fields.text(action, "text")});
    }
    if (!table.empty()) out += "\n" + table.print();
    if (!actions.empty()) out += "\n" + actions.print();
}

// `empty` is what it means when there is nothing to tell.
std::string timeline_text(Fields& fields, const Reader& top, double now, std::string_view empty) {
    Table table({"TIME", "", "INCIDENT", "HOST", "JOB", "WHAT"});
    for (const auto& note : fields.items(top, "timeline")) {
        table.add({when(fields.number(note, "time"), now), fields.text(note, "kind"),
                   fields.text(note, "incident"), fields.text(note, "host"), fields.text(note, "job_name"),
                   fields.text(note, "text")});
    }
    return table.empty() ? fmt::format("{}\n", empty) : table.print();
}

std::string job_heading(Fields& fields, const Reader& job, double now) {
    const auto state = fields.text(job, "state");
    auto out =
        fmt::format("job {}, user {}: {}", fields.text(job, "name"), fields.integer(job, "uid"), state);
    if (const auto nodes = fields.texts(job, "nodes"); !nodes.empty())
        out += " on " + base::fold_hostlist(nodes);
    if (const auto why = fields.text(job, "why_pending"); !why.empty()) out += fmt::format(" ({})", why);
    if (state == "running") out += " since " + when(fields.number(job, "start"), now);
    if (const auto epoch = fields.integer(job, "epoch"); epoch > 0)
        out += fmt::format(", started again {} times", epoch);
    return out + '\n';
}

std::string job_facts(Fields& fields, const Reader& job, double now) {
    std::string out;
    if (fields.boolean(job, "interactive"))
        out += "an allocation of salloc or srun: nothing can start it again\n";
    for (const auto& component : fields.items(job, "components"))
        out += fmt::format("component {} (its own number is {}): {}\n", fields.text(component, "name"),
                           fields.integer(component, "id"), nodes_text(fields.texts(component, "nodes")));
    if (const auto excluded = fields.texts(job, "excluded"); !excluded.empty())
        out += fmt::format("kept away from {}\n", base::fold_hostlist(excluded));
    if (const auto commit = fields.object(job, "commit"))
        out += fmt::format("last checkpoint: step {} at {} ({}), cost {:.2f} s, one every {}\n",
                           fields.integer(*commit, "step"), when(fields.number(*commit, "committed"), now),
                           fields.text(*commit, "path"), fields.number(job, "cost_s"),
                           lasting(fields.number(job, "interval_s")));
    return out;
}

// What the placement's sentence rests on.
std::string placement_details(Fields& fields, const Reader& placement, double now) {
    if (fields.text(placement, "kind") == "unknown") return {};
    auto out = fields.keep(sched::show_details(placement), std::string());
    if (placement.has("expected_start"))
        out += fmt::format("Slurm expects to start it at {}\n",
                           when(fields.number(placement, "expected_start"), now));
    for (const auto& note : fields.texts(placement, "notes"))
        out += fmt::format("note: {}\n", note);
    return out;
}

// The sentence that says most first.
std::string job_text(Fields& fields, const Reader& top, const Reader& job, double now) {
    auto out = job_heading(fields, job, now);
    const auto placement = fields.object(top, "placement"); // an older restartd has none
    if (placement) out += fields.text(*placement, "sentence") + '\n';
    out += job_facts(fields, job, now);
    if (placement) out += placement_details(fields, *placement, now);
    return out;
}

std::string host_heading(Fields& fields, const Reader& host, double now) {
    auto out = fmt::format("host {}", fields.text(host, "name"));
    if (const auto unit = fields.text(host, "unit"); !unit.empty()) out += fmt::format(" in unit {}", unit);
    out += fmt::format(": {}", state_text(fields, host));
    if (const auto reason = fields.text(host, "reason"); !reason.empty()) out += fmt::format(" ({})", reason);
    out += fmt::format("; agent {}\n", agent_text(fields, host, now));
    for (const auto& finding : fields.items(host, "findings"))
        out += fmt::format("finding: {} on {}, {}, since {}: {}\n", fields.text(finding, "rule"),
                           fields.text(finding, "component"), fields.text(finding, "severity"),
                           when(fields.number(finding, "since"), now), fields.text(finding, "evidence"));
    if (const auto links = fields.object(host, "links"))
        out += fmt::format("links: {} of {} up\n", fields.integer(*links, "up"),
                           fields.integer(*links, "total"));
    if (const auto agent = fields.object(host, "agent"))
        for (const auto& sentence : fields.texts(*agent, "not_watching"))
            out += fmt::format("not watching {}\n", sentence);
    return out;
}

// Runs `print` over the answer and turns the first missing field into the error.
template <class Print> Expected<std::string> shown(std::string_view answer, Print print) {
    const auto document = base::parse_json(answer);
    if (!document) return base::Error(document.error()).within("restartd's answer");
    std::optional<base::Error> failed;
    Fields fields(failed);
    auto text = print(fields, Reader(*document));
    if (failed) return std::move(*failed).within("restartd's answer");
    return text;
}

std::string summary(Fields& fields, const Reader& top, double now) {
    std::string out = fields.boolean(top, "observe_only")
                          ? "restartd observes only: nothing is drained or requeued\n"
                          : "restartd acts\n";
    if (const auto rm = fields.object(top, "resource_manager")) {
        if (!rm->has("read"))
            out += "the resource manager has not answered yet\n";
        else if (!fields.boolean(*rm, "answers"))
            out += fmt::format("the resource manager does not answer; last read {} ago\n",
                               lasting(now - fields.number(*rm, "read")));
    }
    for (const char* part : {"journal", "fabric"})
        if (const auto about = fields.object(top, part))
            if (const auto error = fields.text(*about, "error"); !error.empty())
                out += fmt::format("{}: {}\n", part, error);
    if (const auto witnesses = fields.object(top, "witnesses")) // an older restartd has none
        for (const auto& sentence : fields.texts(*witnesses, "sentences"))
            out += fmt::format("witness of a host's loss: {}\n", sentence);
    if (const auto installation = fields.object(top, "installation"))
        for (const auto& missing : fields.texts(*installation, "missing"))
            out += fmt::format("installed half: {}\n", missing);
    return out;
}

// What the answers say when restartd has nothing to tell.
constexpr std::string_view no_story_of_job =
    "restartd has done nothing about this job: no fault was seen on its hosts that would have moved it.";
constexpr std::string_view no_story_of_host =
    "restartd has nothing on record about this host: no fault was seen and nobody drained it through railctl.";
constexpr std::string_view no_history =
    "restartd's journal holds nothing that fits: no fault was seen, and nothing decided or done.";

} // namespace

Expected<std::string> show_status(std::string_view answer, bool all) {
    return shown(answer, [&](Fields& fields, const Reader& top) {
        const auto now = fields.number(top, "time");
        auto out = summary(fields, top, now);
        std::map<std::string, int> counts;
        Table hosts({"HOST", "UNIT", "STATE", "AGENT", "FINDINGS", "REASON"});
        for (const auto& host : fields.items(top, "hosts")) {
            const bool down = fields.boolean(host, "down");
            const bool drain = fields.boolean(host, "drain");
            ++counts[!host.has("state") ? "unknown to it" : down ? "down" : drain ? "drained" : "up"];
            const auto agent = fields.object(host, "agent");
            const bool silent = agent && (!agent->has("last_report") || fields.boolean(*agent, "silent"));
            if (silent) ++counts["with a silent agent"];
            const auto findings = findings_text(fields, host);
            if (all || down || drain || silent || !findings.empty() || fields.boolean(host, "lost") ||
                fields.boolean(host, "not_responding"))
                hosts.add({fields.text(host, "name"), fields.text(host, "unit"), state_text(fields, host),
                           agent_text(fields, host, now), findings, fields.text(host, "reason")});
        }
        std::string line;
        for (const char* word : {"up", "drained", "down", "unknown to it", "with a silent agent"})
            if (counts[word] > 0)
                line += fmt::format("{}{} {}", line.empty() ? "" : ", ", counts[word], word);
        out += fmt::format("hosts: {}; {} drained by Railyard\n", line.empty() ? "none known" : line,
                           fields.integer(top, "drained_by_railyard"));
        if (!hosts.empty()) out += "\n" + hosts.print();
        add_incidents(fields, top, now, out);
        Table jobs({"JOB", "STATE", "NODES", "STARTS", "CHECKPOINT", "EVERY"});
        for (const auto& job : fields.items(top, "jobs")) {
            const auto checkpoint = checkpoint_text(fields, job, now);
            const auto epoch = fields.integer(job, "epoch");
            if (!all && checkpoint == "-" && epoch == 0 && !job.has("restart")) continue;
            const auto interval = fields.number(job, "interval_s");
            jobs.add({fields.text(job, "name"), fields.text(job, "state"),
                      nodes_text(fields.texts(job, "nodes")), std::to_string(epoch + 1), checkpoint,
                      interval > 0 ? lasting(interval) : "-"});
        }
        if (!jobs.empty()) out += "\n" + jobs.print();
        if (hosts.empty() && jobs.empty() && fields.items(top, "incidents").empty())
            out += "nothing to tell of hosts, incidents and jobs (--all lists every host and job)\n";
        return out;
    });
}

Expected<std::string> show_explain(std::string_view answer) {
    return shown(answer, [&](Fields& fields, const Reader& top) {
        const auto now = fields.number(top, "time");
        std::string out;
        std::string empty(top.has("placement") ? no_story_of_job : no_story_of_host);
        if (const auto job = fields.object(top, "job")) {
            out += job_text(fields, top, *job, now);
            if (!job->has("restart") || fields.text(*job, "restart") == "never")
                empty += " If one is seen the job is left to Slurm: it was submitted without --restart=auto.";
        } else if (const auto host = fields.object(top, "host")) {
            out += host_heading(fields, *host, now);
        } else {
            out += "no longer in the resource manager\n";
        }
        add_incidents(fields, top, now, out);
        return out + "\n" + timeline_text(fields, top, now, empty);
    });
}

Expected<std::string> show_history(std::string_view answer) {
    return shown(answer, [&](Fields& fields, const Reader& top) {
        return timeline_text(fields, top, base::to_seconds(base::now()), no_history);
    });
}

} // namespace restart
