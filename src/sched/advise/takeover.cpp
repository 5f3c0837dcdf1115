// Advisor::preempt: from node numbers and moments to sched::preempt, and back to text.
#include "base/units.hpp"
#include "sched/advise/advisor.hpp"
#include "sched/advise/world.hpp"
#include "sched/preempt.hpp"
#include "sched/say/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace sched {
namespace {

constexpr std::size_t most_named = 8; // jobs

std::string node_time(std::uint64_t node_seconds) {
    return fmt::format("{:.1f} node-hours", static_cast<double>(node_seconds) / 3600);
}

std::string words_of(const Preemption& chosen, std::span<const Preemptible> jobs,
                     const std::vector<std::int64_t>& since, std::int64_t now) {
    std::vector<std::string> named;
    for (const auto j : chosen.jobs) {
        if (named.size() == most_named) {
            named.push_back(fmt::format("and {} more", chosen.jobs.size() - named.size()));
            break;
        }
        const auto lost = std::chrono::seconds(std::max<std::int64_t>(now - since[j], 0));
        named.push_back(fmt::format("{} ({}, {} since its {})", jobs[j].number,
                                    plural(jobs[j].all_nodes, "node"), base::human_duration(lost),
                                    since[j] > jobs[j].started ? "checkpoint" : "start"));
    }
    const auto others = chosen.exact ? "no others that may go make room for less"
                                     : "none of these can be spared; not all sets were compared";
    return fmt::format("takes the place of {} of {} jobs that may be preempted, {}: {} of work at risk, {}",
                       chosen.jobs.size(), jobs.size(), fmt::join(named, ", "), node_time(chosen.risk),
                       others);
}

} // namespace

// The moment from which each job's work would be lost.
std::vector<std::int64_t> Advisor::unsaved_since(std::span<const Preemptible> jobs) {
    const std::lock_guard lock(mutex_);
    std::vector<std::int64_t> since;
    since.reserve(jobs.size());
    for (const auto& job : jobs) {
        const auto saved = saved_.find(job.number);
        const auto at = saved == saved_.end() ? 0.0 : base::to_seconds(saved->second);
        since.push_back(std::max(job.started, static_cast<std::int64_t>(at)));
    }
    return since;
}

std::optional<Takeover> Advisor::choose_preempted(const Question& question,
                                                  std::span<const Preemptible> jobs) {
    const auto world = current();
    if (!world) return {};
    const auto ask = ask_of(question, *world);
    if (!ask) return {};
    Snapshot snapshot;
    for (const auto at : ask->free_at)
        snapshot.states.push_back(at == 0 ? HostState::free : HostState::busy);
    snapshot.health = ask->health;
    const auto since = unsaved_since(jobs);
    std::vector<Preemptee> candidates;
    candidates.reserve(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        Preemptee candidate;
        candidate.order = jobs[j].order;
        candidate.risk = jobs[j].all_nodes *
                         static_cast<std::uint64_t>(std::max<std::int64_t>(question.now - since[j], 0));
        for (const auto node : jobs[j].nodes)
            if (node < world->host_of_node.size() && world->host_of_node[node] != unknown_host)
                candidate.hosts.push_back(world->host_of_node[node]);
        candidates.push_back(std::move(candidate));
    }
    auto request = ask->request;
    request.order = RankOrder::none;
    const auto& placer = world->placing->placer;
    auto budget = grant(placer, question.now);
    auto chosen = sched::preempt(placer, snapshot, request, candidates, budget);
    account(budget.spent());
    if (!chosen) return {};
    Takeover takeover;
    for (const auto host : chosen->placement.hosts)
        takeover.nodes.push_back(world->node_of_host[host]);
    std::sort(takeover.nodes.begin(), takeover.nodes.end());
    takeover.jobs = chosen->jobs;
    if (!takeover.jobs.empty()) takeover.why = words_of(*chosen, jobs, since, question.now);
    return takeover;
}

} // namespace sched
