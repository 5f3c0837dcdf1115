#include "traces/host_kinds.hpp"

#include <fmt/format.h>

namespace trace {

restart::PortSample* port_of(restart::Sample& sample, std::uint32_t device) {
    for (auto& port : sample.ib->ports)
        if (port.device == fmt::format("mlx5_{}", device)) return &port;
    return nullptr;
}

void take_down(restart::Sample& sample, std::uint32_t device) {
    if (auto* port = port_of(sample, device)) {
        port->state = "DOWN";
        port->phys_state = "Polling";
    }
}

void slow_down(restart::Sample& sample, std::uint32_t gpu, std::uint64_t reasons) {
    auto& shown = sample.gpus->at(gpu).reasons;
    shown = shown.value_or(0) | reasons;
}

bool each(base::Duration period, base::Duration lasted, base::Duration passed) {
    return lasted / period != (lasted - passed) / period;
}

bool comes_and_goes(const restart::Sample& sample, base::Time begin) {
    return (sample.now - begin) / std::chrono::minutes(1) % 61 % 2 == 1;
}

const std::vector<const HostTrace::Kind*>& HostTrace::planted() {
    static const auto all = [] {
        std::vector<const Kind*> kinds;
        for (const auto part : {port_faults(), gpu_faults(), host_faults(), xid_faults()})
            for (const auto& kind : part)
                kinds.push_back(&kind);
        return kinds;
    }();
    return all;
}

} // namespace trace
