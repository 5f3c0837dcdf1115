#include "restart/core/detect/file_trust.hpp"

#include "base/hostlist.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace restart {
namespace {

constexpr base::Duration calm{60'000};
constexpr std::array<std::string_view, 3> rules{"ib.missing", "ib.never_up", "ib.changed"};

// The host's file, by its digest; "-" if its agent reports none.
std::string file_of(const HostState& host) {
    return host.fabric.empty() ? "-" : host.fabric;
}

struct Readers {
    std::size_t all = 0;
    std::vector<std::string> unfit; // hosts that lack something
    bool most_unfit() const { return 2 * unfit.size() > all; }
    // Not at the first host below half, so that hosts that come and go do not change it repeatedly.
    bool mostly_fit() const { return 4 * unfit.size() <= all; }
};

std::map<std::string, Readers> count_readers(const State& state) {
    std::map<std::string, Readers> files;
    for (const auto& [name, host] : state.hosts) {
        if (!host.last_report || host.lost || in_maintenance(state, name, host)) continue;
        auto& readers = files[file_of(host)];
        ++readers.all;
        if (std::any_of(host.findings.begin(), host.findings.end(), rests_on_file))
            readers.unfit.push_back(name);
    }
    return files;
}

// Hosts that our drains keep out of use for what a file has listed.
std::vector<std::string> drained_for_it(const State& state) {
    std::vector<std::string> names;
    for (const auto& [name, host] : state.hosts)
        if (owned_by_us(host) &&
            std::any_of(rules.begin(), rules.end(), [&host = host](std::string_view rule) {
                return host.node->reason.find(rule) != std::string::npos;
            }))
            names.push_back(name);
    return names;
}

std::string fitting(const Readers& readers) {
    return fmt::format("{} of {} hosts that have read the same fabric file",
                       readers.all - readers.unfit.size(), readers.all);
}

void open(StepContext& ctx, const std::string& digest, const Readers& readers) {
    auto& incident = open_incident(ctx, IncidentKind::wrong_file, Phase::watching, {},
                                   "most hosts lack what the fabric file lists", ctx.now);
    incident.rules.push_back(digest);
    const auto& first = ctx.state.hosts.at(readers.unfit.front());
    const auto finding = std::find_if(first.findings.begin(), first.findings.end(), rests_on_file);
    ctx.note(
        NoteKind::signal, incident, {},
        state_text(fmt::format("{} have what it lists; the others are {}; {}: {} {}: {}", fitting(readers),
                               base::fold_hostlist(readers.unfit), readers.unfit.front(), finding->component,
                               finding->rule, finding->evidence)));
    ctx.note(NoteKind::decision, incident, {},
             "this is the file, not the hosts: nothing is drained or requeued for it; "
             "read the fabric again (railtopo discover, gather)");
    if (const auto drained = drained_for_it(ctx.state); !drained.empty())
        ctx.note(
            NoteKind::decision, incident, {},
            state_text(fmt::format("drained before for what a fabric file lists: {}; railctl resume brings "
                                   "back those that are sound",
                                   base::fold_hostlist(drained))));
}

bool is_about(const Incident& incident, const std::string& digest) {
    return incident.kind == IncidentKind::wrong_file && incident.rules == std::vector<std::string>{digest};
}

Incident* incident_about(State& state, const std::string& digest) {
    for (auto& [number, incident] : state.incidents)
        if (is_about(incident, digest)) return &incident;
    return nullptr;
}

} // namespace

bool rests_on_file(const Finding& finding) {
    return std::find(rules.begin(), rules.end(), finding.rule) != rules.end();
}

void suspend_trust(State& state, const HostState& host, const std::vector<Finding>& findings) {
    const auto count = [](const std::vector<Finding>& list) {
        return std::count_if(list.begin(), list.end(), rests_on_file);
    };
    if (count(findings) <= count(host.findings)) return;
    if (const auto trust = state.files.find(file_of(host)); trust != state.files.end())
        trust->second.trusted = false;
}

bool counts(const State& state, const HostState& host, const Finding& finding) {
    if (!rests_on_file(finding)) return true;
    const auto trust = state.files.find(file_of(host));
    return trust != state.files.end() && trust->second.trusted;
}

void check_files(StepContext& ctx) {
    const auto files = count_readers(ctx.state);
    std::erase_if(ctx.state.files, [&](const auto& trust) { return !files.contains(trust.first); });
    for (const auto& [digest, readers] : files) {
        auto& trust = ctx.state.files[digest];
        const auto unfit = static_cast<std::uint32_t>(readers.unfit.size());
        if (unfit > trust.unfit || trust.since == base::Time{}) trust.since = ctx.now;
        trust.unfit = unfit;
        auto* incident = incident_about(ctx.state, digest);
        if (incident == nullptr && readers.most_unfit()) {
            open(ctx, digest, readers);
        } else if (incident != nullptr && readers.mostly_fit()) {
            ctx.note(NoteKind::outcome, *incident, {},
                     fmt::format("{} have what it lists: it is believed again", fitting(readers)));
            ctx.state.incidents.erase(incident->number);
            trust.since = ctx.now;
        }
        trust.trusted = incident_about(ctx.state, digest) == nullptr && ctx.now - trust.since >= calm;
    }
    std::erase_if(ctx.state.incidents, [&](const auto& entry) {
        const auto& incident = entry.second;
        if (incident.kind != IncidentKind::wrong_file ||
            std::any_of(files.begin(), files.end(),
                        [&](const auto& file) { return is_about(incident, file.first); }))
            return false;
        ctx.note(NoteKind::outcome, incident, {}, "no host has read that file any more");
        return true;
    });
}

} // namespace restart
