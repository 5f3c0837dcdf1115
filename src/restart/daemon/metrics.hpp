// restartd's numbers for Prometheus (text exposition format 0.0.4).
//
// Every metric is in one table in metrics.cpp with its type, help and label names; railyard-metrics(7) lists
// the same. May be used from several threads.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

enum class Metric {
    reports,
    reports_refused,
    requests_refused,
    incidents,
    actions,
    hosts,
    agents_silent,
    incidents_open,
    rm_up,
    rm_polls,
    rm_plugins,
    bounds_crossed,
    paused,
    hosts_in_maintenance,
    hosts_in_repair,
    link_findings,
    fabric_ports,
    jobs_held_back,
    journal_up,
    host_mtbf,
    host_faults,
    host_hours,
    repair_time,
    restart_time,
    detection_time,
    spare_floor,
    step_seconds,
    action_seconds
};

enum class MetricType { counter, gauge, histogram };

struct MetricRow {
    Metric metric;
    std::string_view name;
    MetricType type;
    std::string_view help;
    std::vector<std::string_view> labels;
};
std::span<const MetricRow> metric_rows();

class Metrics {
public:
    using Labels = std::vector<std::string>; // values, in the table's order

    Metrics();
    void add(Metric metric, const Labels& labels = {}, double amount = 1); // counters
    void set(Metric metric, const Labels& labels, double value);           // gauges
    // Replaces all of a gauge's values, so that labels that no longer occur are removed.
    void set_all(Metric metric, const std::map<Labels, double>& values);
    void observe(Metric metric, double seconds); // histograms

    // The page. Label values are escaped; numbers are exact.
    std::string print() const;

private:
    // Upper bounds in seconds of the buckets; one more without a bound.
    static constexpr std::array<double, 8> bounds{0.0001, 0.0005, 0.001, 0.005, 0.02, 0.1, 0.5, 5};
    struct Histogram {
        std::array<std::uint64_t, bounds.size() + 1> counts{};
        double sum = 0;
    };
    mutable std::mutex mutex_;
    std::map<Metric, std::map<Labels, double>> values_;
    std::map<Metric, Histogram> histograms_;
};

} // namespace restart
