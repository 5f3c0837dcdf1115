// Takes reports, sweeps and snapshots into the state. Decides only whether to accept them.

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/file_trust.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/kept_jobs.hpp"
#include "restart/core/learn/learn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace restart {
namespace {

// A job that has run this long has been started.
constexpr base::Duration launched_after{60'000};

// Clocks of hosts may differ by this much.
constexpr base::Duration skew{5'000};

bool holds(const std::vector<Finding>& findings, const std::string& key) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return key_of(f) == key; });
}

// What asks to leave the host: keys of findings, and of its loss.
std::vector<std::string> against(const HostState& host) {
    std::vector<std::string> keys;
    if (host.lost) keys.emplace_back(lost_key);
    for (const auto& finding : host.findings)
        if (finding.severity >= Severity::evict) keys.push_back(key_of(finding));
    return keys;
}

// A host that was resumed although its findings hold: whoever resumed it has overruled them. Not the findings
// that came since it was last read as drained: no one can have known of them, and a host that was just
// resumed may well fail under its first job.
void note_overruling(StepContext& ctx, const std::string& name, HostState& host) {
    std::string held;
    const auto add = [&](const std::string& key, const std::string& words) {
        if (has_name(host.overruled, key)) return;
        if (host.held_when_drained && !has_name(*host.held_when_drained, key)) return;
        host.overruled.push_back(key);
        held += (held.empty() ? "" : ", ") + words;
    };
    if (host.lost) add(std::string(lost_key), "its loss");
    for (const auto& finding : host.findings)
        if (finding.severity >= Severity::evict)
            add(key_of(finding), fmt::format("{} {}", finding.component, finding.rule));
    if (held.empty()) return;
    ctx.note_host(NoteKind::decision, name,
                  fmt::format("was resumed in spite of {}, which stands as long as that holds", held));
    ctx.changed();
}

// Notes which findings began and ended, and stores the new list.
void take_findings(StepContext& ctx, const std::string& name, HostState& host,
                   const std::vector<Finding>& findings) {
    if (host.findings == findings) return;
    for (const auto& finding : findings) {
        // Those that ask to move jobs off a host in use open an incident, which notes them.
        const bool noted_there =
            finding.severity >= Severity::evict && host.node && !owned_by_us(host) && !owned_by_others(host);
        if (finding.severity == Severity::info || noted_there || holds(host.findings, key_of(finding)))
            continue;
        ctx.note_host(NoteKind::signal, name,
                      fmt::format("{} {} ({}): {}", finding.component, finding.rule,
                                  to_string(finding.severity), finding.evidence));
    }
    for (const auto& finding : host.findings)
        if (finding.severity != Severity::info && !holds(findings, key_of(finding)) &&
            !has_name(host.explained, key_of(finding))) // the incident that explains them notes their end
            ctx.note_host(NoteKind::signal, name,
                          fmt::format("{} {}: cleared", finding.component, finding.rule));
    host.findings = findings;
    std::erase_if(host.overruled,
                  [&](const std::string& key) { return key != lost_key && !holds(findings, key); });
}

// A checkpoint is complete only when all of the job's hosts have written their parts.
void take_life(StepContext& ctx, const JobState& job) {
    const auto when = std::min(job.commit->committed, ctx.now);
    for (const auto& name : job.rm.nodes) {
        const auto host = ctx.state.hosts.find(name);
        if (host == ctx.state.hosts.end() || !host->second.last_report || job.dropped_nodes.contains(name))
            continue;
        if (when - *host->second.last_report > skew)
            host->second.alive_at = std::max(host->second.alive_at, when);
    }
}

// What the job's railrun reports; only one host's agent reports it.
void take_run(StepContext& ctx, JobProgress& job, const std::string& host,
              const std::optional<JobRun>& said) {
    auto& run = job.run;
    if (run && run->host != host && !run->gone) return;
    if (!said) {
        if (run && run->host == host && !run->gone) run->gone = ctx.now;
        return;
    }
    auto ranks = base::expand_hostlist(said->hosts), spares = base::expand_hostlist(said->spares);
    if (!ranks || !spares) return;
    const auto began = run && run->launch == said->launch ? run->began : ctx.now;
    run = RunState{host, said->launch, *std::move(ranks), *std::move(spares), said->ended, {}, began};
}

