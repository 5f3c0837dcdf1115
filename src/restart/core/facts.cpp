// Reports, sweeps and snapshots taken into the state. Nothing is decided here but whether to believe them.

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/core/file_doubt.hpp"
#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace restart {
namespace {

bool holds(const std::vector<Finding>& findings, const std::string& key) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return key_of(f) == key; });
}

// A host that takes jobs again although what speaks against it holds: whoever resumed it knew, and decided
// so.
void pardon(Turn& turn, const std::string& name, HostState& host) {
    std::string held;
    const auto add = [&](const std::string& key, const std::string& words) {
        if (has_name(host.pardoned, key)) return;
        host.pardoned.push_back(key);
        held += (held.empty() ? "" : ", ") + words;
    };
    if (host.lost) add(std::string(lost_key), "its loss");
    for (const auto& finding : host.findings)
        if (finding.severity >= Severity::evict)
            add(key_of(finding), fmt::format("{} {}", finding.component, finding.rule));
    if (held.empty()) return;
    turn.note_host(NoteKind::decision, name,
                   fmt::format("was resumed in spite of {}, which stands as long as that holds", held));
    turn.changed();
}

// Notes what began and what ended, and keeps the new list.
void take_findings(Turn& turn, const std::string& name, HostState& host,
                   const std::vector<Finding>& findings) {
    if (host.findings == findings) return;
    for (const auto& finding : findings) {
        // Those that ask to leave a host in use open an incident, which tells them.
        const bool told_there =
            finding.severity >= Severity::evict && host.node && !ours(host) && !anothers(host);
        if (finding.severity == Severity::info || told_there || holds(host.findings, key_of(finding)))
            continue;
        turn.note_host(NoteKind::signal, name,
                       fmt::format("{} {} ({}): {}", finding.component, finding.rule,
                                   to_string(finding.severity), finding.evidence));
    }
    for (const auto& finding : host.findings)
        if (finding.severity != Severity::info && !holds(findings, key_of(finding)))
            turn.note_host(NoteKind::signal, name,
                           fmt::format("{} {}: cleared", finding.component, finding.rule));
    host.findings = findings;
    std::erase_if(host.pardoned,
                  [&](const std::string& key) { return key != lost_key && !holds(findings, key); });
}

void take_job(Turn& turn, const std::string& host, const JobReport& report) {
    // A heterogeneous job's processes may know themselves by their component's id.
    const auto* known = turn.state.find_job(report.id);
    if (known == nullptr) return;
    auto& job = turn.state.jobs.at(known->rm.id);
    const auto& nodes = job.rm.nodes;
    // A stranger's word, a word about another start, or from a host the job is not on, is passed over; the
    // agent repeats what it knows with each report, so one that is ahead of the snapshot is not lost.
    if (report.uid != job.rm.uid || report.epoch != job.rm.restarts ||
        std::find(nodes.begin(), nodes.end(), host) == nodes.end())
        return;
    job.speaks = true;
    if (!report.ckpt) return;
    // Two hosts' clocks may differ by more than two commits lie apart: a later step is newer as well.
    if (job.commit && report.ckpt->committed <= job.commit->committed &&
        report.ckpt->step <= job.commit->step)
        return;
    learn_commit(job, *report.ckpt);
    refresh_interval(job, turn.policy);
}

void take_node(Turn& turn, const std::string& name, HostState& host, const RmNode& node) {
    const bool mute = node.not_responding || node.down;
    if (!mute)
        host.mute_since.reset();
    else if (!host.mute_since)
        host.mute_since = turn.now;
    if (host.node && *host.node == node) return;
    const bool resumed = host.node && host.node->drain && !node.drain && !node.down;
    host.node = node;
    host.node->state = printable(node.state);
    host.node->reason = printable(node.reason);
    if (resumed) pardon(turn, name, host);
}

// Whoever else changed the list has seen what stands in it: from then on all of it is theirs.
void take_exclusion(Turn& turn, JobState& job, const std::vector<std::string>& excluded) {
    if (job.rm.excluded == excluded || job_in_flight(turn.state, job.rm.id)) return;
    std::erase_if(job.hurt_by, [&](const std::string& host) {
        return has_name(job.kept_off, host) && !has_name(excluded, host);
    });
    job.kept_off.clear();
}

