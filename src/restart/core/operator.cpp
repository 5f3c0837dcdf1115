// railctl drain and resume: a person's wish, checked against whose drain it is.

#include "restart/core/turn.hpp"

#include <fmt/format.h>

#include <utility>

namespace restart {
namespace {

// The host, or null after a refusal.
const HostState* known(Turn& turn, const std::string& name) {
    const auto found = turn.state.hosts.find(name);
    if (turn.policy.observe_only) {
        turn.refuse(base::Code::unfit,
                    "observe_only is set in railyard.conf: restartd changes nothing; use scontrol");
    } else if (found == turn.state.hosts.end() || !found->second.node) {
        turn.refuse(base::Code::not_found,
                    fmt::format("host {} is not known to the resource manager", printable(name, 64)));
    } else {
        return &found->second;
    }
    return nullptr;
}

// A wish for this host that is still being carried out.
bool pending_wish(const Turn& turn, const std::string& host) {
    for (const auto& [number, incident] : turn.state.incidents)
        if (incident.kind == IncidentKind::operator_wish && incident.host == host) return true;
    return false;
}

void carry_out(Turn& turn, const std::string& host, std::string what, Action action) {
    auto& incident =
        open_incident(turn, IncidentKind::operator_wish, Phase::moving, host, std::move(what), turn.now);
    turn.note(NoteKind::decision, incident, 0, incident.what);
    if (action.kind == ActionKind::resume_host) exclude_before_resume(turn, incident);
    action.host = host;
    give(turn, incident, std::move(action));
}

} // namespace

void operator_drain(Turn& turn, const OperatorDrain& wish) {
    const auto* host = known(turn, wish.host);
    if (host == nullptr) return;
    if (ours(*host) || anothers(*host))
        return turn.refuse(base::Code::unfit, fmt::format("{} is already {}: {}", wish.host,
                                                          host->node->state, host->node->reason));
    if (pending_wish(turn, wish.host))
        return turn.refuse(base::Code::unfit,
                           fmt::format("{} is being drained or resumed: try again in a moment", wish.host));
    Action action;
    action.kind = ActionKind::drain_host;
    action.reason = printable(tagged("user:" + printable(wish.user, 64), wish.reason), 256);
    carry_out(
        turn, wish.host,
        fmt::format("{} drains {}: {}", printable(wish.user, 64), wish.host, printable(wish.reason, 256)),
        std::move(action));
}

void operator_resume(Turn& turn, const OperatorResume& wish) {
    const auto* host = known(turn, wish.host);
    if (host == nullptr) return;
    if (anothers(*host))
        return turn.refuse(base::Code::denied,
                           fmt::format("{} was not drained by Railyard ({}): resume it with scontrol",
                                       wish.host,
                                       host->node->reason.empty() ? host->node->state : host->node->reason));
    if (!ours(*host)) return turn.refuse(base::Code::unfit, fmt::format("{} is not drained", wish.host));
    if (host->lost)
        return turn.refuse(
            base::Code::unfit,
            fmt::format("{} is lost: its agent does not report; repair and boot it first", wish.host));
    const auto* open = turn.state.incident_of(wish.host);
    if (open != nullptr && open->phase != Phase::verifying)
        return turn.refuse(base::Code::unfit, fmt::format("{} is at work on {} ({}): wait until it ends",
                                                          open->id(), wish.host, to_string(open->phase)));
    if (pending_wish(turn, wish.host))
        return turn.refuse(base::Code::unfit,
                           fmt::format("{} is being drained or resumed: try again in a moment", wish.host));
    Action action;
    action.kind = ActionKind::resume_host;
    carry_out(turn, wish.host, fmt::format("{} resumes {}", printable(wish.user, 64), wish.host),
              std::move(action));
}

} // namespace restart
