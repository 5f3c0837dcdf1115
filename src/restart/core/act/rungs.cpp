#include "restart/core/act/rungs.hpp"

#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

constexpr base::Duration sweeps_come{60'000};

bool has_jobs(const State& state, std::string_view name, const HostState& host) {
    return host.node->occupied || std::any_of(state.jobs.begin(), state.jobs.end(), [&](const auto& entry) {
               return has_name(entry.second.rm.nodes, name);
           });
}

// Whether a lost host may be alive behind a network that failed. Darkness in the fabric and unanswered
// connections are seen on other paths than the reports'; the resource manager's report alone counts only for
// a single host where no fabric is watched.
bool may_live(const State& state, const HostState& host) {
    if (!host.lost || host.dark_since || host.mute_since) return false;
    if (state.swept && state.rm_read && *state.rm_read - *state.swept < sweeps_come) return true;
    return std::count_if(state.hosts.begin(), state.hosts.end(),
                         [](const auto& entry) { return lost_by_rm_alone(entry.second); }) > 1;
}

// Why this rung is impossible here for any host; a phrase. Empty: it is possible.
std::string why_never(const State& state, const RepairPolicy& policy, Rung rung) {
    if (rung == Rung::gpu_reset && !policy.resets_gpus) return "[repair] gpu_reset_program is not set";
    if (rung == Rung::power_cycle && !policy.cycles_power) return "[repair] power_cycle_program is not set";
    if (rung == Rung::reboot && (!state.rm_config || !state.rm_config->reboots))
        return "the resource manager has no program to reboot hosts";
    return {};
}

} // namespace

std::string why_not_now(const State& state, std::string_view name, const HostState& host) {
    return has_jobs(state, name, host) ? "jobs are on it" : why_left_alone(state, name);
}

std::optional<std::vector<base::JobId>> jobs_that_let_go(const State& state, std::string_view name) {
    std::vector<base::JobId> jobs;
    for (const auto& [id, job] : state.jobs) {
        if (!has_name(job.rm.nodes, name)) continue;
        if (!lets_go(job, name)) return {};
        jobs.push_back(id);
    }
    const auto host = state.hosts.find(name);
    if (jobs.empty() && host != state.hosts.end() && host->second.node && host->second.node->occupied)
        return {};
    return jobs;
}

std::string why_passed_over(const State& state, const HostState& host, const Policy& policy, Rung rung) {
    if (auto never = why_never(state, policy.repair, rung); !never.empty()) return never;
    switch (rung) {
    case Rung::gpu_reset:
        if (host.lost) return "its agent does not report";
        break;
    case Rung::reboot:
        if (host.lost || !host.node || host.node->not_responding) return "nothing on it takes a request";
        break;
    case Rung::power_cycle:
        if (may_live(state, host)) return "it may live behind a network that failed";
        break;
    case Rung::nothing:
    case Rung::wait:
    case Rung::hands:
    case Rung::check: break;
    }
    return {};
}

std::vector<std::string_view> rungs_here(const State& state, const RepairPolicy& policy, FaultClass fault) {
    std::vector<std::string_view> rungs;
    for (const auto rung : policy.ladder(fault))
        if (why_never(state, policy, rung).empty()) rungs.push_back(to_string(rung));
    if (rungs.empty()) rungs.push_back(to_string(Rung::hands));
    return rungs;
}

bool is_clean(const State& state, std::string_view name, const HostState& host, const Policy& policy,
              base::Time now) {
    const auto patience = std::max(policy.silent, policy.report_interval * 3);
    return host.node && !host.lost && host.last_report && now - *host.last_report <= patience &&
           !host.node->away && !host.node->not_responding && !host.node->rebooting && !host.dark_since &&
           !is_faulty(state, host) && state.incident_of(name) == nullptr;
}

std::vector<std::string> faulty_gpus(const HostState& host) {
    std::vector<std::string> numbers;
    for (const auto& finding : host.findings) {
        if (finding.severity < Severity::evict || !finding.rule.starts_with("gpu.")) continue;
        const auto number =
            finding.component.starts_with("gpu") ? finding.component.substr(3) : std::string();
        if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) return {};
        add_name(numbers, number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

std::size_t in_repair(const State& state, const Policy& policy) {
    return static_cast<std::size_t>(
        std::count_if(state.incidents.begin(), state.incidents.end(), [&](const auto& entry) {
            if (entry.second.kind != IncidentKind::repair) return false;
            const auto host = state.hosts.find(entry.second.host);
            if (host == state.hosts.end() || !host->second.repair) return false;
            const auto& repair = *host->second.repair;
            return repair.stage == RepairStage::acting ||
                   (repair.stage == RepairStage::watching && !repair.healed &&
                    acts(present_rung(policy, repair)));
        }));
}

Rung present_rung(const Policy& policy, const Repair& repair) {
    const auto ladder = policy.repair.ladder(repair.fault);
    return repair.at < ladder.size() ? ladder[repair.at] : Rung::hands;
}

} // namespace restart
