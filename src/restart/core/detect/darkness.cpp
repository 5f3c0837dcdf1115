#include "restart/core/detect/darkness.hpp"

#include "restart/core/detect/silence.hpp"

namespace restart {
namespace {

// Heartbeats come a little late on busy hosts, and links come back.
base::Duration margin(const StepContext& ctx) {
    return ctx.policy.report_interval / 4;
}

// It went dark and has not reported since: a heartbeat after that is proof of life, and whatever holds its
// links down then is another fault.
// What a sweep read is seconds old: only a leaf's own report of the change is recent enough.
bool dark_since_then(const StepContext& ctx, const HostState& host) {
    return host.dark_since && host.links_told && *host.links_told >= *host.dark_since && host.last_report &&
           *host.dark_since >= heard_from(host) - margin(ctx);
}

bool goes_dark(const StepContext& ctx, const HostState& host) {
    return dark_since_then(ctx, host) && !host.lost && ctx.now - *host.dark_since <= ctx.policy.together() &&
           !(host.node && (host.node->away || host.node->drain || host.node->down));
}

// Whether a missed heartbeat is significant: not while those of others are late as well. One in a hundred may
// be late, because hosts are sometimes busy.
bool come_on_time(const StepContext& ctx) {
    std::size_t heard = 0, late = 0;
    for (const auto& [name, host] : ctx.state.hosts) {
        if (!host.last_report || host.lost || dark_since_then(ctx, host)) continue;
        const auto quiet = silence_of(ctx, host);
        if (quiet >= ctx.policy.together()) continue; // an agent that is away, not late
        ++heard;
        if (quiet >= ctx.policy.report_interval + margin(ctx)) ++late;
    }
    return 100 * late <= heard;
}

} // namespace

Darkness::Darkness(const StepContext& ctx) : ctx_(ctx) {
    const auto& hosts = ctx.state.hosts;
    wait_ = static_cast<std::size_t>(std::count_if(
                hosts.begin(), hosts.end(),
                [&](const auto& entry) { return goes_dark(ctx, entry.second); })) >= least_group ||
            !come_on_time(ctx);
}

base::Duration Darkness::patience_with(const HostState& host) const {
    const auto silent = ctx_.policy.silent;
    if (wait_ || !dark_since_then(ctx_, host) || ctx_.now - *host.dark_since < margin(ctx_)) return silent;
    return std::min(silent, ctx_.policy.report_interval + margin(ctx_));
}

} // namespace restart
