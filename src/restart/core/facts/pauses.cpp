#include "restart/core/facts/pauses.hpp"

#include "restart/core/facts/state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

bool concerns(const std::vector<std::string>& hosts, std::string_view host) {
    return hosts.empty() || std::binary_search(hosts.begin(), hosts.end(), host);
}

const Maintenance* window_of(const State& state, std::string_view host) {
    for (const auto& open : state.maintenance)
        if (concerns(open.hosts, host)) return &open;
    return nullptr;
}

} // namespace

const Pause* pause_of(const State& state, base::Time now, std::string_view host) {
    for (const auto& pause : state.pauses)
        if (now < pause.until && concerns(pause.hosts, host)) return &pause;
    return nullptr;
}

std::string maintenance_of(const State& state, std::string_view name) {
    if (const auto* window = window_of(state, name))
        return fmt::format("in maintenance by restartd.maintenance, \"{}\"", window->window);
    const auto host = state.hosts.find(name);
    return host != state.hosts.end() && host->second.node && host->second.node->maintenance
               ? std::string("in maintenance by a reservation of the resource manager")
               : std::string();
}

bool in_maintenance(const State& state, std::string_view name, const HostState& host) {
    return (host.node && host.node->maintenance) || window_of(state, name) != nullptr;
}

} // namespace restart