// What NCCL reports about the job to the agents of its hosts. All its processes know the same, so the newest
// report counts; a new trouble is noted once, with the first host that reports it. What it reports about a
// host's own processes is kept with that host's paces.
void take_nccl(StepContext& ctx, JobState& job, const std::string& host,
               const std::optional<NcclWord>& said) {
    if (!said) return;
    auto& known = job.nccl;
    if (known && known->host == host && known->word.asked == said->asked) return;
    std::vector<std::string> troubles;
    for (const auto& trouble : said->troubles)
        troubles.push_back(state_text(trouble, longest_nccl_trouble));
    // A host that reports nothing does not revoke what another one reports in the same minute.
    constexpr base::Duration soon{60'000};
    if (known && known->host != host && !known->word.troubles.empty() && troubles.empty() &&
        ctx.now - known->at < soon)
        return;
    const auto before = known ? known->word.troubles : std::vector<std::string>();
    if (before.empty() != troubles.empty())
        ctx.note_job(NoteKind::signal, job.rm,
                     troubles.empty() ? std::string("NCCL: its communicators are well again")
                                      : "NCCL: " + troubles.front());
    known = NcclState{host, ctx.now, {said->asked, std::move(troubles)}};
}

// A line for the job's owner: which of its processes had a fault on a GPU. Only the first of a start, as a
// gang fails as one, and for at most most_of_user of a user's known jobs, as an array of a thousand tasks
// fails as one too.
void take_fault(StepContext& ctx, JobState& job, const std::string& host,
                const std::optional<ProgramFault>& said) {
    constexpr std::ptrdiff_t most_of_user = 10;
    if (!said || job.faulted) return;
    const auto before = std::count_if(ctx.state.jobs.begin(), ctx.state.jobs.end(), [&](const auto& entry) {
        return entry.second.faulted && entry.second.rm.uid == job.rm.uid;
    });
    if (before >= most_of_user) return;
    job.faulted = true;
    ctx.note_job(
        NoteKind::signal, job.rm,
        fmt::format("process {} on {} had XID {} on {}{}{}{}", said->process, host, said->xid, said->gpu,
                    said->text.empty() ? "" : ": ", state_text(said->text, longest_fault),
                    before + 1 == most_of_user ? " (of more jobs of this user it is not noted)" : ""));
}

void take_links(const StepContext& ctx, HostLiveness& host, const HostLinks& links) {
    host.links = links.links_up == links.links_total ? HostLinks{} : links;
    if (host.links.links_total == 0 || host.links.links_up > 0)
        host.dark_since.reset();
    else if (!host.dark_since)
        host.dark_since = ctx.now;
}

// Between two sweeps: only these hosts.
void take_changes(StepContext& ctx, const FabricReport& report) {
    for (const auto& [name, links] : report.hosts) {
        const auto host = ctx.state.hosts.find(name);
        if (host == ctx.state.hosts.end()) continue;
        take_links(ctx, host->second, links);
        host->second.links_told = ctx.now;
    }
}

// Reported by the job's user about the job's own hosts: it affects only this job, unless others report the
// same (agreed_checks.hpp).
void take_preflight(State& state, base::Time now, JobState& job, const std::string& host,
                    const std::optional<Preflight>& said) {
    auto& known = job.preflight;
    const bool same = known && known->epoch == job.rm.restarts && known->host == host;
    if (!said) {
        if (same) known->asks = false;
        return;
    }
    for (const auto& word : said->words)
        if (const auto of = state.hosts.find(word.host);
            of != state.hosts.end() && has_name(job.rm.nodes, word.host))
            take_check(of->second.checks, word, {job.rm.id, job.rm.restarts, job.rm.uid, false, said->level},
                       now);
    std::vector<std::string> without;
    for (const auto& name : said->without)
        if (has_name(job.rm.nodes, name)) add_name(without, name);
    if (without.empty()) {
        known.reset();
        return;
    }
    PreflightState next{job.rm.restarts,         host, std::move(without), {}, said->requeue, {}, {},
                        known ? known->times : 0};
    for (const auto& word : said->words)
        if (has_name(next.without, word.host)) {
            next.why = state_text(fmt::format("{} {}: {}", word.host, word.component, word.says), 200);
            break;
        }
    if (same) {
        next.requeued = known->requeued;
        next.stays = known->stays;
    }
    known = std::move(next);
}

void take_job(StepContext& ctx, const std::string& host, const JobReport& report) {
    if (take_idle_check_word(ctx, host, report)) return; // it may have ended
    // A heterogeneous job's processes may report their component's id.
    const auto* known = ctx.state.find_job(report.id);
    if (known == nullptr) return;
    auto& job = ctx.state.jobs.at(known->rm.id);
    const auto& nodes = job.rm.nodes;
    // Ignored: another user's report, one about another start, or from a host the job is not on. The agent
    // repeats what it knows in each report, so a report ahead of the snapshot is not lost.
    if (report.uid != job.rm.uid || start_of(job.rm, report.epoch) != job.rm.restarts ||
        std::find(nodes.begin(), nodes.end(), host) == nodes.end())
        return;
    job.connected = true;
    take_run(ctx, job, host, report.run);
    take_nccl(ctx, job, host, report.nccl);
    take_fault(ctx, job, host, report.fault);
    take_preflight(ctx.state, ctx.now, job, host, report.preflight);
    if (report.preflight) ctx.changed();
    if (report.stepped_s) learn_start(ctx, job, *report.stepped_s);
    if (!report.ckpt) return;
    // Two hosts' clocks may differ by more than the time between two commits: a later step is newer as well.
    if (job.commit && report.ckpt->committed <= job.commit->committed &&
        report.ckpt->step <= job.commit->step)
        return;
    record_commit(job, *report.ckpt);
    take_life(ctx, job);
    refresh_interval(ctx.state, job, ctx.policy);
}

void take_node(StepContext& ctx, const std::string& name, HostState& host, const RmNode& node) {
    const bool unresponsive = node.not_responding || node.down;
    if (!unresponsive)
        host.unresponsive_since.reset();
    else if (!host.unresponsive_since)
        host.unresponsive_since = ctx.now;
    if (node.away) host.away_until = ctx.now;
    if (node.drain) host.held_when_drained = against(host);
    if (host.node && *host.node == node) return;
    const bool resumed = host.node && host.node->drain && !node.drain && !node.down;
    host.node = node;
    host.node->state = state_text(node.state);
    host.node->reason = state_text(node.reason);
    host.node->set_by = state_text(node.set_by, 64);
    // A new journal, or an older copy, does not know the incidents that hosts are still tagged with: no new
    // incident may have the number of one of them.
    ctx.state.next_incident = std::max(ctx.state.next_incident, incident_in(node.reason) + 1);
    if (resumed) note_overruling(ctx, name, host);
}

// An operator or program that changed the list has seen its content: from then on all of it is theirs.
void take_exclusion(StepContext& ctx, JobState& job, const std::vector<std::string>& excluded) {
    if (job.rm.excluded == excluded || job_in_flight(ctx.state, job.rm.id)) return;
    std::erase_if(job.moved_off, [&](const std::string& host) {
        return has_name(job.excluded_by_us, host) && !has_name(excluded, host);
    });
    job.excluded_by_us.clear();
}

// A job submitted in place of another continues from there.
void inherit(const State& state, JobState& job, const RmJob& read) {
    const auto former = state.jobs.find(read.again->job);
    if (former == state.jobs.end()) return;
    const auto& from = former->second;
    job.rm.excluded = read.excluded;
    job.commit = from.commit;
    job.cost = from.cost;
    job.safe_after = from.safe_after;
    job.lost_host_seconds = from.lost_host_seconds;
    job.requeues = from.requeues;
    job.crashes = from.crashes;
    job.moved_off = from.moved_off;
    job.excluded_by_us = from.excluded_by_us;
}

// Of jobs that have ended only restartable ones are kept, while the resource manager remembers them.
bool may_return(const RmJob& read) {
    return read.failure && read.restart == true && read.requeue && !read.interactive &&
           read.failure->code != sched::no_restart_code;
}

void take_rm_job(StepContext& ctx, JobState& job, const RmJob& read) {
    const bool new_start = job.rm.restarts != read.restarts;
    const bool other_size = job.rm.node_count != read.node_count;
    take_exclusion(ctx, job, read.excluded);
    if (is_gang(job.rm) && !is_gang(read) &&
        (read.phase == JobPhase::pending || read.phase == JobPhase::running))
        ctx.note_job(NoteKind::signal, read,
                     fmt::format("was moved to queue {}, whose jobs Railyard does not place: {}",
                                 state_text(read.queue, 64),
                                 read.phase == JobPhase::pending
                                     ? "it may start on any hosts"
                                     : "when it is requeued it may start on any hosts"));
    job.rm = read;
    job.rm.ckpt_dir = state_text(read.ckpt_dir, 4095);
    job.rm.why = state_text(read.why);
    if (new_start) {
        job.connected = false;
        job.run.reset();
        job.pace.reset();
        job.nccl.reset();
        job.faulted = false;
        job.dropped_nodes.clear();
    }
    if (read.phase == JobPhase::ended) job.connected = false;
    if (read.phase == JobPhase::running && ctx.now - read.start > launched_after) job.unlaunched = 0;
    if (read.phase == JobPhase::running || read.phase == JobPhase::suspended) {
        if (job.ran_epoch == read.restarts && job.ran_on != read.nodes)
            for (const auto& node : job.ran_on)
                if (std::find(read.nodes.begin(), read.nodes.end(), node) == read.nodes.end())
                    job.dropped_nodes.emplace(node, ctx.now);
        if (job.ran_epoch != read.restarts)
            job.had = job.ran_epoch + 1 == read.restarts ? std::move(job.ran_on) : std::vector<std::string>();
        job.ran_on = read.nodes;
        job.ran_epoch = read.restarts;
        job.ran_since = read.start;
        job.left.reset();
    } else if (!job.left && !job.ran_on.empty()) {
        job.left = ctx.now;
        credit_progress(job, ctx.now);
    }
    if (other_size || job.interval == base::Duration{}) refresh_interval(ctx.state, job, ctx.policy);
}

} // namespace

