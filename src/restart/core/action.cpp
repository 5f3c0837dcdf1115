#include "restart/core/action.hpp"

#include "base/hostlist.hpp"
#include "restart/core/rm_snapshot.hpp"

#include <fmt/format.h>

namespace restart {
namespace {
constexpr std::string_view tag = "railyard[";
} // namespace

std::string describe(const Action& action) {
    // Whether by an exclusion or by a drain.
    const auto without = [&] {
        return action.host.empty() ? std::string() : fmt::format(" without {}", action.host);
    };
    const auto job = name_of(action.job, action.job_name);
    switch (action.kind) {
    case ActionKind::drain_host: return fmt::format("drain {}: {}", action.host, action.reason);
    case ActionKind::down_host:
        return fmt::format("set {} down{}: {}", action.host, action.drain ? " and drain it" : "",
                           action.reason.empty() ? "its reason stands" : action.reason);
    case ActionKind::resume_host: return fmt::format("resume {}", action.host);
    case ActionKind::requeue_job:
        return fmt::format("requeue job {}{}{}", job, without(), action.hold ? ", held" : "");
    case ActionKind::keep_off:
        return action.readmit.empty()
                   ? fmt::format("keep job {} off {}", job, base::fold_hostlist(action.exclude))
                   : fmt::format("let job {} use {} again", job, base::fold_hostlist(action.readmit));
    case ActionKind::tell_job: return fmt::format("tell job {}: {}", job, action.reason);
    case ActionKind::update_job: break;
    }
    return fmt::format("let job {} begin now{}", job, without());
}

std::string tagged(std::string_view owner, std::string_view text) {
    return fmt::format("{}{}]: {}", tag, owner, text);
}

std::string_view owner_of(std::string_view reason) {
    if (!reason.starts_with(tag)) return {};
    const auto rest = reason.substr(tag.size());
    const auto end = rest.find(']');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

} // namespace restart
