#include "restart/core/step.hpp"

#include "restart/core/act/act.hpp"
#include "restart/core/act/gate.hpp"
#include "restart/core/decide/decide.hpp"
#include "restart/core/detect/common_cause.hpp"
#include "restart/core/detect/detect.hpp"
#include "restart/core/detect/peers.hpp"
#include "restart/core/facts/kept_jobs.hpp"
#include "restart/core/learn/learn.hpp"
#include "restart/core/repair/repair.hpp"

#include <algorithm>

namespace restart {
namespace {

void apply(StepContext& ctx, const Started&) {
    ctx.state.rm_read.reset();
    ctx.state.files.clear();
    ctx.state.rm_config.reset();
    // No number is used again, even if the last ones were not written.
    ctx.state.next_look =
        std::max(ctx.state.next_look, static_cast<std::uint64_t>(std::max<std::int64_t>(
                                          0, ctx.now.time_since_epoch() / base::Duration(1))));
    end_pauses(ctx);
    ctx.state.last_tick = ctx.now;
    start_grace(ctx);
    mark_unconfirmed(ctx);
    forget_gang_orders(ctx);
    forget_idle_check_orders(ctx);
}

void apply(StepContext& ctx, const Tick&) {
    grace_after_pause(ctx);
    end_pauses(ctx);
    check_silence(ctx);
    learn_passing(ctx);
    check_causes(ctx);
    decide_fresh(ctx);
    if (ctx.state.rm_read) {
        judge_paces(ctx);
        retry_waiting(ctx, false);
        decide_all(ctx);
        end_departures(ctx);
        end_crossings(ctx);
    }
}

void apply(StepContext& ctx, const FabricLoaded& event) {
    take_fabric(ctx, event);
    ctx.changed();
}

// Whether a job of the report was asked to save: a checkpoint in it lets the job go on at once.
bool saves(const State& state, const Report& report) {
    for (const auto& [number, incident] : state.incidents) {
        if (incident.phase != Phase::saving) continue;
        for (const auto& affected : incident.jobs)
            for (const auto& job : report.jobs)
                if (job.id == affected.id && job.ckpt) return true;
    }
    return false;
}

// Whether the preflight of a job there waits for a requeue.
bool asks_before_start(const Report& report) {
    return std::any_of(report.jobs.begin(), report.jobs.end(),
                       [](const JobReport& job) { return job.preflight && job.preflight->requeue; });
}

void apply(StepContext& ctx, const AgentReported& event) {
    take_report(ctx, event.report);
    if (take_sights(ctx, event.report)) check_silence(ctx);
    judge(ctx, event.report.host);
    decide_fresh(ctx);
    if (ctx.state.rm_read && asks_before_start(event.report)) decide_preflights(ctx);
    if (ctx.state.rm_read && saves(ctx.state, event.report)) decide_all(ctx);
}

void apply(StepContext& ctx, const FabricSwept& event) {
    take_sweep(ctx, event.report);
    check_silence(ctx);
    check_causes(ctx);
    decide_fresh(ctx);
}

void apply(StepContext& ctx, const RmRead& event) {
    const bool was_away = !ctx.state.rm_answers;
    take_snapshot(ctx, event.snapshot);
    reconcile(ctx);
    tend_gangs(ctx);
    retry_waiting(ctx, was_away);
    check_silence(ctx);
    check_files(ctx);
    check_causes(ctx);
    for (const auto& [name, host] : ctx.state.hosts)
        if (!host.findings.empty()) judge(ctx, name);
    decide_fresh(ctx);
    decide_all(ctx);
    decide_failures(ctx);
    decide_preflights(ctx);
    update_exclusions(ctx);
    begin_repairs(ctx);
    tend_idle_checks(ctx);
}

void apply(StepContext& ctx, const HostAsked& event) {
    take_answer(ctx, event);
    check_silence(ctx);
    decide_fresh(ctx);
}

void apply(StepContext& ctx, const RmUnavailable& event) {
    if (std::exchange(ctx.state.rm_answers, false))
        ctx.note_host(NoteKind::signal, {}, state_text("the resource manager does not answer: " + event.why));
}

void apply(StepContext& ctx, const ActionDone& event) {
    if (take_gang_outcome(ctx, event) || take_idle_check_outcome(ctx, event)) return;
    take_outcome(ctx, event);
    if (ctx.state.rm_read) decide_all(ctx);
}

void apply(StepContext& ctx, const OperatorDrain& event) {
    operator_drain(ctx, event);
}

void apply(StepContext& ctx, const OperatorResume& event) {
    operator_resume(ctx, event);
}

void apply(StepContext& ctx, const OperatorPause& event) {
    operator_pause(ctx, event);
    if (ctx.state.rm_read) decide_all(ctx);
}

void apply(StepContext& ctx, const OperatorGo& event) {
    operator_go(ctx, event);
    if (ctx.state.rm_read) decide_all(ctx);
}

void apply(StepContext& ctx, const GangsPlanned& event) {
    for (const auto& gang : event.gangs)
        plan_gang(ctx, gang);
}

void apply(StepContext& ctx, const MaintenanceWindows& event) {
    take_windows(ctx, event.open);
    if (ctx.state.rm_read) decide_all(ctx);
}

} // namespace

Step step(State state, const Event& event, base::Time now, const Policy& policy) {
    Step out;
    out.state = std::move(state);
    StepContext ctx(out, now, policy);
    std::visit([&](const auto& what) { apply(ctx, what); }, event);
    return out;
}

Reply reply_to(const State& state, const Report& report) {
    Reply reply;
    for (const auto& reported : report.jobs) {
        const auto* job = state.find_job(reported.id);
        if (job == nullptr || job->rm.uid != reported.uid || job->interval <= base::Duration{}) continue;
        const auto epoch = start_of(job->rm, reported.epoch);
        if (epoch < job->rm.restarts) continue;
        auto& answer = reply.jobs.emplace_back();
        answer.id = reported.id;
        answer.epoch = reported.epoch;
        answer.interval_s = base::to_seconds(job->interval);
        for (const auto& [number, incident] : state.incidents)
            for (const auto& affected : incident.jobs)
                if (affected.id == job->rm.id && affected.epoch == epoch && affected.save_by &&
                    affected.to_move()) {
                    answer.save_by = affected.save_by;
                    answer.incident = incident.id();
                }
        if (reported.preflight && !job->rm.checks.empty())
            answer.preflight.stays = "it tries an idle host";
        else if (reported.preflight && job->preflight && job->preflight->epoch == epoch)
            answer.preflight = {job->preflight->requeued.has_value(), job->preflight->stays};
        if (!reported.run || !job->run) continue;
        answer.order = order_for(state, *job);
        answer.suspected = suspects(state, *job->run);
    }
    if (report.looks) reply.looks = looks_for(state, report.host);
    reply.ends = ends_for(state, report);
    if (report.wants_witnesses) reply.witnesses = witnesses_for(state, report.host);
    return reply;
}

} // namespace restart
