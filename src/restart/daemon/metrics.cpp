#include "restart/daemon/metrics.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace restart {
namespace {

const std::vector<MetricRow>& table() {
    using enum Metric;
    using enum MetricType;
    static const std::vector<MetricRow> rows{
        {reports, "railyard_reports_total", counter, "Reports of agents that were taken.", {"agent"}},
        {reports_refused,
         "railyard_reports_refused_total",
         counter,
         "Reports of agents that were refused.",
         {"reason"}},
        {requests_refused,
         "railyard_requests_refused_total",
         counter,
         "Requests of any kind that were refused.",
         {"reason"}},
        {incidents, "railyard_incidents_total", counter, "Incidents opened.", {"kind"}},
        {actions,
         "railyard_actions_total",
         counter,
         "Actions on the resource manager.",
         {"action", "outcome"}},
        {hosts, "railyard_hosts", gauge, "Hosts by state in the resource manager.", {"state"}},
        {agents_silent,
         "railyard_agents_silent",
         gauge,
         "Hosts whose agent has reported before and is silent now.",
         {}},
        {incidents_open, "railyard_incidents_open", gauge, "Incidents that are not over.", {}},
        {rm_up, "railyard_rm_up", gauge, "1 while the resource manager answers.", {}},
        {rm_polls, "railyard_rm_polls_total", counter, "Readings of the resource manager.", {"outcome"}},
        {rm_plugins,
         "railyard_rm_plugin",
         gauge,
         "1 when the resource manager is configured with this part of Railyard, 0 when it is not.",
         {"part"}},
        {bounds_crossed,
         "railyard_bound_crossed",
         gauge,
         "1 while this bound keeps hosts from being drained or taken for lost, and ten minutes longer.",
         {"bound"}},
        {paused,
         "railyard_paused",
         gauge,
         "1 while a person has paused restartd, for all hosts or for some.",
         {"hosts"}},
        {hosts_in_maintenance,
         "railyard_hosts_in_maintenance",
         gauge,
         "Hosts in maintenance, left alone.",
         {}},
        {hosts_in_repair,
         "railyard_hosts_in_repair",
         gauge,
         "Hosts on their way back from a fault, by stage; hands: a person is to see to them.",
         {"stage"}},
        {link_findings,
         "railyard_link_findings",
         gauge,
         "Findings of fabricwatchd that hold on links of the fabric.",
         {"rule", "severity"}},
        {fabric_ports,
         "railyard_fabric_ports",
         gauge,
         "Ports of the fabric whose counters were read last, and whose were not.",
         {"counters"}},
        {jobs_held_back,
         "railyard_jobs_held_back",
         gauge,
         "Running jobs by what holds them back, as far as that is sure: a host, a gpu, a port, a rail.",
         {"by"}},
        {journal_up,
         "railyard_journal_up",
         gauge,
         "1 while the journal can be written; no action is performed otherwise.",
         {}},
        {host_mtbf,
         "railyard_host_mtbf_seconds",
         gauge,
         "Time in which one host fails once: the mean, and what it is above and below with 90 % each.",
         {"bound"}},
        {host_faults,
         "railyard_host_faults",
         gauge,
         "Faults of the last year: of single hosts, and of what hosts share.",
         {"of"}},
        {host_hours, "railyard_host_hours", gauge, "Host-hours in use in which these came.", {}},
        {repair_time, "railyard_repair_seconds", gauge, "Mean time that the repair of a host takes.", {}},
        {restart_time,
         "railyard_restart_seconds",
         gauge,
         "Mean time from the stop of a job, or the decision, until it ran again; 0: none was seen.",
         {}},
        {detection_time,
         "railyard_detection_seconds",
         gauge,
         "Mean time from a fault until the decision; 0: none was seen.",
         {}},
        {spare_floor, "railyard_spare_hosts", gauge, "Hosts kept free for restarts.", {}},
        {step_seconds, "railyard_step_seconds", histogram, "Time to decide on one event.", {}},
        {action_seconds, "railyard_action_seconds", histogram, "Time to perform one action.", {}},
    };
    return rows;
}

std::string_view word(MetricType type) {
    switch (type) {
    case MetricType::counter: return "counter";
    case MetricType::gauge: return "gauge";
    case MetricType::histogram: break;
    }
    return "histogram";
}

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out;
}

} // namespace

std::span<const MetricRow> metric_rows() {
    return table();
}

Metrics::Metrics() {
    for (const auto& row : table()) {
        if (row.type == MetricType::histogram) {
            histograms_[row.metric];
        } else if (row.labels.empty()) {
            values_[row.metric][{}] = 0;
        }
    }
}

void Metrics::add(Metric metric, const Labels& labels, double amount) {
    const std::lock_guard lock(mutex_);
    values_[metric][labels] += amount;
}

void Metrics::set(Metric metric, const Labels& labels, double value) {
    const std::lock_guard lock(mutex_);
    values_[metric][labels] = value;
}

void Metrics::set_all(Metric metric, const std::map<Labels, double>& values) {
    const std::lock_guard lock(mutex_);
    values_[metric] = values;
}

void Metrics::observe(Metric metric, double seconds) {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && seconds > bounds[bucket])
        ++bucket;
    const std::lock_guard lock(mutex_);
    auto& histogram = histograms_[metric];
    ++histogram.counts[bucket];
    histogram.sum += seconds;
}

std::string Metrics::print() const {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& row : table()) {
        out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", row.name, row.help, row.name, word(row.type));
        if (row.type == MetricType::histogram) {
            const auto& histogram = histograms_.at(row.metric);
            std::uint64_t total = 0;
            for (std::size_t i = 0; i < bounds.size(); ++i) {
                total += histogram.counts[i];
                out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", row.name, bounds[i], total);
            }
            total += histogram.counts.back();
            out += fmt::format("{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", row.name, total,
                               row.name, histogram.sum, row.name, total);
            continue;
        }
        const auto found = values_.find(row.metric);
        if (found == values_.end()) continue;
        for (const auto& [labels, value] : found->second) {
            std::string text;
            for (std::size_t i = 0; i < row.labels.size() && i < labels.size(); ++i)
                text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", row.labels[i], escape(labels[i]));
            out += fmt::format("{}{} {}\n", row.name, text.empty() ? "" : "{" + text + "}", value);
        }
    }
    return out;
}

} // namespace restart
