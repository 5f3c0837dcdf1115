// What happens to hosts in traces, as tables: the noise of sound ones and the faults that are planted.
#pragma once

#include "traces/host_trace.hpp"

namespace trace {

// What an episode does: `begin` once, `show` to each sample while it lasts, `tick` each second or minute of
// it. Its XID comes as often as `times` says, `every` so often.
struct HostTrace::Kind {
    std::string_view name;  // of a planted one the rule
    std::string_view row{}; // of the rules' table that is to find it; empty: its name is the rule's
    double a_month = 0;     // of noise: how often on a host
    base::Duration shortest{}, longest{};
    std::uint64_t least = 0, most = 0; // amount
    bool maintenance = false;
    restart::Severity severity = restart::Severity::warn; // of a planted one's finding; fatal counts as evict
    Part of = Part::port;
    bool boots_first = false;
    bool in_minutes = false; // looks each second would show nothing more
    std::uint32_t xid = 0;   // 0: none
    std::string_view says{}; // behind it
    std::uint32_t times = 1;
    base::Duration every = std::chrono::minutes(20);
    void (*begin)(HostTrace&, const Episode&) = nullptr;
    void (*show)(restart::Sample&, const Episode&) = nullptr;
    void (*tick)(HostTrace&, const Episode&, base::Duration passed) = nullptr;
};

// Null: the port is not there now.
restart::PortSample* port_of(restart::Sample& sample, std::uint32_t device);
void take_down(restart::Sample& sample, std::uint32_t device);
// Adds clock event reasons.
void slow_down(restart::Sample& sample, std::uint32_t gpu, std::uint64_t reasons);
// Whether a tick of `passed` ends the first of the whole periods that an episode has lasted.
bool each(base::Duration period, base::Duration lasted, base::Duration passed);
// Each second minute since `begin`, so that no window of a minute holds it; and of two samples an hour apart
// one.
bool comes_and_goes(const restart::Sample& sample, base::Time begin);

} // namespace trace
