#include "topo/tool/status_overlay.hpp"

#include "base/json.hpp"
#include "restart/wire/status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo::tool {
namespace {

using base::Expected;
using base::HostState;

Severity severity_of(restart::Severity severity) {
    switch (severity) {
    case restart::Severity::info: return Severity::info;
    case restart::Severity::warn: return Severity::warning;
    case restart::Severity::evict:
    case restart::Severity::fatal: break;
    }
    return Severity::error;
}

// restartd writes an HCA port as sysfs does, "mlx5_0:1"; a GPU is no port, and marks the host.
Finding finding_of(const restart::Finding& told, const std::string& host) {
    Finding finding{told.rule, severity_of(told.severity), {host}, told.evidence, {}};
    const auto& component = told.component;
    if (const auto colon = component.find(':'); colon != std::string::npos)
        finding.ends = {
            fmt::format("{} {}/{}", host, component.substr(0, colon), component.substr(colon + 1))};
    finding.text = fmt::format("{} {}: {}", host, component, told.evidence);
    return finding;
}

void add_host(Overlay& overlay, std::uint32_t index, const restart::HostStatus& told) {
    auto& host = overlay.hosts[index];
    // What restartd concluded from the words stands beside them; another resource manager's are not Slurm's.
    if (told.state) host.worsen(base::parse_host_state(*told.state).value_or(HostState::busy));
    if (told.drain) host.worsen(HostState::drained);
    if (told.down || told.lost) host.worsen(HostState::down);
    host.reason = told.reason;
    for (const auto& finding : told.findings)
        overlay.findings.push_back(finding_of(finding, told.name));
}

void add_job(Overlay& overlay, OverlayHosts& hosts, const restart::JobStatus& told) {
    JobOverlay job{std::to_string(told.id), {}};
    for (const auto& name : told.nodes)
        if (const auto index = hosts.find(name)) job.hosts.push_back(*index);
    std::sort(job.hosts.begin(), job.hosts.end());
    job.hosts.erase(std::unique(job.hosts.begin(), job.hosts.end()), job.hosts.end());
    if (!job.hosts.empty()) overlay.jobs.push_back(std::move(job));
}

// Of another document the sentence says more than the first missing field.
Expected<void> check_kind(std::string_view text) {
    const auto document = base::parse_json(text);
    if (!document) return document.error();
    const base::Reader top(*document);
    for (const char* field : {"hosts", "jobs"})
        if (!top.has(field))
            return top.error(fmt::format("no \"{}\": this is not what railctl status --json prints", field));
    return {};
}

Expected<void> add(Overlay& overlay, const Fabric& fabric, std::string_view text) {
    if (auto kind = check_kind(text); !kind) return kind;
    const auto status = restart::Status::from_json(text);
    if (!status) return status.error();
    OverlayHosts hosts(overlay, fabric);
    for (const auto& told : status->hosts)
        if (const auto index = hosts.find(told.name)) add_host(overlay, *index, told);
    for (const auto& told : status->jobs)
        add_job(overlay, hosts, told);
    return {};
}

} // namespace

Expected<void> add_status(Overlay& overlay, const Fabric& fabric, std::string_view text,
                          std::string_view name) {
    auto done = add(overlay, fabric, text);
    if (!done) return std::move(done).error().within(name);
    return done;
}

} // namespace topo::tool
