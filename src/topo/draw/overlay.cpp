#include "topo/draw/overlay.hpp"

#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "topo/read/slurm_states.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::HostState;
using base::Reader;

constexpr std::size_t most_unknown = 10000; // more names are useless to the reader

// railtopo uses warning, restartd warn, and evict or fatal above it.
Severity severity_of(std::string_view word) {
    if (word == "info") return Severity::info;
    return word == "warning" || word == "warn" ? Severity::warning : Severity::error;
}

Expected<std::vector<Finding>> read_findings(std::string_view text) {
    const auto document = base::parse_json(text);
    if (!document) return document.error();
    const Reader top(*document);
    const auto array = top.at("findings");
    if (!array) return array.error();
    const auto items = array->items();
    if (!items) return items.error();
    std::vector<Finding> findings;
    for (const auto& item : *items) {
        auto code = item.text("code"), severity = item.text("severity"), said = item.text("text");
        for (const auto* field : {&code, &severity, &said})
            if (!*field) return field->error();
        const auto array_of_ends = item.at("ends");
        const auto ends = array_of_ends ? array_of_ends->items() : array_of_ends.error();
        if (!ends) return ends.error();
        Finding finding{*std::move(code), severity_of(*severity), {}, {}, {}, *std::move(said)};
        for (const auto& entry : *ends) {
            auto end = entry.text();
            if (!end) return std::move(end).error();
            finding.ends.push_back(*std::move(end));
        }
        findings.push_back(std::move(finding));
    }
    return findings;
}

} // namespace

void HostOverlay::worsen(HostState reported) {
    if (reported == HostState::mixed) reported = HostState::busy; // a picture shows whether a host is in use
    state = state ? std::max(*state, reported) : reported;
}

OverlayHosts::OverlayHosts(Overlay& overlay, const Fabric& fabric) : overlay_(overlay), fabric_(fabric) {
    overlay.hosts.resize(fabric.hosts.size());
}

OverlayHosts::~OverlayHosts() {
    auto& names = overlay_.unknown;
    std::sort(names.begin(), names.end(), base::natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
}

std::optional<std::uint32_t> OverlayHosts::find(const std::string& name) {
    const auto index = fabric_.find_host(name);
    if (!index && overlay_.unknown.size() < most_unknown) overlay_.unknown.push_back(name);
    return index;
}

Expected<void> add_states(Overlay& overlay, const Fabric& fabric, std::string_view text,
                          std::string_view name) {
    OverlayHosts hosts(overlay, fabric);
    return each_state_line(text, name, [&](const StateLine& line) {
        for (const auto& host : line.hosts) {
            const auto index = hosts.find(host);
            if (!index) continue;
            auto& reported = overlay.hosts[*index];
            reported.worsen(line.state);
            if (line.health) reported.health = std::min(reported.health, *line.health);
        }
    });
}

Expected<void> add_job(Overlay& overlay, const Fabric& fabric, std::string_view text) {
    const auto bad = [&](std::string why) {
        return Error{Code::usage, fmt::format("--job {}: {}", text, std::move(why))};
    };
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return bad("a job is NAME=HOSTLIST");
    const auto names = base::expand_hostlist(text.substr(equals + 1));
    if (!names) return bad(names.error().text);
    if (names->empty()) return bad("names no host; a job is NAME=HOSTLIST");
    JobOverlay job{std::string(text.substr(0, equals)), {}};
    for (const auto& name : *names) {
        const auto index = fabric.find_host(name);
        if (!index) return bad(fmt::format("{} is not in the fabric", name));
        job.hosts.push_back(*index);
    }
    std::sort(job.hosts.begin(), job.hosts.end());
    job.hosts.erase(std::unique(job.hosts.begin(), job.hosts.end()), job.hosts.end());
    overlay.jobs.push_back(std::move(job));
    return {};
}

Expected<std::vector<Finding>> parse_findings(std::string_view text, std::string_view name) {
    if (base::is_object(text)) {
        auto findings = read_findings(text);
        if (!findings) return std::move(findings).error().within(name);
        return findings;
    }
    std::vector<Finding> findings;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') continue;
        const auto tab = std::min(line.find('\t'), line.size());
        const auto what = line.substr(std::min(tab + 1, line.size()));
        if (tab == 0)
            return Error{Code::input,
                         fmt::format("{}:{}: no end; a line is END, a tab and what is wrong", name, number)};
        Finding finding{
            "link.named", Severity::error, {std::string(line.substr(0, tab))}, std::string(what), {}};
        finding.text =
            what.empty() ? finding.ends.front() : fmt::format("{}: {}", finding.ends.front(), what);
        findings.push_back(std::move(finding));
    }
    return findings;
}

} // namespace topo