void take_report(StepContext& ctx, const Report& report) {
    if (!ctx.state.knows_host(report.host)) return;
    auto& host = ctx.state.hosts.find(report.host)->second;
    take_departure(ctx, host, report);
    if (host.lost && host.last_report) {
        ctx.note_host(
            NoteKind::outcome, report.host,
            fmt::format("reports again after {}; what keeps it out of use stands until it is resumed",
                        base::human_duration(ctx.now - *host.last_report)));
        ctx.changed();
    }
    const bool rebooted = !host.boot_id.empty() && !report.boot_id.empty() && host.boot_id != report.boot_id;
    if (rebooted) ctx.note_host(NoteKind::signal, report.host, "was rebooted");
    if (rebooted || host.lost) ++host.generation;
    host.last_report = ctx.now;
    host.mute_since.reset();
    host.lost = host.rm_confirmed_only = host.suspicion_dropped = false;
    host.together_until = {};
    std::erase(host.overruled, lost_key);
    if (!report.boot_id.empty()) host.boot_id = report.boot_id;
    host.not_watching = report.not_watching;
    host.slurmd = report.slurmd;
    host.looks = report.looks;
    ctx.state.looks.erase(report.host);
    host.fabric = report.fabric;
    host.port_names = report.port_names;
    suspend_trust(ctx.state, host, report.findings);
    take_findings(ctx, report.host, host, report.findings);
    note_arrivals(ctx, report.host, host);
    for (const auto& job : report.jobs)
        take_job(ctx, report.host, job);
    take_kept(host, report, ctx.now);
    take_pace(ctx, host, report);
}

