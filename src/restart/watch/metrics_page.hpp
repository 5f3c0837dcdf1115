// nodewatchd's numbers for Prometheus (text exposition format 0.0.4). Pure.
//
// Where node_exporter's infiniband collector or dcgm-exporter's default counters have a metric, it has their
// name, labels and unit here, so that their dashboards show it; railyard_ is the rest. nodewatchd(8) lists
// all. Labels are of devices, GPUs, sources and rules of this host: none is of a job or a user, and the
// number of XIDs that are told apart is bounded (metrics_board.hpp).
#pragma once

#include "base/clock.hpp"
#include "restart/watch/watcher.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace restart {

// XIDs of one number on one GPU since the agent's start.
struct XidCount {
    std::uint64_t count = 0;
    base::Time last{}; // time of day
};

struct MetricsOf {
    std::string host;
    std::shared_ptr<const LastLook> look;
    base::Time looked{};                                          // time of day
    std::uint64_t looks = 0;                                      // since the start
    double look_seconds = 0;                                      // all of them together
    std::map<std::pair<std::string, std::string>, XidCount> xids; // by component ("gpu3") and number
    std::map<std::string, std::uint32_t> last_xid;                // the last number, by component
};

std::string metrics_page(const MetricsOf& of);

} // namespace restart
