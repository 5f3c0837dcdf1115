#include "restart/core/facts/host_use.hpp"

#include "restart/core/facts/kept_out.hpp"
#include "restart/core/facts/step_context.hpp"

#include <algorithm>
#include <charconv>

namespace restart {

bool owned_by_us(const HostState& host) {
    return host.node && keeper_of(*host.node) == Keeper::us;
}
bool owned_by_others(const HostState& host) {
    return host.node && keeper_of(*host.node) == Keeper::others;
}

std::string other_owner(const HostState& host) {
    return host.node && !host.node->set_by.empty() ? host.node->set_by : "another";
}

std::uint64_t incident_in(std::string_view reason) {
    constexpr std::uint64_t most = 1'000'000'000'000; // an administrator may have written anything
    auto owner = owner_of(reason);
    if (!owner.starts_with("i-")) return 0;
    owner.remove_prefix(2);
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(owner.data(), owner.data() + owner.size(), number);
    return failed == std::errc{} && end == owner.data() + owner.size() && number < most ? number : 0;
}

bool unreachable(const State& state, const HostState& host) {
    constexpr base::Duration stale{60'000};
    const auto fresh = [&](const std::optional<base::Time>& told) {
        return !state.rm_read || (told && *state.rm_read - *told < stale);
    };
    return host.unresponsive_since || host.mute_since ||
           (host.dark_since && (fresh(state.swept) || fresh(host.links_told)));
}

bool is_heard(const HostState& host, base::Time now, base::Duration silent) {
    return host.last_report && now - *host.last_report <= silent && !host.lost && host.slurmd;
}

std::optional<base::HostState> use_now(const HostState& host, base::Time now, base::Duration silent) {
    if (!host.node || !host.node->use) return {};
    const auto use = *host.node->use;
    const bool mute = host.node->not_responding && !is_heard(host, now, silent);
    return mute && use < base::HostState::drained ? base::HostState::down : use;
}

bool counts_as_lost(const HostState& host) {
    return host.lost && !has_name(host.overruled, lost_key);
}

bool lost_by_rm_alone(const HostState& host) {
    return host.lost && host.rm_confirmed_only && !host.dark_since && !owned_by_others(host);
}

bool has_departed(const HostState& host) {
    return host.departure && !host.departure->back;
}

bool departed_idle(const HostState& host) {
    return has_departed(host) && host.departure->idle;
}

bool host_in_flight(const State& state, std::string_view host) {
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (about_host(intent.action) && host_of(intent.action) == host && intent.in_flight())
                return true;
    return false;
}

bool has_drain(const State& state, std::string_view name) {
    const auto found = state.hosts.find(name);
    bool out = found != state.hosts.end() && found->second.node &&
               (found->second.node->drain || owned_by_others(found->second));
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents) {
            const auto& action = intent.action;
            if (!about_host(action) || host_of(action) != name || !intent.in_flight()) continue;
            if (as<ResumeHost>(action) != nullptr) return false;
            out = out || drains(action);
        }
    return out;
}

bool drained_and_empty(const State& state, std::string_view name) {
    const auto found = state.hosts.find(name);
    if (found == state.hosts.end() || !found->second.node) return true; // there is nothing to keep
    const auto& host = found->second;
    const bool out = host.lost ? !unreachable(state, host) ||
                                     (host.node->down && (host.node->drain || owned_by_others(host)))
                               : owned_by_us(host) || owned_by_others(host);
    return out && std::none_of(state.jobs.begin(), state.jobs.end(), [&](const auto& entry) {
               return has_name(entry.second.rm.nodes, name) && !lets_go(entry.second, name);
           });
}

bool lets_go(const JobState& job, std::string_view host) {
    const auto& run = job.run;
    return job.rm.phase == JobPhase::running && job.rm.no_kill && job.rm.components.empty() && run &&
           !run->gone && run->host != host && !has_name(run->ranks, host);
}

bool job_in_flight(const State& state, base::JobId job) {
    for (const auto& [number, incident] : state.incidents)
        for (const auto& intent : incident.intents)
            if (job_if(intent.action) == job && intent.in_flight()) return true;
    return false;
}

bool quiet_for_repair(const HostState& host) {
    if (!host.repair || host.lost) return false;
    const auto& repair = *host.repair;
    if (repair.stage == RepairStage::acting) return true;
    return repair.stage == RepairStage::watching && !repair.healed && !repair.clean_since &&
           !repair.boot_id.empty() && host.boot_id == repair.boot_id;
}

bool holds_finding(const HostState& host, std::string_view key) {
    return std::any_of(host.findings.begin(), host.findings.end(),
                       [&](const Finding& finding) { return key_of(finding) == key; });
}

} // namespace restart
