#include "restart/core/step.hpp"

#include "restart/core/turn.hpp"

#include <algorithm>

namespace restart {
namespace {

void apply(Turn& turn, const Started&) {
    turn.state.rm_read.reset();
    turn.state.files.clear();
    turn.state.rm_config.reset();
    turn.state.last_tick = turn.now;
    give_grace(turn);
    doubt_given(turn);
}

void apply(Turn& turn, const Tick&) {
    keep_grace(turn);
    check_silence(turn);
    if (turn.state.rm_read) {
        retry_waiting(turn, false);
        advance_all(turn);
    }
}

void apply(Turn& turn, const FabricLoaded& event) {
    take_units(turn, event.units);
    turn.changed();
}

void apply(Turn& turn, const AgentReported& event) {
    take_report(turn, event.report);
    judge(turn, event.report.host);
}

void apply(Turn& turn, const FabricSwept& event) {
    take_sweep(turn, event.report);
    check_silence(turn);
}

void apply(Turn& turn, const RmRead& event) {
    const bool was_away = !turn.state.rm_answers;
    take_snapshot(turn, event.snapshot);
    reconcile(turn);
    retry_waiting(turn, was_away);
    check_silence(turn);
    check_files(turn);
    for (const auto& [name, host] : turn.state.hosts)
        if (!host.findings.empty()) judge(turn, name);
    advance_all(turn);
    tend_exclusions(turn);
}

void apply(Turn& turn, const RmUnavailable& event) {
    if (std::exchange(turn.state.rm_answers, false))
        turn.note_host(NoteKind::signal, {}, printable("the resource manager does not answer: " + event.why));
}

void apply(Turn& turn, const ActionDone& event) {
    take_outcome(turn, event);
    if (turn.state.rm_read) advance_all(turn);
}

void apply(Turn& turn, const OperatorDrain& event) {
    operator_drain(turn, event);
}

void apply(Turn& turn, const OperatorResume& event) {
    operator_resume(turn, event);
}

} // namespace

Step step(State state, const Event& event, base::Time now, const Policy& policy) {
    Step out;
    out.state = std::move(state);
    Turn turn(out, now, policy);
    std::visit([&](const auto& what) { apply(turn, what); }, event);
    return out;
}

Reply reply_to(const State& state, const Report& report) {
    Reply reply;
    for (const auto& reported : report.jobs) {
        const auto* job = state.find_job(reported.id);
        if (job == nullptr || job->rm.uid != reported.uid || reported.epoch < job->rm.restarts ||
            job->interval <= base::Duration{})
            continue;
        auto& told = reply.jobs.emplace_back();
        told.id = reported.id;
        told.epoch = reported.epoch;
        told.interval_s = base::to_seconds(job->interval);
        for (const auto& [number, incident] : state.incidents)
            for (const auto& hurt : incident.jobs)
                if (hurt.id == job->rm.id && hurt.epoch == reported.epoch && hurt.save_by && !hurt.stopped &&
                    !hurt.settled && !hurt.observed) {
                    told.save_by = hurt.save_by;
                    told.incident = incident.id();
                }
    }
    return reply;
}

} // namespace restart
