#include "restart/daemon/dispatcher.hpp"

#include "restart/core/act/act.hpp"
#include "restart/core/facts/former_hosts.hpp"
#include "restart/core/facts/kept_jobs.hpp"

#include <algorithm>

namespace restart {
namespace {

std::vector<std::uint32_t> indices_of(const std::vector<std::string>& names, const sched::Placing& placing) {
    std::vector<std::uint32_t> hosts;
    for (const auto& name : names)
        if (const auto host = placing.find_host(name)) hosts.push_back(*host);
    return hosts;
}

// Hosts that LSF does not name are down.
sched::Snapshot snapshot_of(const RmQueue& queue, const DispatchFacts& facts, const sched::Placing& placing) {
    sched::Snapshot snapshot;
    snapshot.states.assign(placing.fabric.hosts.size(), base::HostState::down);
    for (const auto& node : queue.nodes) {
        const auto host = placing.find_host(node.name);
        if (!host) continue;
        snapshot.states[*host] = node.state;
        if (facts.unfit.contains(node.name))
            snapshot.states[*host] = std::max(node.state, base::HostState::drained);
        snapshot.weaken(*host, node.health);
    }
    return snapshot;
}

sched::lsf::HoldingJob holding(const QueueJob& job, std::vector<std::uint32_t> hosts) {
    sched::lsf::HoldingJob one;
    one.holder.job = job.id;
    one.holder.hosts = std::move(hosts);
    one.holder.ends = job.ends;
    if (job.start != base::Time{}) one.since = job.start;
    return one;
}

sched::lsf::WaitingGang waiting(const QueueJob& job, const DispatchFacts::Gang& gang,
                                const sched::Placing& placing) {
    sched::lsf::WaitingGang one;
    one.job = job.id;
    one.request.nodes = job.least;
    one.request.most = job.most;
    one.request.required = indices_of(job.required, placing);
    one.request.excluded = indices_of(job.excluded, placing);
    one.request.had = indices_of(gang.had, placing);
    one.hints = job.hints;
    one.eligible = job.eligible;
    one.limit = job.limit;
    one.restart = gang.restart;
    return one;
}

} // namespace

DispatchFacts dispatch_facts(const State& state, const Policy& policy, base::Time now) {
    DispatchFacts facts;
    const auto not_ended = gangs_not_ended(state, policy, now);
    for (const auto& [id, job] : state.jobs) {
        if (!is_gang(job.rm)) continue;
        auto& gang = facts.gangs[id];
        gang.epoch = job.rm.restarts;
        gang.restart = job.requeued_epoch && *job.requeued_epoch + 1 == job.rm.restarts;
        gang.had = hosts_before(job);
        const bool holds = job.plan && job.plan->holds();
        if (holds) gang.holds = job.plan->hosts;
        gang.may_plan = job.rm.phase == JobPhase::pending && !is_released(job.rm) && !holds &&
                        (!job.plan || now >= job.plan->next_try) && !not_ended.contains(id);
    }
    for (const auto& [name, host] : state.hosts)
        if (!why_not_on(state, name).empty()) facts.unfit.insert(name);
    facts.unfit.merge(hosts_with_left_overs(state));
    return facts;
}

base::Expected<GangsPlanned> Dispatcher::pass(const RmQueue& queue, const DispatchFacts& facts,
                                              const sched::Placing& placing) {
    sched::lsf::Queue in;
    in.now = queue.read;
    in.snapshot = snapshot_of(queue, facts, placing);
    in.resume = resume_;
    for (const auto& job : queue.jobs) {
        const auto gang = facts.gangs.find(job.id);
        if (job.phase != QueuePhase::waiting) {
            in.holding.push_back(holding(job, indices_of(job.nodes, placing)));
        } else if (gang != facts.gangs.end() && !gang->second.holds.empty()) {
            in.holding.push_back(holding(job, indices_of(gang->second.holds, placing)));
            if (job.limit) in.holding.back().holder.ends = in.now + *job.limit;
        } else if (gang != facts.gangs.end() && gang->second.may_plan && job.waits_for == WaitsFor::hosts) {
            in.waiting.push_back(waiting(job, gang->second, placing));
        }
    }
    // Jobs that a fault ended come first: their work has stopped since then.
    std::stable_partition(in.waiting.begin(), in.waiting.end(),
                          [](const sched::lsf::WaitingGang& gang) { return gang.restart; });
    GangsPlanned planned;
    if (in.waiting.empty()) {
        resume_.reset();
        return planned;
    }
    sched::lsf::Options options;
    options.spare_floor = placing.spare_floor;
    const auto plan = sched::lsf::dispatch(placing.fabric, placing.placer, in, options);
    if (!plan) return plan.error();
    resume_ = plan->resume;
    for (const auto& start : plan->starts) {
        PlannedGang gang;
        gang.id = start.job;
        gang.epoch = facts.gangs.at(start.job).epoch;
        for (const auto host : start.placement.hosts)
            gang.hosts.push_back(placing.fabric.hosts[host].name);
        planned.gangs.push_back(std::move(gang));
    }
    return planned;
}

} // namespace restart
