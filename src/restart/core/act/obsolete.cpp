// The last check of an action before it is performed: whether the reason for it still holds.

#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/act/rungs.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

// An order that waits for jobs which could use the host makes room for another host.
constexpr base::Duration ready_within{60'000};

constexpr std::string_view over = "what asked for it is over",
                           unknown = "the resource manager does not know the host";

std::string others_reason(const HostState& host) {
    return fmt::format("{} has drained it: {}", other_owner(host), host.node->reason);
}

// Why it is no longer needed; empty: still needed. `host` is null when the state does not have it.
std::string why(const State& state, const HostState* host, const DrainHost& action) {
    if (host == nullptr || !host->node) return std::string(unknown);
    if (owned_by_others(*host)) return others_reason(*host);
    if (action.renew) return owned_by_us(*host) ? std::string() : "it was put back into use";
    const bool asked = owner_of(action.reason).starts_with("user:") || fault_holds(state, *host);
    return asked ? std::string() : std::string(over);
}

std::string why(const State& state, const HostState* host, const DownHost& action) {
    if (host == nullptr || !host->node) return std::string(unknown);
    if (!host->lost || host->generation != action.generation) return "its agent reports again";
    if (!counts_as_lost(*host)) return "it was put back into use";
    if (!unreachable(state, *host)) return "the resource manager hears it again";
    return action.drain && owned_by_others(*host) ? others_reason(*host) : std::string();
}

std::string why(const State&, const HostState* host, const ResumeHost&) {
    if (host != nullptr && host->lost) return "its agent does not report";
    return host != nullptr && owned_by_others(*host) ? others_reason(*host) : std::string();
}

const JobState* find(const State& state, const JobTarget& target) {
    const auto job = state.jobs.find(target.id);
    return job == state.jobs.end() ? nullptr : &job->second;
}

// Something it shares with others has not come back, and its jobs leave it.
bool left_for_cause(const State& state, const std::string& host) {
    const auto* cause = explained_by(state, host);
    return cause != nullptr && cause->phase != Phase::suspected && cause->phase != Phase::watching;
}

std::string why(const State& state, const HostState* host, const RequeueJob& action) {
    const auto* job = find(state, action.job);
    if (job == nullptr) return "the job has ended";
    if (action.ended && job->rm.phase != JobPhase::ended) return "another has started it again";
    // Still in the same start: it may stay if its host is healthy again.
    const bool stays = job->rm.restarts == action.job.epoch && has_name(job->rm.nodes, action.job.host);
    return stays && host != nullptr && !fault_holds(state, *host) && !left_for_cause(state, action.job.host)
               ? std::string(over)
               : std::string();
}

std::string why(const State& state, const HostState*, const SubmitAgain& action) {
    if (submitted_for(state, action.job.id, action.job.epoch) != nullptr) return "it was submitted again";
    const auto* job = find(state, action.job);
    if (job == nullptr) return "what it was submitted with is not kept any more";
    return job->rm.forgotten ? "" : "the resource manager knows it";
}

std::string why(const State& state, const HostState*, const UpdateJob& action) {
    const auto* job = find(state, action.job);
    if (job == nullptr) return "the job has ended";
    return action.release && !job->rm.unlaunched ? "it is not held any more" : "";
}

std::string why(const State& state, const HostState*, const KeepOff& action) {
    const auto* job = find(state, action.job);
    if (job == nullptr) return "the job has ended";
    if (!waits_for_hosts(*job)) return "the job no longer waits";
    for (const auto& name : action.exclude) {
        const auto host = state.hosts.find(name);
        if (host == state.hosts.end() || !is_faulty(state, host->second)) return name + " is sound again";
    }
    for (const auto& name : action.readmit)
        if (needs_exclusion(state, name)) return name + " has a fault again";
    return {};
}

std::string why(const State& state, const HostState*, const NotifyJob& action) {
    return find(state, action.job) == nullptr ? "the job has ended" : "";
}

// Nothing is done to a host that jobs use, or that an operator has taken over.
std::string why(const State& state, const HostState* host, const RepairHost& action) {
    if (host == nullptr || !host->node) return std::string(unknown);
    if (owned_by_others(*host)) return others_reason(*host);
    if (!owned_by_us(*host) || !host->node->drain) return "it was put back into use";
    const auto stage = action.rung == Rung::check ? RepairStage::checking : RepairStage::acting;
    if (!host->repair || host->repair->stage != stage) return std::string(over);
    // A check affects neither the host nor jobs that hold it and run without it.
    return action.rung == Rung::check ? why_left_alone(state, action.host)
                                      : why_not_now(state, action.host, *host);
}

// What an operator took over is theirs, and what a job needs again is the job's.
std::string why(const State& state, const HostState* host, const FreeHost& action) {
    if (host == nullptr || !host->node) return std::string(unknown);
    if (owned_by_others(*host)) return others_reason(*host);
    if (!owned_by_us(*host) || !host->node->drain) return "it was put back into use";
    const auto jobs = jobs_that_let_go(state, action.host);
    if (!jobs) return "a job there needs it";
    return jobs->empty() ? "no job holds it any more" : "";
}

// A host may have gone since the plan was made.
std::string why(const State& state, const HostState*, const PlaceJob& action) {
    const auto* job = find(state, action.job);
    if (job == nullptr) return "the job has ended";
    if (job->rm.phase != JobPhase::pending || job->rm.restarts != action.job.epoch)
        return "the job no longer waits";
    return why_not_on(state, action.hosts);
}

std::string why(const State& state, const HostState*, const ParkJob& action) {
    const auto* job = find(state, action.job);
    if (job == nullptr) return "the job has ended";
    const bool stopped = job->rm.held || job->rm.phase == JobPhase::suspended;
    return is_released(job->rm) || stopped ? "" : "it is there";
}

// Other reasons against beginning it are checked again as well (why_not_tried()).
std::string why(const State&, const HostState* host, const CheckHost&) {
    return host != nullptr && host->idle_check && host->idle_check->stage == IdleCheckStage::ordered
               ? std::string()
               : std::string(over);
}

std::string why(const State& state, const HostState*, const EndCheck& action) {
    return find(state, action.job) == nullptr ? "the job has ended" : "";
}

// A gang is placed and moved, and a job of our own ended, whatever restartd may do on its own.
bool passes_the_gate(const Action& action) {
    return as<PlaceJob>(action) != nullptr || as<ParkJob>(action) != nullptr ||
           as<EndCheck>(action) != nullptr;
}

} // namespace

