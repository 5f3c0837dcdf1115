// The driver's state as metrics.
#include "restart/daemon/driver.hpp"

#include "base/units.hpp"
#include "restart/core/facts/bounds.hpp"
#include "restart/core/facts/names.hpp"
#include "restart/core/learn/learn.hpp"

namespace restart {
namespace {

// Each bound, 1 while it holds something back.
std::map<Metrics::Labels, double> crossed_bounds(const State& state) {
    std::map<Metrics::Labels, double> crossed;
    for (const auto key : bound_keys)
        crossed[{std::string(key)}] = 0;
    for (const auto& [key, crossing] : state.crossings)
        crossed[{key.substr(0, key.find(' '))}] = 1;
    return crossed;
}

// Hosts by the stage of their repair.
std::map<Metrics::Labels, double> repair_stages(const State& state) {
    std::map<Metrics::Labels, double> stages;
    for (const auto stage : codec::Names<RepairStage>::names)
        stages[{std::string(stage)}] = 0;
    for (const auto& [name, host] : state.hosts)
        if (host.repair) ++stages[{std::string(to_string(host.repair->stage))}];
    return stages;
}

// Jobs reported as slowed down, by the kind of cause.
std::map<Metrics::Labels, double> held_back(const State& state) {
    std::map<Metrics::Labels, double> jobs{{{"host"}, 0}, {{"gpu"}, 0}, {{"port"}, 0}, {{"rail"}, 0}};
    for (const auto& [id, job] : state.jobs) {
        if (!job.pace || !job.pace->held_back) continue;
        const auto& suspect = job.pace->suspect;
        ++jobs[{suspect.gpu >= 0        ? "gpu"
                : !suspect.port.empty() ? "port"
                : suspect.rail >= 0     ? "rail"
                                        : "host"}];
    }
    return jobs;
}

} // namespace

void Driver::update_gauges() {
    const std::lock_guard lock(mutex_);
    const auto now = base::now();
    std::map<Metrics::Labels, double> hosts;
    for (const char* state : {"up", "drained", "down", "unknown"})
        hosts[{state}] = 0;
    double silent = 0, served = 0;
    for (const auto& [name, host] : state_.hosts) {
        const char* state = !host.node         ? "unknown"
                            : host.node->down  ? "down"
                            : host.node->drain ? "drained"
                                               : "up";
        ++hosts[{state}];
        if (in_maintenance(state_, name, host)) ++served;
        if (host.last_report && now - *host.last_report > options_.policy.silent) ++silent;
    }
    metrics_.set_all(Metric::hosts, hosts);
    metrics_.set(Metric::agents_silent, {}, silent);
    metrics_.set(Metric::incidents_open, {}, static_cast<double>(state_.incidents.size()));
    metrics_.set(Metric::rm_up, {}, state_.rm_answers && state_.rm_read ? 1 : 0);
    const auto rate = failure_rate(state_, options_.policy);
    metrics_.set_all(Metric::host_mtbf, {{{"mean"}, base::to_seconds(rate.mtbf)},
                                         {{"low"}, base::to_seconds(rate.low)},
                                         {{"high"}, base::to_seconds(rate.high)}});
    metrics_.set_all(Metric::host_faults, {{{"host"}, static_cast<double>(rate.faults)},
                                           {{"shared"}, static_cast<double>(rate.shared)}});
    metrics_.set(Metric::host_hours, {}, rate.host_hours);
    metrics_.set(Metric::repair_time, {}, base::to_seconds(repair_time(state_, options_.policy, now).mean));
    metrics_.set(Metric::restart_time, {}, base::to_seconds(mean_of(state_.learned.restarts)));
    metrics_.set(Metric::detection_time, {}, base::to_seconds(mean_of(state_.learned.detections)));
    metrics_.set(Metric::spare_floor, {}, spares_ ? spares_->floor : 0);
    metrics_.set_all(Metric::bounds_crossed, crossed_bounds(state_));
    const bool all = pause_of(state_, now, {}) != nullptr;
    metrics_.set_all(Metric::paused,
                     {{{"all"}, all ? 1.0 : 0.0}, {{"some"}, !all && !state_.pauses.empty() ? 1.0 : 0.0}});
    metrics_.set(Metric::hosts_in_maintenance, {}, served);
    metrics_.set_all(Metric::hosts_in_repair, repair_stages(state_));
    std::map<Metrics::Labels, double> links;
    for (const auto& finding : state_.links)
        ++links[{finding.rule, std::string(to_string(finding.severity))}];
    metrics_.set_all(Metric::link_findings, links);
    metrics_.set_all(Metric::jobs_held_back, held_back(state_));
    if (const auto& read = state_.counters)
        metrics_.set_all(Metric::fabric_ports,
                         {{{"read"}, static_cast<double>(read->answered)},
                          {{"silent"}, static_cast<double>(read->ports - read->answered)}});
    if (state_.rm_config)
        metrics_.set_all(Metric::rm_plugins, {{{"job_submit"}, state_.rm_config->takes_flags ? 1.0 : 0.0},
                                              {{"placement"}, state_.rm_config->chooses_nodes ? 1.0 : 0.0}});
}

} // namespace restart
