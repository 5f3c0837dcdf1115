#include "restart/daemon/rate_views.hpp"

#include "restart/core/act/rungs.hpp"
#include "restart/core/facts/names.hpp"
#include "restart/core/learn/learn.hpp"
#include "restart/core/learn/lemon.hpp"
#include "restart/core/repair/repair.hpp"

#include <algorithm>

namespace restart {
namespace {

constexpr std::size_t most_shown = 1000; // hosts, and jobs

TimesStatus status_of(const TimeSummary& times) {
    return {times.count, times.mean, times.median, times.p90};
}

base::Duration duration_of(Seconds time) {
    return base::duration_from_seconds(std::min(time.count(), 1e11));
}

} // namespace

ProgramStatus program_of(const State& state, const Policy& policy, const JobState& job) {
    const auto known = program_time(state.programs, job.rm.uid, job.rm.title, policy.restart_time);
    return {known.time, known.count, known.again, job.rm.title};
}

std::optional<IntervalStatus> interval_of(const State& state, const Policy& policy, const JobState& job) {
    const auto choice = choose_interval(state, job, policy);
    if (!choice) return {};
    IntervalStatus view;
    view.id = job.rm.id;
    view.name = name_of(job.rm);
    view.hosts = job.rm.node_count;
    view.host_mtbf = duration_of(choice->host_mtbf);
    view.mtbf = duration_of(choice->mtbf);
    view.cost_s = choice->cost.count();
    view.beside_s = choice->beside.count();
    view.detection = duration_of(choice->failure.downtime);
    view.restart = duration_of(choice->failure.restart - choice->beside - choice->program.time);
    view.program = program_of(state, policy, job);
    view.exact = {duration_of(choice->exact), choice->worth};
    view.young = {duration_of(choice->young), choice->worth_young};
    view.daly = {duration_of(choice->daly), choice->worth_daly};
    view.interval = job.interval;
    view.bound = choice->bound;
    return view;
}

std::optional<ReturnStatus> repair_of(const State& state, const DriverStatus& status, const HostState& host) {
    if (!host.repair) return {};
    const auto& repair = *host.repair;
    const auto& policy = status.policy.repair;
    ReturnStatus view;
    view.fault = to_string(repair.fault);
    view.stage = to_string(repair.stage);
    view.rung = to_string(repair.healed ? Rung::wait : present_rung(status.policy, repair));
    for (const auto rung : rungs_here(state, policy, repair.fault))
        view.ladder.emplace_back(rung);
    view.next = to_string(next_rung(state, status.policy, host));
    view.attempts = attempts_of(host, status.policy, status.now);
    view.most_attempts = policy.attempts;
    view.since = repair.begun;
    view.clean_since = repair.clean_since;
    if (repair.stage == RepairStage::watching)
        view.until =
            repair.clean_since ? *repair.clean_since + policy.clean_window : repair.begun + policy.rung_limit;
    return view;
}

Rates rates_of(const State& state, const DriverStatus& status, const View& view) {
    Rates rates;
    rates.time = status.now;
    const auto failures = failure_rate(state, status.policy);
    rates.failures = {failures.mtbf,
                      failures.low,
                      failures.high,
                      failures.dispersion,
                      failures.faults,
                      failures.host_hours,
                      failures.shared,
                      status.policy.mtbf_node,
                      status.policy.prior_faults};
    const auto repairs = repair_time(state, status.policy, status.now);
    rates.repairs = {repairs.mean, status_of(repairs.seen), repairs.ongoing, status.policy.repair_time};
    rates.detections = status_of(summary_of(state.learned.detections));
    rates.restarts = status_of(summary_of(state.learned.restarts));
    rates.programs.configured = status.policy.restart_time;
    rates.programs.names = state.programs.size();
    std::vector<base::Duration> again, first;
    for (const auto& [name, program] : state.programs) {
        again.insert(again.end(), program.again.begin(), program.again.end());
        first.insert(first.end(), program.first.begin(), program.first.end());
    }
    rates.programs.again = status_of(summary_of(std::move(again)));
    rates.programs.first = status_of(summary_of(std::move(first)));
    rates.spares = status.spares;
    for (const auto& [id, job] : state.jobs)
        if (rates.jobs.size() < most_shown && view.sees_job(owner_of(job.rm)))
            if (auto interval = interval_of(state, status.policy, job))
                rates.jobs.push_back(*std::move(interval));
    return rates;
}

Top top_of(const State& state, const DriverStatus& status, const View& view) {
    Top top;
    top.time = status.now;
    top.half_life = status.policy.lemon_half_life;
    if (view.sees_events())
        for (const auto& [name, host] : state.hosts) {
            LemonStatus lemon;
            lemon.score = lemon_score(host, status.now, status.policy.lemon_half_life);
            if (lemon.score <= 0) continue;
            lemon.name = name;
            for (const auto& fault : host.faults)
                lemon.faults.push_back({fault.at, fault.what});
            lemon.in_use = host.node && !host.node->down && !host.node->drain && !host.lost;
            lemon.repair = repair_of(state, status, host);
            top.hosts.push_back(std::move(lemon));
        }
    std::stable_sort(top.hosts.begin(), top.hosts.end(),
                     [](const LemonStatus& a, const LemonStatus& b) { return a.score > b.score; });
    for (const auto& [id, job] : state.jobs)
        if (job.lost_host_seconds > 0 && view.sees_job(owner_of(job.rm)))
            top.jobs.push_back({id, name_of(job.rm), job.rm.uid, job.rm.node_count, job.requeues,
                                static_cast<double>(job.lost_host_seconds) / 3600});
    std::stable_sort(top.jobs.begin(), top.jobs.end(),
                     [](const LossStatus& a, const LossStatus& b) { return a.host_hours > b.host_hours; });
    if (top.hosts.size() > most_shown) top.hosts.resize(most_shown);
    if (top.jobs.size() > most_shown) top.jobs.resize(most_shown);
    return top;
}

} // namespace restart