bool waits_for_hosts(const JobState& job) {
    return job.rm.phase == JobPhase::pending && job.rm.nodes.empty();
}

bool needs_exclusion(const State& state, const std::string& name) {
    const auto host = state.hosts.find(name);
    return host != state.hosts.end() && is_faulty(state, host->second) && !has_drain(state, name);
}

std::string why_obsolete(const State& state, const Policy& policy, base::Time now, const Action& action) {
    if (!passes_the_gate(action))
        if (const auto shut = gate(state, policy, now, action)) return shut->why;
    if (const auto* check = as<CheckHost>(action))
        if (auto why = why_not_tried(state, policy, now, check->host); !why.empty()) return why;
    const auto host = state.hosts.find(host_of(action));
    return std::visit(
        [&](const auto& what) {
            return why(state, host == state.hosts.end() ? nullptr : &host->second, what);
        },
        action.what);
}

std::string why_not_tried(const State& state, const Policy& policy, base::Time now, std::string_view name) {
    const auto found = state.hosts.find(name);
    if (found == state.hosts.end() || !found->second.node) return "the resource manager does not know it";
    const auto& host = found->second;
    if (const auto shut = gate(state, policy, now, name)) return shut->why;
    if (host.node->use != base::HostState::free || host.node->away || host.node->rebooting)
        return "it is not idle";
    if (!host.last_report || now - *host.last_report > policy.silent) return "its agent does not report";
    if (host.lost || host.departure || host.repair || is_faulty(state, host) || has_drain(state, name) ||
        state.incident_of(name) != nullptr)
        return "it is not sound";
    const auto& check = host.idle_check;
    if (check && check->stage == IdleCheckStage::ordered && now - check->since >= ready_within)
        return "jobs wait that could use it";
    return {};
}

} // namespace restart
