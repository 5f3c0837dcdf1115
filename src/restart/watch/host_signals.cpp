#include "restart/watch/host_signals.hpp"

#include <cstring>
#include <string>

namespace restart {

void read_host(const HostSample& host, std::vector<Signal>& into) {
    const auto add = [&](std::string_view name, const std::string& component, const auto& value,
                         const std::string& text = {}) {
        if (value) into.push_back({name, component, static_cast<double>(*value), 0, text});
    };
    const std::string whole = "host";
    add("host.clock_source", whole, host.clock_source, host.clock_source_name);
    add("host.clock_step", whole, host.clock_step_ms);
    add("host.fabric_manager", whole, host.fabric_manager);
    add("host.peer_memory", whole, host.peer_memory);
    add("host.driver_blocked", whole, host.blocked_s, host.blocked_name);
    for (const auto& controller : host.memory) {
        add("host.memory_corrected", controller.name, controller.corrected);
        add("host.memory_uncorrected", controller.name, controller.uncorrected);
    }
    add("host.carrier_changes", host.net_device, host.carrier_changes);
}

void read_mount(const MountSample& mount, std::vector<Signal>& into) {
    into.push_back({"mount.silent", mount.path, mount.silent_s, 0, {}});
    const auto* why = mount.failed == 0 ? "" : std::strerror(mount.failed);
    into.push_back({"mount.failed", mount.path, static_cast<double>(mount.failed), 0, why});
    // Without a first answer nothing is known; after a failure the file system is not evaluated.
    if (!mount.answered || mount.failed != 0) return;
    if (mount.read_only) into.push_back({"mount.read_only", mount.path, *mount.read_only ? 1.0 : 0.0, 0, {}});
    if (mount.free_percent) into.push_back({"mount.free", mount.path, *mount.free_percent, 0, {}});
}

} // namespace restart
