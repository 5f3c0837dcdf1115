#include "topo/tool/status_overlay.hpp"

#include "base/json.hpp"
#include "restart/wire/status.hpp"
#include "topo/read/slurm_states.hpp"

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

// restartd names an HCA port like sysfs, "mlx5_0:1"; a GPU is not a port, and marks the host.
Finding finding_of(const restart::Finding& reported, const std::string& host) {
    Finding finding{reported.rule, severity_of(reported.severity), {host}, reported.evidence, {}};
    const auto& component = reported.component;
    if (const auto colon = component.find(':'); colon != std::string::npos)
        finding.ends = {
            fmt::format("{} {}/{}", host, component.substr(0, colon), component.substr(colon + 1))};
    finding.text = fmt::format("{} {}: {}", host, component, reported.evidence);
    return finding;
}

void add_host(Overlay& overlay, std::uint32_t index, const restart::HostStatus& reported) {
    auto& host = overlay.hosts[index];
    if (reported.use)
        host.worsen(*reported.use);
    else if (reported.state) // from an older restartd, which only supported Slurm
        host.worsen(parse_slurm_state(*reported.state).value_or(HostState::busy));
    if (reported.drain) host.worsen(HostState::drained);
    if (reported.down || reported.lost) host.worsen(HostState::down);
    host.reason = reported.reason;
    for (const auto& finding : reported.findings)
        overlay.findings.push_back(finding_of(finding, reported.name));
}

void add_job(Overlay& overlay, OverlayHosts& hosts, const restart::JobStatus& reported) {
    JobOverlay job{to_string(reported.id), {}};
    for (const auto& name : reported.nodes)
        if (const auto index = hosts.find(name)) job.hosts.push_back(*index);
    std::sort(job.hosts.begin(), job.hosts.end());
    job.hosts.erase(std::unique(job.hosts.begin(), job.hosts.end()), job.hosts.end());
    if (!job.hosts.empty()) overlay.jobs.push_back(std::move(job));
}

// For another document this is more helpful than the first missing field.
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
    for (const auto& reported : status->hosts)
        if (const auto index = hosts.find(reported.name)) add_host(overlay, *index, reported);
    for (const auto& reported : status->jobs)
        add_job(overlay, hosts, reported);
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
