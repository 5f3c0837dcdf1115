#include "restart/ckpt/schedule.hpp"

#include "base/clock.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::ckpt {
namespace {

std::string human(Seconds s) {
    return base::human_duration(base::duration_from_seconds(s.count()));
}

std::string_view origin(Source source) {
    switch (source) {
    case Source::agent: return "interval from nodewatchd";
    case Source::user: return "interval set by the user";
    case Source::young: return "interval by Young's formula from the last checkpoint's cost";
    case Source::first: break;
    }
    return "until a first checkpoint has shown its cost";
}

} // namespace

Interval choose_interval(const std::optional<AgentState>& agent, std::optional<Seconds> user,
                         std::optional<Seconds> cost, Seconds mtbf) {
    if (agent && agent->interval_s) return {Seconds{*agent->interval_s}, Source::agent};
    if (user) return {*user, Source::user};
    if (cost)
        if (const auto young = checkpoint_interval(*cost, mtbf, {}, Formula::young))
            return {*young, Source::young};
    return {first_interval, Source::first};
}

std::string request_of(const std::optional<AgentState>& agent) {
    if (!agent || !agent->save_by_s) return {};
    return agent->incident.empty() ? fmt::format("{:.3f}", *agent->save_by_s) : agent->incident;
}

Verdict decide(const std::optional<AgentState>& agent, const Interval& interval, const History& history) {
    Verdict verdict;
    verdict.interval = interval;
    verdict.left = std::max(Seconds{0}, interval.length - history.since_last);
    if (agent) verdict.agent = *agent;
    const auto request = request_of(agent);
    if (!request.empty() && request != history.served)
        verdict.reason = Reason::save_request;
    else if (verdict.left.count() <= 0)
        verdict.reason = Reason::interval;
    if (verdict.due() && history.since_failed && *history.since_failed < retry_pause) {
        verdict.reason = Reason::failed;
        verdict.left = retry_pause - *history.since_failed;
    }
    return verdict;
}

std::string to_sentence(const Verdict& verdict) {
    const auto of = human(verdict.interval.length);
    switch (verdict.reason) {
    case Reason::save_request: {
        const auto by = base::clock_time(base::time_from_seconds(verdict.agent.save_by_s.value_or(0)));
        return fmt::format("due: Railyard asks to save by {}{}", by,
                           verdict.agent.incident.empty() ? "" : " (" + verdict.agent.incident + ")");
    }
    case Reason::interval:
        return fmt::format("due: {} have passed ({})", of, origin(verdict.interval.source));
    case Reason::failed:
        return fmt::format("not yet: {} until another attempt, as the last one failed", human(verdict.left));
    case Reason::not_yet: break;
    }
    return fmt::format("not yet: {} of {} left ({})", human(verdict.left), of,
                       origin(verdict.interval.source));
}

std::string_view to_string(Source source) {
    switch (source) {
    case Source::agent: return "agent";
    case Source::user: return "user";
    case Source::young: return "young";
    case Source::first: break;
    }
    return "first";
}

std::string_view to_string(Reason reason) {
    switch (reason) {
    case Reason::save_request: return "save_request";
    case Reason::interval: return "interval";
    case Reason::failed: return "failed";
    case Reason::not_yet: break;
    }
    return "not_yet";
}

} // namespace restart::ckpt
