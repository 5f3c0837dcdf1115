// Idle checks in a World: jobs of restartd's own, which end when the test says so.
#include "world.hpp"

#include <algorithm>

namespace {
constexpr std::uint32_t own_uid = 64030;
}

void World::allow_idle_checks(base::Duration every, std::uint64_t max_at_once) {
    policy.idle_checks.every = every;
    policy.idle_checks.max_at_once = max_at_once;
    for (auto& [name, host] : hosts_)
        host.node.use = base::HostState::free;
}

std::vector<base::JobId> World::idle_checks() const {
    std::vector<base::JobId> jobs;
    for (const auto& [id, job] : jobs_)
        if (!job.rm.checks.empty()) jobs.push_back(id);
    std::sort(jobs.begin(), jobs.end(),
              [&](base::JobId a, base::JobId b) { return jobs_.at(a).rm.checks < jobs_.at(b).rm.checks; });
    return jobs;
}

void World::tell_idle_check(base::JobId id, restart::CheckVerdict verdict, double value) {
    const auto& job = jobs_.at(id).rm;
    restart::Report report;
    report.host = job.checks;
    auto& told = report.jobs.emplace_back(restart::JobReport{id, 0, job.uid, {}});
    told.preflight = restart::Preflight{
        {}, false, {{job.checks, "hbm.read", "gpu3", verdict, value, 3000, "GB/s", "slow"}}};
    deliver(report);
}

void World::end_idle_check(base::JobId id) {
    hosts_.at(jobs_.at(id).rm.checks).node.use = base::HostState::free;
    jobs_.erase(id);
}

std::optional<base::Error> World::carry_out(const restart::CheckHost& action) {
    if (check_error) return check_error;
    auto& job = jobs_.at(submit({action.host}, std::nullopt)).rm;
    job.uid = own_uid;
    job.checks = action.host;
    hosts_.at(action.host).node.use = base::HostState::busy;
    return {};
}

std::optional<base::Error> World::carry_out(const restart::EndCheck& action) {
    if (has_job(action.job.id) && !lose_ends) end_idle_check(action.job.id);
    return {};
}
