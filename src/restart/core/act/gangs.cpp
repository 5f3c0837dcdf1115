// Plans of gangs: from the dispatcher's choice until the gang runs on its hosts and is where only another
// plan can restart it.
//
// What the resource manager shows decides, not what was ordered: a plan whose order was lost is made again,
// and carrying one out twice has the same effect as once.

#include "base/hostlist.hpp"
#include "restart/core/act/act.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/facts/host_use.hpp"
#include "restart/core/facts/kept_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

constexpr base::Duration first_pause{1'000}, longest_pause{300'000};

JobTarget target_of_plan(const JobState& job) {
    auto target = restart::target(job.rm.id, job.rm.name, job.rm.restarts, {});
    target.owner = owner_of(job.rm);
    return target;
}

void order(StepContext& ctx, JobState& job, GangStage stage) {
    auto& plan = *job.plan;
    plan.stage = stage;
    plan.unsure = false;
    plan.number = ++job.plans;
    Action action;
    action.id = plan_action(job.rm.id, plan);
    if (stage == GangStage::ordered)
        action.what = PlaceJob{target_of_plan(job), plan.hosts};
    else if (stage == GangStage::requeuing)
        action.what = RequeueJob{target_of_plan(job), {}};
    else
        action.what = ParkJob{target_of_plan(job), job.rm.home};
    ctx.emit(action);
}

void pause(StepContext& ctx, GangPlan& plan) {
    plan.stage = GangStage::failed;
    plan.next_try = ctx.now + std::min(longest_pause, first_pause * (1 << std::min(plan.tries, 16U)));
    ++plan.tries;
    ctx.changed();
}

void park(StepContext& ctx, JobState& job, GangStage stage = GangStage::parking) {
    if (!job.plan) job.plan = GangPlan{0, job.rm.restarts, {}, ctx.now, GangStage::failed, {}, 0, false};
    order(ctx, job, stage);
}

bool is_under_way(const StepContext& ctx, const JobState& job) {
    return job.plan && (job.plan->acts() || (job.plan->tries > 0 && ctx.now < job.plan->next_try));
}

// Its host was cut off so long that its processes were ended there, and came back before the resource manager
// gave it up. Returns whether this is so.
bool begin_again(StepContext& ctx, JobState& job) {
    const auto host = ended_on(ctx.state, job);
    if (host.empty()) return false;
    if (is_under_way(ctx, job)) return true;
    if (!job.plan || job.plan->tries == 0)
        ctx.note_job(NoteKind::decision, job.rm,
                     fmt::format("{} was cut off, and its processes there were ended: it is requeued", host));
    park(ctx, job, GangStage::requeuing);
    return true;
}

// Once for each start.
void check_start(StepContext& ctx, JobState& job) {
    if (job.checked_start == job.rm.restarts) return;
    job.checked_start = job.rm.restarts;
    ctx.changed();
    const auto runs = base::fold_hostlist(job.rm.nodes);
    if (!job.plan || job.plan->hosts.empty())
        ctx.note_job(NoteKind::signal, job.rm,
                     fmt::format("runs on {}, which Railyard has not chosen: it was started past the parking "
                                 "queue, or before Railyard was there",
                                 runs));
    else if (job.plan->hosts != job.rm.nodes)
        ctx.note_job(
            NoteKind::signal, job.rm,
            fmt::format("runs on {}, but was placed on {}", runs, base::fold_hostlist(job.plan->hosts)));
}

void tend_running(StepContext& ctx, JobState& job) {
    check_start(ctx, job);
    if (begin_again(ctx, job)) return;
    // It may have started while it was being held, which stops it.
    const bool stopped = job.rm.phase == JobPhase::suspended;
    if (job.plan && job.plan->unsure && job.plan->stage == GangStage::failed && stopped)
        return park(ctx, job);
    if (!is_released(job.rm)) {
        if (job.plan) ctx.changed();
        job.plan.reset();
        return;
    }
    if (is_under_way(ctx, job)) return;
    park(ctx, job);
}

void tend_waiting(StepContext& ctx, JobState& job) {
    auto& plan = job.plan;
    if (!is_released(job.rm)) {
        // It is not known whether the order before the restart was carried out: the hold is assumed to be
        // ours, or an older one, which only another order can settle.
        if (plan && plan->unsure && job.rm.held) return park(ctx, job);
        // Moved back by someone else, or never moved.
        if (plan && plan->stage == GangStage::released) plan.reset();
        return;
    }
    if (!plan) return park(ctx, job); // who put it there, and for which hosts, is not known
    if (plan->stage == GangStage::failed && ctx.now >= plan->next_try) return park(ctx, job);
    if (plan->stage != GangStage::released) return;
    // A host drained or lost since then: the gang cannot start there.
    if (const auto why = why_not_on(ctx.state, plan->hosts); !why.empty()) {
        ctx.note_job(NoteKind::outcome, job.rm, why + " before it was started there: it is placed anew");
        return park(ctx, job);
    }
    if (ctx.now - plan->made < ctx.policy.start_within) return;
    if (plan->tries == 0)
        ctx.note_job(NoteKind::outcome, job.rm,
                     fmt::format("was not started on {} in {} s{}: it is placed anew",
                                 base::fold_hostlist(plan->hosts), (ctx.now - plan->made).count() / 1000,
                                 job.rm.why.empty() ? "" : " (" + job.rm.why + ")"));
    park(ctx, job);
}

} // namespace

