#include "restart/core/decide/cost.hpp"

#include "restart/core/decide/slowdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace restart {
namespace {

constexpr double hour_ms = 3'600'000;

// "1.2", "0.013", "480": two significant digits below ten.
std::string figures(double value) {
    if (value >= 100) return fmt::format("{:.0f}", value);
    if (value >= 0.095 || value == 0) return fmt::format("{:.1f}", value);
    return fmt::format("{:.2g}", value);
}

// Its processes respond, and have shown what a checkpoint costs: it will be asked to save first.
bool saves_first(const JobState& job) {
    return job.connected && job.cost.count() > 0;
}

CostTerm save_term(const JobState& job, const Policy& policy) {
    if (!job.connected) return {"save", {}, "no process of it can be asked"};
    if (job.cost.count() == 0) return {"save", policy.save_min, "[checkpoint] save_deadline_min"};
    return {"save", base::duration_from_seconds(std::chrono::duration<double>(job.cost).count()), "measured"};
}

CostTerm lost_term(const JobState& job, base::Time now) {
    if (saves_first(job)) return {"lost work", {}, "it saves first"};
    const bool saved = job.commit && job.commit->committed >= job.rm.start;
    const auto since = saved ? job.commit->committed : job.rm.start;
    return {"lost work", std::max(now - since, base::Duration{}),
            saved ? "since its last checkpoint" : "since its start"};
}

CostTerm requeue_term(const JobState& job, const Learned& learned, const Policy& policy) {
    if (job.requeue_took > base::Duration{}) return {"requeue", job.requeue_took, "as the last one took"};
    if (const auto seen = learned.restarts.size(); seen != 0)
        return {"requeue", mean_of(learned.restarts),
                fmt::format("as {} of other jobs took on average", seen)};
    return {"requeue", policy.requeue_time, "[restart] requeue_time"};
}

} // namespace

double JobCost::node_hours(base::Duration time) const {
    return static_cast<double>(time.count()) / hour_ms * nodes;
}

double JobCost::waiting() const {
    return slowdown * node_hours(stays);
}

double JobCost::moving() const {
    double sum = 0;
    for (const auto& term : terms)
        sum += node_hours(term.time);
    return sum;
}

JobCost cost_of(const JobState& job, double slowdown, std::string slowed_by, const State& state,
                const Policy& policy, base::Time now) {
    JobCost cost;
    cost.slowdown = std::clamp(slowdown, 0.0, 1.0);
    cost.slowed_by = std::move(slowed_by);
    cost.nodes = std::max(job.rm.node_count, 1u);
    cost.stays = job.rm.ends ? std::max(*job.rm.ends - now, base::Duration{}) : policy.horizon;
    cost.stays_from = job.rm.ends ? "its time limit" : "[restart] horizon";
    cost.terms.push_back(save_term(job, policy));
    cost.terms.push_back(requeue_term(job, state.learned, policy));
    const auto program = program_time(state.programs, job.rm.uid, job.rm.title, policy.restart_time);
    cost.terms.push_back({"restart", program.time, source_of(program)});
    cost.terms.push_back(lost_term(job, now));
    return cost;
}

std::string sentence(const JobCost& cost) {
    std::string terms;
    for (const auto& term : cost.terms)
        terms +=
            fmt::format("{}{} {}", terms.empty() ? "" : ", ", term.name, figures(cost.node_hours(term.time)));
    return fmt::format("waiting costs {} node-hours ({} % of {} node{} for {} h), moving {} ({})",
                       figures(cost.waiting()), std::round(cost.slowdown * 1000) / 10, cost.nodes,
                       cost.nodes == 1 ? "" : "s", figures(static_cast<double>(cost.stays.count()) / hour_ms),
                       figures(cost.moving()), terms);
}

} // namespace restart
