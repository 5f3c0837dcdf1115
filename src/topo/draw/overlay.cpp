#include "topo/draw/overlay.hpp"

#include "base/hostlist.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::HostState;
using base::Reader;

bool is_json(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

constexpr std::size_t most_unknown = 10000; // more names tell a person nothing new

// Collects hosts by name; names the fabric does not have are kept apart.
struct Known {
    const Fabric& fabric;
    Overlay& overlay;

    std::optional<std::uint32_t> find(const std::string& name) const {
        const auto index = fabric.find_host(name);
        if (!index && overlay.unknown.size() < most_unknown) overlay.unknown.push_back(name);
        return index;
    }
};

void worsen(std::optional<HostState>& state, HostState told) {
    if (told == HostState::mixed) told = HostState::busy; // a picture shows whether a host is in use
    state = state ? std::max(*state, told) : told;
}

// railtopo says warning, restartd warn, and evict or fatal above it.
Severity severity_of(std::string_view word) {
    if (word == "info") return Severity::info;
    return word == "warning" || word == "warn" ? Severity::warning : Severity::error;
}

// restartd writes an HCA port as sysfs does, "mlx5_0:1"; a GPU is no port, and marks the host.
Expected<Finding> read_host_finding(const Reader& item, const std::string& host) {
    const auto rule = item.text("rule"), component = item.text("component"), severity = item.text("severity"),
               evidence = item.text("evidence");
    for (const auto* field : {&rule, &component, &severity, &evidence})
        if (!*field) return field->error();
    Finding finding{*rule, severity_of(*severity), {host}, *evidence, {}};
    if (const auto colon = component->find(':'); colon != std::string::npos)
        finding.ends = {
            fmt::format("{} {}/{}", host, component->substr(0, colon), component->substr(colon + 1))};
    finding.text = fmt::format("{} {}: {}", host, *component, *evidence);
    return finding;
}

// "state" is null for a host that the resource manager does not know.
Expected<void> read_host(const Reader& item, const Known& known) {
    const auto name = item.text("name");
    if (!name) return name.error();
    const auto index = known.find(*name);
    if (!index) return {};
    auto& host = known.overlay.hosts[*index];
    if (item.has("state")) {
        const auto state = item.text("state");
        if (!state) return state.error();
        // What restartd concluded from the words stands beside them; another resource manager's are not
        // Slurm's.
        worsen(host.state, base::parse_host_state(*state).value_or(HostState::busy));
    }
    for (const auto& [field, state] :
         {std::pair{"drain", HostState::drained}, {"down", HostState::down}, {"lost", HostState::down}}) {
        if (!item.has(field)) continue;
        const auto told = item.boolean(field);
        if (!told) return told.error();
        if (*told) worsen(host.state, state);
    }
    if (item.has("reason")) {
        auto reason = item.text("reason");
        if (!reason) return std::move(reason).error();
        host.reason = *std::move(reason);
    }
    if (!item.has("findings")) return {};
    const auto findings = item.at("findings");
    const auto items = findings ? findings->items() : findings.error();
    if (!items) return items.error();
    for (const auto& entry : *items) {
        auto finding = read_host_finding(entry, *name);
        if (!finding) return std::move(finding).error();
        known.overlay.findings.push_back(*std::move(finding));
    }
    return {};
}

Expected<void> read_running_job(const Reader& item, const Known& known) {
    const auto id = item.integer("id");
    if (!id) return id.error();
    const auto nodes = item.at("nodes");
    const auto names = nodes ? nodes->items() : nodes.error();
    if (!names) return names.error();
    JobOverlay job{std::to_string(*id), {}};
    for (const auto& entry : *names) {
        const auto name = entry.text();
        if (!name) return name.error();
        if (const auto index = known.find(*name)) job.hosts.push_back(*index);
    }
    std::sort(job.hosts.begin(), job.hosts.end());
    job.hosts.erase(std::unique(job.hosts.begin(), job.hosts.end()), job.hosts.end());
    if (!job.hosts.empty()) known.overlay.jobs.push_back(std::move(job));
    return {};
}

Expected<void> read_array(const Reader& top, const char* field, const Known& known,
                          Expected<void> (*read)(const Reader&, const Known&)) {
    const auto array = top.at(field);
    if (!array)
        return top.error(fmt::format("no \"{}\": this is not what railctl status --json prints", field));
    const auto items = array->items();
    if (!items) return items.error();
    for (const auto& item : *items)
        if (auto done = read(item, known); !done) return done;
    return {};
}

Expected<void> read_status(std::string_view text, const Known& known) {
    const auto document = base::parse_json(text);
    if (!document) return document.error();
    const Reader top(*document);
    if (auto done = read_array(top, "hosts", known, read_host); !done) return done;
    return read_array(top, "jobs", known, read_running_job);
}

Expected<void> read_lines(std::string_view text, std::string_view name, const Known& known) {
    return base::each_state_line(text, name, [&](const base::StateLine& line) {
        for (const auto& host : line.hosts) {
            const auto index = known.find(host);
            if (!index) continue;
            auto& told = known.overlay.hosts[*index];
            worsen(told.state, line.state);
            if (line.health) told.health = std::min(told.health, *line.health);
        }
    });
}

void sort_unknown(Overlay& overlay) {
    auto& names = overlay.unknown;
    std::sort(names.begin(), names.end(), base::natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
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

Expected<void> add_states(Overlay& overlay, const Fabric& fabric, std::string_view text,
                          std::string_view name) {
    overlay.hosts.resize(fabric.hosts.size());
    const Known known{fabric, overlay};
    auto done = is_json(text) ? read_status(text, known) : read_lines(text, name, known);
    sort_unknown(overlay);
    if (!done && is_json(text)) return std::move(done).error().within(name);
    return done;
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
    if (is_json(text)) {
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
