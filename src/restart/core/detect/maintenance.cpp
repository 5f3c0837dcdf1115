// Hosts in maintenance, by a window of the configuration or by the resource manager: someone is working on
// them. Nothing that their agents or their silence report is a fault until it ends.

#include "base/hostlist.hpp"
#include "restart/core/detect/detect.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

void note(StepContext& ctx, const std::vector<std::string>& hosts, std::string_view what) {
    ctx.note_host(
        NoteKind::signal, {},
        state_text(fmt::format("{}: {}", hosts.empty() ? "all hosts" : base::fold_hostlist(hosts), what)));
}

bool holds(const std::vector<Maintenance>& list, const Maintenance& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
}

} // namespace

void take_windows(StepContext& ctx, std::vector<Maintenance> open) {
    for (auto& window : open)
        std::sort(window.hosts.begin(), window.hosts.end());
    auto& known = ctx.state.maintenance;
    for (const auto& window : known)
        if (!holds(open, window))
            note(ctx, window.hosts,
                 fmt::format("maintenance is over (restartd.maintenance, \"{}\")", window.window));
    for (const auto& window : open)
        if (!holds(known, window))
            note(ctx, window.hosts,
                 fmt::format("maintenance begins (restartd.maintenance, \"{}\")", window.window));
    known = std::move(open);
    ctx.changed();
}

void note_maintenance(StepContext& ctx, const std::vector<std::string>& begun,
                      const std::vector<std::string>& ended) {
    if (!begun.empty()) note(ctx, begun, "a maintenance reservation of the resource manager begins");
    if (!ended.empty()) note(ctx, ended, "the maintenance reservation of the resource manager is over");
}

} // namespace restart
