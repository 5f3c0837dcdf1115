// What happens to hosts in traces, as a table.
#pragma once

#include "traces/host_trace.hpp"

namespace trace {

// What an episode does: `begin` once, `show` to each sample while it lasts, `tick` each second or minute of
// it.
struct HostTrace::Kind {
    std::string_view name; // of a planted one the rule
    double a_month = 0;    // of noise: how often on a host
    base::Duration shortest{}, longest{};
    std::uint64_t least = 0, most = 0; // amount
    bool maintenance = false, grave = false, on_gpu = false, boots_first = false;
    bool in_minutes = false; // looks each second would show nothing more
    void (*begin)(HostTrace&, const Episode&) = nullptr;
    void (*show)(restart::Sample&, const Episode&) = nullptr;
    void (*tick)(HostTrace&, const Episode&, base::Duration passed) = nullptr;
};

} // namespace trace