void take_rm_job(Turn& turn, JobState& job, const RmJob& read) {
    const bool new_start = job.rm.restarts != read.restarts;
    const bool other_size = job.rm.node_count != read.node_count;
    take_exclusion(turn, job, read.excluded);
    job.rm = read;
    job.rm.ckpt_dir = printable(read.ckpt_dir, 4095);
    job.rm.why = printable(read.why);
    if (new_start) {
        job.speaks = false;
        job.shed.clear();
    }
    if (read.phase == JobPhase::running || read.phase == JobPhase::suspended) {
        if (job.ran_epoch == read.restarts && job.ran_on != read.nodes)
            for (const auto& node : job.ran_on)
                if (std::find(read.nodes.begin(), read.nodes.end(), node) == read.nodes.end())
                    job.shed.emplace(node, turn.now);
        job.ran_on = read.nodes;
        job.ran_epoch = read.restarts;
        job.ran_since = read.start;
        job.left.reset();
    } else if (!job.left && !job.ran_on.empty()) {
        job.left = turn.now;
    }
    if (other_size || job.interval == base::Duration{}) refresh_interval(job, turn.policy);
}

} // namespace

void take_report(Turn& turn, const Report& report) {
    if (!turn.state.knows_host(report.host)) return;
    auto& host = turn.state.hosts.find(report.host)->second;
    if (host.lost && host.last_report) {
        turn.note_host(
            NoteKind::outcome, report.host,
            fmt::format("reports again after {}; what keeps it out of use stands until it is resumed",
                        base::human_duration(turn.now - *host.last_report)));
        turn.changed();
    }
    const bool rebooted = !host.boot_id.empty() && !report.boot_id.empty() && host.boot_id != report.boot_id;
    if (rebooted) turn.note_host(NoteKind::signal, report.host, "was rebooted");
    if (rebooted || host.lost) ++host.generation;
    host.last_report = turn.now;
    host.lost = host.unsure = host.doubted = false;
    std::erase(host.pardoned, lost_key);
    if (!report.boot_id.empty()) host.boot_id = report.boot_id;
    host.not_watching = report.not_watching;
    host.fabric = report.fabric;
    doubt_file(turn.state, host, report.findings);
    take_findings(turn, report.host, host, report.findings);
    for (const auto& job : report.jobs)
        take_job(turn, report.host, job);
}

void take_sweep(Turn& turn, const FabricReport& report) {
    if (!report.complete) return; // a sweep that ended early says nothing about who is missing
    turn.state.swept = turn.now;
    for (auto& [name, host] : turn.state.hosts) {
        const auto named = report.hosts.find(name);
        host.links = named == report.hosts.end() ? HostLinks{} : named->second;
        const bool dark = host.links.links_total > 0 && host.links.links_up == 0;
        if (!dark)
            host.dark_since.reset();
        else if (!host.dark_since)
            host.dark_since = turn.now;
    }
}

void take_snapshot(Turn& turn, const RmSnapshot& snapshot) {
    auto& state = turn.state;
    if (!state.rm_answers) turn.note_host(NoteKind::outcome, {}, "the resource manager answers again");
    state.rm_answers = true;
    state.rm_read = turn.now;
    if (snapshot.config && state.rm_config != snapshot.config) {
        state.rm_config = snapshot.config;
        turn.changed();
    }

    std::vector<std::string_view> named;
    named.reserve(snapshot.nodes.size());
    for (const auto& node : snapshot.nodes) {
        named.push_back(node.name);
        const auto found = state.hosts.find(node.name);
        take_node(turn, node.name, found != state.hosts.end() ? found->second : state.hosts[node.name], node);
    }
    std::sort(named.begin(), named.end());
    for (auto at = state.hosts.begin(); at != state.hosts.end();) {
        auto& [name, host] = *at;
        if (!std::binary_search(named.begin(), named.end(), std::string_view(name))) host.node.reset();
        at = host.node || !host.unit.empty() ? std::next(at) : state.hosts.erase(at);
    }

    std::map<std::uint32_t, JobState> jobs;
    for (const auto& read : snapshot.jobs) {
        if (read.phase == JobPhase::ended) continue;
        auto known = state.jobs.extract(read.id);
        auto& job = known ? jobs.insert(std::move(known)).position->second : jobs[read.id];
        take_rm_job(turn, job, read);
    }
    state.jobs = std::move(jobs);
}

void take_units(Turn& turn, const std::map<std::string, std::string>& units) {
    for (auto& [name, host] : turn.state.hosts)
        host.unit.clear();
    for (const auto& [name, unit] : units)
        turn.state.hosts[name].unit = printable(unit, 64);
    std::erase_if(turn.state.hosts,
                  [](const auto& entry) { return !entry.second.node && entry.second.unit.empty(); });
}

std::string printable(std::string_view text, std::size_t most) {
    std::string clean(text.substr(0, most));
    for (char& c : clean)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    return clean;
}

} // namespace restart
