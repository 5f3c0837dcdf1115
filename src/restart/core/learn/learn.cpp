#include "restart/core/learn/learn.hpp"

#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/step_context.hpp"
#include "restart/core/learn/lemon.hpp"

#include <algorithm>
#include <utility>

namespace restart {
namespace {

// Exposure is sampled this often; a longer gap is a pause, or a clock that was set.
constexpr base::Duration sample_every = std::chrono::seconds(10), longest_sample = std::chrono::minutes(1);
// Faults of one host closer together than this are one that comes and goes.
constexpr base::Duration same_fault = std::chrono::hours(1);
// Hosts that fail within this of each other fail together: their heartbeats do not coincide.
constexpr base::Duration together_least = std::chrono::seconds(10);

Prior prior_of(const Policy& policy) {
    return {policy.mtbf_node, policy.repair_time, policy.prior_faults};
}

base::Duration silence_of(const Policy& policy) {
    return std::max(policy.silent, policy.report_interval * 3);
}

bool out_of_use(const HostState& host) {
    return host.lost || !host.node || host.node->down || host.node->drain;
}

bool in_use(const HostState& host, base::Time now, const Policy& policy) {
    return !out_of_use(host) && !host.node->away && host.last_report &&
           now - *host.last_report <= silence_of(policy);
}

bool has_fault(const State& state, std::string_view host) {
    const auto* open = state.incident_of(host);
    return open != nullptr && is_fault(open->kind) && open->phase != Phase::suspected;
}

// From the fault until the host is in use again; a host that never left is not repaired.
void follow_repair(StepContext& ctx, const std::string& name, HostState& host) {
    if (!host.broken_since) return;
    if (!host.node) {
        host.broken_since.reset(); // removed from the cluster
    } else if (out_of_use(host)) {
        host.was_out = true;
        return;
    } else if (has_fault(ctx.state, name) || !in_use(host, ctx.now, ctx.policy)) {
        return;
    } else if (host.was_out) {
        add_sample(ctx.state.learned.repairs, ctx.now - *std::exchange(host.broken_since, std::nullopt));
    }
    host.broken_since.reset();
    host.was_out = false;
}

void count_mass_silence(StepContext& ctx) {
    for (auto& [number, incident] : ctx.state.incidents)
        if (incident.kind == IncidentKind::mass_silence && !std::exchange(incident.learned, true))
            count_shared_fault(ctx.state.learned, ctx.now);
}

// Whether it is a new fault of a host that was in use.
bool is_new_fault(const StepContext& ctx, const HostState& host) {
    if (!host.node || host.node->away || owned_by_others(host) || host.broken_since) return false;
    const auto since = ctx.now - host.fault_at;
    return host.fault_at == base::Time{} || since < base::Duration::zero() || since >= same_fault;
}

Seconds seconds_of(std::chrono::microseconds time) {
    return std::chrono::duration<double>(time);
}

} // namespace

void learn_fault(StepContext& ctx, Incident& incident) {
    if (!is_fault(incident.kind) || std::exchange(incident.learned, true)) return;
    incident.decided = ctx.now;
    const auto found = ctx.state.hosts.find(incident.host);
    if (found == ctx.state.hosts.end() || !is_new_fault(ctx, found->second)) return;
    auto& host = found->second;
    if (incident.kind == IncidentKind::node_loss && departed_idle(host)) return;
    auto& learned = ctx.state.learned;
    host.fault_at = ctx.now;
    host.broken_since = incident.fault;
    host.was_out = false;
    // Faults before this daemon watched do not show how fast it detects.
    if (incident.fault >= ctx.state.grace_from) add_sample(learned.detections, ctx.now - incident.fault);
    remember_fault(host, ctx.now, incident.what, ctx.policy.lemon_half_life);
    const auto together = std::max(together_least, ctx.policy.together());
    for (const auto& name : count_fault(learned, incident.host, incident.fault, together, ctx.now))
        if (const auto other = ctx.state.hosts.find(name); other != ctx.state.hosts.end())
            forget_last_fault(other->second);
    for (auto& [id, job] : ctx.state.jobs)
        refresh_interval(ctx.state, job, ctx.policy);
}

void forget_fault(StepContext& ctx, const Incident& incident) {
    const auto found = ctx.state.hosts.find(incident.host);
    if (found == ctx.state.hosts.end() || found->second.broken_since != incident.fault) return;
    forget_last_fault(found->second);
    found->second.fault_at = {};
    found->second.broken_since.reset();
}

void learn_restart(StepContext& ctx, const Incident& incident, base::Time stopped, base::Time began) {
    const auto since = incident.decided ? std::max(stopped, *incident.decided) : stopped;
    add_sample(ctx.state.learned.restarts, std::max(began - since, base::Duration::zero()));
}

void learn_start(StepContext& ctx, JobState& job, double seconds_ago) {
    const bool relaunched = job.run && job.run->launch > 0;
    const StepStart start{job.rm.restarts, relaunched ? job.run->launch : 0};
    if (job.stepped == start) return;
    const auto began = relaunched ? job.run->began : job.rm.start;
    const auto took = ctx.now - began - base::duration_from_seconds(std::clamp(seconds_ago, 0.0, 1e6));
    if (took < base::Duration::zero()) return; // of the previous launch
    job.stepped = start;
    // Steps run by hand in an allocation begin whenever their user likes.
    if (job.rm.interactive || began < ctx.state.grace_from) return;
    count_start(ctx.state.programs, job.rm.uid, job.rm.title, relaunched || job.rm.restarts > 0, took,
                ctx.now);
}

void learn_passing(StepContext& ctx) {
    count_mass_silence(ctx);
    auto& counted = ctx.state.learned.counted;
    const auto gap = ctx.now - counted;
    if (gap >= base::Duration::zero() && gap < sample_every) return;
    const bool runs = counted != base::Time{} && gap > base::Duration::zero() && gap <= longest_sample;
    std::size_t used = 0;
    for (auto& [name, host] : ctx.state.hosts) {
        follow_repair(ctx, name, host);
        if (in_use(host, ctx.now, ctx.policy)) ++used;
    }
    const auto whole = std::chrono::floor<std::chrono::seconds>(gap);
    if (runs) count_exposure(ctx.state.learned, used, whole, ctx.now);
    counted = runs ? counted + whole : ctx.now; // the rest of a second counts next time
}

FailureRate failure_rate(const State& state, const Policy& policy) {
    return failure_rate(state.learned, prior_of(policy));
}

base::Duration host_mtbf(const State& state, const Policy& policy) {
    return host_mtbf(state.learned, prior_of(policy));
}

RepairTime repair_time(const State& state, const Policy& policy, base::Time now) {
    std::vector<base::Duration> ongoing;
    for (const auto& [name, host] : state.hosts)
        if (host.broken_since && host.was_out) ongoing.push_back(now - *host.broken_since);
    return repair_time(state.learned, prior_of(policy), ongoing);
}

std::optional<IntervalChoice> choose_interval(const State& state, const JobState& job, const Policy& policy) {
    if (job.cost.count() == 0) return {};
    IntervalChoice choice;
    choice.host_mtbf = host_mtbf(state, policy);
    const auto mtbf = job_mtbf(choice.host_mtbf, std::max(job.rm.node_count, 1U));
    if (!mtbf) return {};
    choice.mtbf = *mtbf;
    choice.cost = seconds_of(job.cost);
    choice.beside = std::max(Seconds{0}, seconds_of(job.safe_after) - choice.cost);
    choice.program = program_time(state.programs, job.rm.uid, job.rm.title, policy.restart_time);
    choice.failure = {mean_of(state.learned.detections),
                      mean_of(state.learned.restarts) + choice.program.time + choice.beside};
    const auto exact = exact_interval(choice.cost, *mtbf), young = young_interval(choice.cost, *mtbf),
               daly = daly_interval(choice.cost, *mtbf);
    if (!exact || !young || !daly) return {};
    choice.exact = *exact;
    choice.young = *young;
    choice.daly = *daly;
    const auto worth = [&](Seconds interval) {
        return efficiency(interval, choice.cost, *mtbf, choice.failure).value_or(0);
    };
    choice.worth = worth(choice.exact);
    choice.worth_young = worth(choice.young);
    choice.worth_daly = worth(choice.daly);
    choice.chosen = choice.exact;
    const auto at_least = [&](Seconds least, std::string_view name) {
        if (choice.chosen >= least) return;
        choice.chosen = least;
        choice.bound = name;
    };
    at_least(policy.min_interval, "min_interval");
    at_least(choice.beside, "safe");
    if (choice.chosen > Seconds(policy.max_interval)) {
        choice.chosen = policy.max_interval;
        choice.bound = "max_interval";
    }
    return choice;
}

void refresh_interval(const State& state, JobState& job, const Policy& policy) {
    const auto choice = choose_interval(state, job, policy);
    // Until its cost is known: an early checkpoint measures it.
    job.interval =
        choice ? base::duration_from_seconds(choice->chosen.count()) : base::Duration(policy.min_interval);
}

} // namespace restart