// A port that was seen down is down, even if the sweep was incomplete.
void take_down_links(State& state, const std::vector<DownLink>& links) {
    std::map<std::string_view, std::vector<std::string>> down;
    const auto end = [&](const std::string& device, const std::string& port) {
        return fmt::format("{}{}{}", device, state.switches.contains(device) ? " port " : " ", port);
    };
    for (const auto& link : links) {
        const bool hosts = state.hosts.contains(link.a) || state.hosts.contains(link.b);
        auto one = end(link.a, link.a_port), other = end(link.b, link.b_port);
        if (state.hosts.contains(link.b) || (!hosts && other < one)) std::swap(one, other);
        const auto text = state_text(hosts ? one : fmt::format("{} - {}", one, other), 256);
        for (const auto* device : {&link.a, &link.b})
            if (state.switches.contains(*device)) down[*device].push_back(text);
    }
    for (auto& [name, one] : state.switches) {
        auto now = down.find(name);
        std::vector<std::string> list;
        if (now != down.end()) list = std::move(now->second);
        std::sort(list.begin(), list.end());
        if (one.down != list) one.down = std::move(list);
    }
}

void take_sweep(StepContext& ctx, const FabricReport& report) {
    take_links_word(ctx, report);
    if (report.changes) return take_changes(ctx, report);
    take_down_links(ctx.state, report.links_down);
    if (!report.complete) return; // a sweep that ended early does not show who is missing
    ctx.state.swept = ctx.now;
    const auto began = ctx.now - base::duration_from_seconds(report.age_s);
    for (auto& [name, host] : ctx.state.hosts) {
        // A change reported during the sweep may be newer than what the sweep read of this host.
        if (host.links_told && *host.links_told >= began && *host.links_told <= ctx.now) continue;
        const auto named = report.hosts.find(name);
        take_links(ctx, host, named == report.hosts.end() ? HostLinks{} : named->second);
        if (!host.dark_since) host.links_told.reset();
    }
}

