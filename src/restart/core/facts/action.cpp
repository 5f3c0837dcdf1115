#include "restart/core/facts/action.hpp"

#include "base/hostlist.hpp"
#include "restart/core/facts/rm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart {
namespace {

constexpr std::string_view tag = "railyard[";

// For a job action: by excluding hosts or by draining one.
std::string without(const JobTarget& job) {
    return job.host.empty() ? std::string() : fmt::format(" without {}", job.host);
}

std::string words(const DrainHost& action) {
    if (action.renew) return fmt::format("leave {} drained: {}", action.host, action.reason);
    return fmt::format("drain {}: {}", action.host, action.reason);
}
std::string words(const DownHost& action) {
    return fmt::format("set {} down{}: {}", action.host, action.drain ? " and drain it" : "",
                       action.reason.empty() ? "its reason stands" : action.reason);
}
std::string words(const ResumeHost& action) {
    return fmt::format("resume {}", action.host);
}
std::string words(const RequeueJob& action) {
    return fmt::format("requeue job {}{}{}", name_of(action.job.id, action.job.name), without(action.job),
                       action.hold ? ", held" : "");
}
std::string words(const SubmitAgain& action) {
    return fmt::format("submit job {} again{}{}", name_of(action.job.id, action.job.name),
                       without(action.job), action.hold ? ", held" : "");
}
std::string words(const UpdateJob& action) {
    return fmt::format("{} job {} begin now{}", action.release ? "release and let" : "let",
                       name_of(action.job.id, action.job.name), without(action.job));
}
std::string words(const KeepOff& action) {
    const auto job = name_of(action.job.id, action.job.name);
    return action.readmit.empty()
               ? fmt::format("keep job {} off {}", job, base::fold_hostlist(action.exclude))
               : fmt::format("let job {} use {} again", job, base::fold_hostlist(action.readmit));
}
std::string words(const NotifyJob& action) {
    return fmt::format("tell job {}: {}", name_of(action.job.id, action.job.name), action.text);
}
std::string words(const PlaceJob& action) {
    return fmt::format("place job {} on {}", name_of(action.job.id, action.job.name),
                       base::fold_hostlist(action.hosts));
}
std::string words(const ParkJob& action) {
    return fmt::format("move job {} back to queue {}", name_of(action.job.id, action.job.name), action.queue);
}
std::string words(const CheckHost& action) {
    return fmt::format("try idle {} with railcheck, level {}", action.host, action.level);
}
std::string words(const EndCheck& action) {
    return fmt::format("end job {}, which tries {}", name_of(action.job.id, action.job.name),
                       action.job.host);
}
std::string words(const FreeHost& action) {
    std::vector<std::string> jobs;
    for (const auto job : action.jobs)
        jobs.push_back(to_string(job));
    return fmt::format("take {} out of job {}, which runs without it", action.host, fmt::join(jobs, ", "));
}
std::string words(const RepairHost& action) {
    switch (action.rung) {
    case Rung::reboot: return "reboot " + action.host;
    case Rung::power_cycle: return "power-cycle " + action.host;
    case Rung::gpu_reset:
        return fmt::format("reset {} of {}",
                           action.gpus.empty() ? std::string("the GPUs")
                                               : fmt::format("GPU {}", fmt::join(action.gpus, ", ")),
                           action.host);
    case Rung::nothing:
    case Rung::wait:
    case Rung::hands:
    case Rung::check: break;
    }
    return fmt::format("{} {}", to_string(action.rung), action.host);
}

} // namespace

const JobTarget* target_of(const Action& action) {
    return std::visit(
        [](const auto& what) -> const JobTarget* {
            if constexpr (requires { what.job; })
                return &what.job;
            else
                return nullptr;
        },
        action.what);
}

const std::string& host_of(const Action& action) {
    return std::visit(
        [](const auto& what) -> const std::string& {
            if constexpr (requires { what.job; })
                return what.job.host;
            else
                return what.host;
        },
        action.what);
}

const std::vector<std::string>& exclusions_of(const Action& action) {
    static const std::vector<std::string> none;
    return std::visit(
        [](const auto& what) -> const std::vector<std::string>& {
            if constexpr (requires { what.exclude; })
                return what.exclude;
            else
                return none;
        },
        action.what);
}

std::string describe(const Action& action) {
    return std::visit([](const auto& what) { return words(what); }, action.what);
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
