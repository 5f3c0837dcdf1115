// railctl pause and go: an operator stops restartd from acting on its own for a time.

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/core/decide/decide.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

constexpr base::Duration least_pause{60'000}, most_pause{30LL * 86'400'000};
constexpr std::size_t most_pauses = 64;

std::string extent(const std::vector<std::string>& hosts) {
    return hosts.empty() ? "restartd"
                         : state_text("what restartd would do about " + base::fold_hostlist(hosts));
}

// The first unknown name; empty: all are known.
std::string unknown_of(const State& state, const std::vector<std::string>& hosts) {
    const auto found = std::find_if(hosts.begin(), hosts.end(),
                                    [&](const std::string& name) { return !state.knows_host(name); });
    return found == hosts.end() ? std::string() : state_text(*found, 64);
}

// Removes these hosts from the pauses that name hosts; pauses with no host left end.
void take_out(State& state, const std::vector<std::string>& hosts) {
    std::erase_if(state.pauses, [&](Pause& pause) {
        if (pause.hosts.empty()) return false;
        std::erase_if(pause.hosts, [&](const std::string& name) { return has_name(hosts, name); });
        return pause.hosts.empty();
    });
}

} // namespace

void operator_pause(StepContext& ctx, const OperatorPause& request) {
    if (request.lasts < least_pause || request.lasts > most_pause)
        return ctx.refuse(base::Code::input,
                          fmt::format("a pause lasts from {} to {}, not {}",
                                      base::human_duration(least_pause), base::human_duration(most_pause),
                                      base::human_duration(request.lasts)));
    if (const auto name = unknown_of(ctx.state, request.hosts); !name.empty())
        return ctx.refuse(base::Code::not_found, fmt::format("host {} is not known", name));
    Pause pause{state_text(request.user, 64), state_text(request.reason, 256), ctx.now,
                ctx.now + request.lasts, request.hosts};
    std::sort(pause.hosts.begin(), pause.hosts.end());
    pause.hosts.erase(std::unique(pause.hosts.begin(), pause.hosts.end()), pause.hosts.end());
    auto& pauses = ctx.state.pauses;
    if (pause.hosts.empty())
        std::erase_if(pauses, [](const Pause& other) { return other.hosts.empty(); });
    else
        take_out(ctx.state, pause.hosts);
    if (pauses.size() >= most_pauses)
        return ctx.refuse(base::Code::unfit, fmt::format("there are {} pauses already: end some, or pause "
                                                         "more hosts with one",
                                                         pauses.size()));
    ctx.note_host(NoteKind::decision, {},
                  fmt::format("{} pauses {} for {}: {}", pause.user, extent(pause.hosts),
                              base::human_duration(request.lasts), pause.reason));
    pauses.push_back(std::move(pause));
    ctx.changed();
}

void operator_go(StepContext& ctx, const OperatorGo& request) {
    auto& pauses = ctx.state.pauses;
    const auto user = state_text(request.user, 64);
    const auto concerned = [&](const Pause& pause) {
        return request.hosts.empty() ||
               std::any_of(pause.hosts.begin(), pause.hosts.end(),
                           [&](const std::string& name) { return has_name(request.hosts, name); });
    };
    if (!request.hosts.empty())
        for (const auto& pause : pauses)
            if (pause.hosts.empty())
                return ctx.refuse(base::Code::unfit, fmt::format("{} has paused restartd for all hosts: go "
                                                                 "without --hosts ends that",
                                                                 pause.user));
    if (std::none_of(pauses.begin(), pauses.end(), concerned))
        return ctx.refuse(base::Code::unfit,
                          request.hosts.empty() ? "restartd is not paused" : "none of these hosts is paused");
    for (const auto& pause : pauses)
        if (concerned(pause))
            ctx.note_host(NoteKind::decision, {},
                          fmt::format("{} ends the pause of {}{}: {}", user, pause.user,
                                      request.hosts.empty() ? "" : " for some hosts", pause.reason));
    if (request.hosts.empty())
        pauses.clear();
    else
        take_out(ctx.state, request.hosts);
    ctx.changed();
}

void end_pauses(StepContext& ctx) {
    std::erase_if(ctx.state.pauses, [&](const Pause& pause) {
        if (ctx.now < pause.until) return false;
        ctx.note_host(
            NoteKind::decision, {},
            fmt::format("the pause of {} is over, its time has passed: {}", pause.user, pause.reason));
        ctx.changed();
        return true;
    });
}

} // namespace restart
