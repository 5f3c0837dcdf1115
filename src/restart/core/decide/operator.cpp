// railctl drain and resume: an operator's request, checked against the owner of an existing drain.

#include "restart/core/act/act.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <utility>

namespace restart {
namespace {

// The host, or null after a refusal.
const HostState* known(StepContext& ctx, const std::string& name) {
    const auto found = ctx.state.hosts.find(name);
    if (ctx.policy.observe_only) {
        ctx.refuse(base::Code::unfit,
                   fmt::format("observe_only is set in railyard.conf: restartd changes nothing; use {}",
                               ctx.policy.words.tool));
    } else if (found == ctx.state.hosts.end() || !found->second.node) {
        ctx.refuse(base::Code::not_found,
                   fmt::format("host {} is not known to the resource manager", state_text(name, 64)));
    } else {
        return &found->second;
    }
    return nullptr;
}

// A request for this host that is still being carried out.
bool pending_wish(const StepContext& ctx, const std::string& host) {
    for (const auto& [number, incident] : ctx.state.incidents)
        if (incident.kind == IncidentKind::operator_request && incident.host == host) return true;
    return false;
}

void carry_out(StepContext& ctx, const std::string& host, std::string what,
               std::variant<DrainHost, ResumeHost> action) {
    auto& incident =
        open_incident(ctx, IncidentKind::operator_request, Phase::moving, host, std::move(what), ctx.now);
    ctx.note(NoteKind::decision, incident, {}, incident.what);
    if (std::holds_alternative<ResumeHost>(action)) exclude_before_resume(ctx, incident);
    std::visit([&](auto& asked) { start_action(ctx, incident, std::move(asked)); }, action);
}

} // namespace

void operator_drain(StepContext& ctx, const OperatorDrain& request) {
    const auto* host = known(ctx, request.host);
    if (host == nullptr) return;
    if (owned_by_us(*host) || owned_by_others(*host))
        return ctx.refuse(base::Code::unfit, fmt::format("{} is already {}: {}", request.host,
                                                         host->node->state, host->node->reason));
    if (pending_wish(ctx, request.host))
        return ctx.refuse(base::Code::unfit,
                          fmt::format("{} is being drained or resumed: try again in a moment", request.host));
    DrainHost drain{request.host,
                    state_text(tagged("user:" + state_text(request.user, 64), request.reason), 256)};
    carry_out(ctx, request.host,
              fmt::format("{} drains {}: {}", state_text(request.user, 64), request.host,
                          state_text(request.reason, 256)),
              std::move(drain));
}

void operator_resume(StepContext& ctx, const OperatorResume& request) {
    const auto* host = known(ctx, request.host);
    if (host == nullptr) return;
    if (owned_by_others(*host))
        return ctx.refuse(base::Code::denied,
                          fmt::format("{} was drained by {}, not by Railyard ({}): resume it with {}",
                                      request.host, other_owner(*host),
                                      host->node->reason.empty() ? host->node->state : host->node->reason,
                                      ctx.policy.words.tool));
    if (!owned_by_us(*host))
        return ctx.refuse(base::Code::unfit, fmt::format("{} is not drained", request.host));
    if (host->lost)
        return ctx.refuse(
            base::Code::unfit,
            fmt::format("{} is lost: its agent does not report; repair and boot it first", request.host));
    const auto* open = ctx.state.incident_of(request.host);
    if (open != nullptr && open->phase != Phase::verifying && open->phase != Phase::withheld)
        return ctx.refuse(base::Code::unfit, fmt::format("{} is at work on {} ({}): wait until it ends",
                                                         open->id(), request.host, to_string(open->phase)));
    if (pending_wish(ctx, request.host))
        return ctx.refuse(base::Code::unfit,
                          fmt::format("{} is being drained or resumed: try again in a moment", request.host));
    carry_out(ctx, request.host, fmt::format("{} resumes {}", state_text(request.user, 64), request.host),
              ResumeHost{request.host});
}

} // namespace restart