void take_answer(StepContext& ctx, const HostAsked& asked) {
    const auto host = ctx.state.hosts.find(asked.host);
    if (host == ctx.state.hosts.end()) return;
    auto& since = host->second.mute_since;
    if (asked.life != Life::mute)
        since.reset();
    else if (!since)
        since = ctx.now;
}

void take_snapshot(StepContext& ctx, const RmSnapshot& snapshot) {
    auto& state = ctx.state;
    if (!state.rm_answers) {
        ctx.note_host(NoteKind::outcome, {}, "the resource manager answers again");
        state.rm_answers_since = ctx.now;
    }
    state.rm_answers = true;
    state.rm_read = ctx.now;
    if (snapshot.config && state.rm_config != snapshot.config) {
        state.rm_config = snapshot.config;
        ctx.changed();
    }

    std::vector<std::string_view> named;
    named.reserve(snapshot.nodes.size());
    std::vector<std::string> begun, ended; // of maintenance
    for (const auto& node : snapshot.nodes) {
        named.push_back(node.name);
        const auto found = state.hosts.find(node.name);
        auto& host = found != state.hosts.end() ? found->second : state.hosts[node.name];
        if ((host.node && host.node->maintenance) != node.maintenance)
            (node.maintenance ? begun : ended).push_back(node.name);
        take_node(ctx, node.name, host, node);
    }
    note_maintenance(ctx, begun, ended);
    std::sort(named.begin(), named.end());
    for (auto at = state.hosts.begin(); at != state.hosts.end();) {
        auto& [name, host] = *at;
        if (!std::binary_search(named.begin(), named.end(), std::string_view(name))) host.node.reset();
        at = host.node || !host.unit.empty() ? std::next(at) : state.hosts.erase(at);
    }

    std::map<base::JobId, JobState> jobs;
    for (const auto& read : snapshot.jobs) {
        if (read.phase == JobPhase::ended && !may_return(read)) continue;
        auto known = state.jobs.extract(read.id);
        const bool is_new = !known;
        auto& job = known ? jobs.insert(std::move(known)).position->second : jobs[read.id];
        if (is_new && read.again) inherit(state, job, read);
        take_rm_job(ctx, job, read);
    }
    state.jobs = std::move(jobs);
}

void take_fabric(StepContext& ctx, const FabricLoaded& fabric) {
    for (auto& [name, host] : ctx.state.hosts) {
        static_cast<HostPlace&>(host) = {};
    }
    for (const auto& [name, unit] : fabric.units)
        ctx.state.hosts[name].unit = state_text(unit, 64);
    for (const auto& [name, pod] : fabric.pods)
        ctx.state.hosts[name].pod = state_text(pod, 64);
    for (const auto& [name, leaves] : fabric.leaves)
        for (const auto& leaf : leaves)
            add_name(ctx.state.hosts[name].leaves, state_text(leaf, 64));
    for (const auto& [name, ports] : fabric.ports)
        ctx.state.hosts[name].ports = ports;
    auto held = std::exchange(ctx.state.switches, {});
    for (const auto& [name, read] : fabric.switches) {
        auto& one = ctx.state.switches[name] = read;
        if (const auto old = held.find(name); old != held.end()) one.down = std::move(old->second.down);
    }
    std::erase_if(ctx.state.hosts,
                  [](const auto& entry) { return !entry.second.node && entry.second.unit.empty(); });
}

} // namespace restart