std::string why_not_on(const State& state, const std::string& name) {
    const auto host = state.hosts.find(name);
    if (host == state.hosts.end() || !host->second.node) return name + " is not known";
    const auto& node = *host->second.node;
    if (node.down || node.not_responding) return name + " does not answer";
    if (node.drain || has_drain(state, name)) return name + " is drained";
    if (host->second.lost) return name + " is lost";
    return {};
}

std::string why_not_on(const State& state, const std::vector<std::string>& hosts) {
    for (const auto& name : hosts)
        if (auto why = why_not_on(state, name); !why.empty()) return why;
    return {};
}

void plan_gang(StepContext& ctx, const PlannedGang& gang) {
    const auto found = ctx.state.jobs.find(gang.id);
    if (found == ctx.state.jobs.end() || gang.hosts.empty()) return;
    auto& job = found->second;
    if (!is_gang(job.rm) || is_released(job.rm) || job.rm.phase != JobPhase::pending ||
        job.rm.restarts != gang.epoch)
        return;
    if (job.plan && (job.plan->holds() || ctx.now < job.plan->next_try)) return;
    if (!why_not_on(ctx.state, gang.hosts).empty()) return; // found since it was chosen
    const auto tries = job.plan ? job.plan->tries : 0;
    job.plan = GangPlan{0, gang.epoch, gang.hosts, ctx.now, GangStage::ordered, {}, tries, false};
    order(ctx, job, GangStage::ordered);
}

bool take_gang_outcome(StepContext& ctx, const ActionDone& done) {
    if (!done.action.starts_with("p-")) return false;
    const auto id = base::JobId::parse(std::string_view(done.action).substr(2, done.action.find('/') - 2));
    const auto found = id ? ctx.state.jobs.find(*id) : ctx.state.jobs.end();
    if (found == ctx.state.jobs.end()) return true;
    auto& job = found->second;
    if (!job.plan || plan_action(*id, *job.plan) != done.action || !job.plan->acts()) return true;
    ctx.changed();
    auto& plan = *job.plan;
    if (!done.error) {
        if (plan.stage == GangStage::ordered)
            plan.stage = GangStage::released;
        else
            pause(ctx, plan); // the next snapshot shows it at its destination
        return true;
    }
    if (done.error->code == base::Code::not_found) { // it has ended
        job.plan.reset();
        return true;
    }
    if (done.error->code == base::Code::unavailable) ctx.state.rm_answers = false;
    if (plan.tries == 0 && !done.obsolete)
        ctx.note_job(NoteKind::action, job.rm,
                     fmt::format("{}: {}; tried again",
                                 plan.stage == GangStage::ordered
                                     ? "not placed on " + base::fold_hostlist(plan.hosts)
                                 : plan.stage == GangStage::requeuing ? "not requeued"
                                 : job.rm.resumed                     ? "not held again"
                                                  : "not moved back to queue " + job.rm.home,
                                 state_text(done.error->text, 300)));
    pause(ctx, plan);
    return true;
}

void tend_gangs(StepContext& ctx) {
    for (auto& [id, job] : ctx.state.jobs) {
        if (!is_gang(job.rm)) continue;
        if (job.plan && job.plan->epoch != job.rm.restarts) { // requeued since then
            job.plan.reset();
            ctx.changed();
        }
        if (job.rm.phase == JobPhase::running || job.rm.phase == JobPhase::suspended)
            tend_running(ctx, job);
        else if (job.rm.phase == JobPhase::pending)
            tend_waiting(ctx, job);
    }
}

// Orders may or may not have been carried out. Hosts on which a job may start at any moment stay its own.
void forget_gang_orders(StepContext& ctx) {
    for (auto& [id, job] : ctx.state.jobs) {
        if (!job.plan || !job.plan->acts()) continue;
        if (job.plan->stage == GangStage::ordered) {
            job.plan->stage = GangStage::released;
        } else {
            // A completed requeue shows as the start after it.
            if (job.plan->stage == GangStage::requeuing) ++job.plan->epoch;
            job.plan->stage = GangStage::failed;
            job.plan->next_try = ctx.now;
        }
        job.plan->unsure = true;
        ctx.changed();
    }
}

} // namespace restart
