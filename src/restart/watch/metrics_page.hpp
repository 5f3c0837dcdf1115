// nodewatchd's numbers for Prometheus (text exposition format 0.0.4). Pure.
//
// A metric that also exists in node_exporter's infiniband collector or in dcgm-exporter's default counters
// has the same name, labels and unit here, so that their dashboards show it; railyard_ is the prefix of the
// rest. nodewatchd(8) lists all. Labels name devices, GPUs, sources and rules of this host, never a job or a
// user, and the number of separately counted XIDs is bounded (metrics_board.hpp).
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
    double look_seconds = 0;                                      // the sum of all looks
    std::map<std::pair<std::string, std::string>, XidCount> xids; // by component ("gpu3") and number
    std::map<std::string, std::uint32_t> last_xid;                // the most recent number, by component
};

std::string metrics_page(const MetricsOf& of);

} // namespace restart
