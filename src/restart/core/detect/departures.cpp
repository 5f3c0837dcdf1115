// Agents that report an orderly shutdown or reboot of their hosts, and those that come back
// (decide/returns.cpp).

#include "restart/core/detect/detect.hpp"

#include <algorithm>

namespace restart {
namespace {

bool is_idle(const State& state, const std::string& name) {
    return std::none_of(state.jobs.begin(), state.jobs.end(),
                        [&](const auto& entry) { return has_name(entry.second.rm.nodes, name); });
}

} // namespace

void take_departure(StepContext& ctx, HostState& host, const Report& report) {
    auto& departure = host.departure;
    if (report.leaving) {
        if (departure && departure->boot_id == report.boot_id) return;
        departure = Departure{ctx.now, report.boot_id, is_idle(ctx.state, report.host), 0, {}};
        ctx.note_host(NoteKind::signal, report.host,
                      departure->idle ? "is shut down in order, idle"
                                      : "is shut down in order, with jobs on it");
        ctx.changed();
    } else if (departure && departure->boot_id == report.boot_id) {
        departure.reset(); // it was cancelled
        ctx.changed();
    } else if (departure && !departure->back) {
        departure->back = ctx.now;
        ctx.changed();
    }
}

} // namespace restart
