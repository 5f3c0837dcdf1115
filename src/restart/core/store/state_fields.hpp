// The fields of State and of its parts. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/core/facts/names.hpp"
#include "restart/core/facts/state.hpp"
#include "restart/core/store/gang_fields.hpp"
#include "restart/core/store/idle_check_fields.hpp"
#include "restart/core/store/known_check_fields.hpp"
#include "restart/core/store/learned_fields.hpp"
#include "restart/core/store/paces_fields.hpp"
#include "restart/core/store/repair_fields.hpp"
#include "restart/core/store/rm_fields.hpp"
#include "restart/wire/report_fields.hpp"

namespace restart {

inline constexpr std::uint32_t oldest_state_version = 1, state_version = 2;

namespace codec {
// Of this kind.
template <std::size_t index = 0> decltype(Action::what) empty_action(ActionKind kind) {
    if constexpr (index < std::variant_size_v<decltype(Action::what)>) {
        if (static_cast<std::size_t>(kind) == index)
            return decltype(Action::what)(std::in_place_index<index>);
        return empty_action<index + 1>(kind);
    }
    return {};
}

// Here because a codec looks here for the fields of a struct from outside restart.
template <class Codec> void fields(Codec& codec, Of<sched::RestartOn::Codes> auto& codes) {
    codec("first", codes.first);
    codec("last", codes.last);
}
} // namespace codec

template <class Codec> void fields(Codec& codec, codec::Of<RmJob> auto& job) {
    codec("id", job.id);
    codec.maybe("name", job.name);
    codec.maybe("title", job.title);
    codec("uid", job.uid);
    codec.maybe("account", job.account);
    codec("phase", job.phase);
    codec.maybe("nodes", job.nodes);
    codec("node_count", job.node_count);
    codec("restarts", job.restarts);
    codec("start", job.start);
    codec.maybe("begin", job.begin);
    codec.maybe("ends", job.ends);
    codec.maybe("interactive", job.interactive);
    codec.maybe("requeue", job.requeue);
    codec.maybe("restart", job.restart);
    codec.maybe("unlaunched", job.unlaunched);
    codec.maybe("restart_max", job.restart_max);
    codec.maybe("restart_on", job.restart_on.codes);
    codec.maybe("no_kill", job.no_kill);
    codec.maybe("ckpt_dir", job.ckpt_dir);
    gang_fields(codec, job);
    codec.maybe("excluded", job.excluded);
    codec.maybe("required", job.required);
    codec.maybe("why", job.why);
    codec.maybe("components", job.components);
    codec.maybe("failure", job.failure);
    codec.maybe("forgotten", job.forgotten);
    codec.maybe("again", job.again);
    codec.maybe("checks", job.checks);
    codec.maybe("wanted", job.wanted);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobOwner> auto& owner) {
    codec("uid", owner.uid);
    codec.maybe("account", owner.account);
}

// Actions are flat: the fields of a kind are next to its name.
template <class Codec> void fields(Codec& codec, codec::Of<JobTarget> auto& job) {
    codec("job", job.id);
    codec.maybe("job_name", job.name);
    codec.maybe("epoch", job.epoch);
    codec.maybe("host", job.host);
    codec.maybe("owner", job.owner);
}

template <class Codec> void fields(Codec& codec, codec::Of<EndCheck> auto& action) {
    fields(codec, action.job);
}

template <class Codec> void fields(Codec& codec, codec::Of<DrainHost> auto& action) {
    codec("host", action.host);
    codec.maybe("reason", action.reason);
    codec.maybe("renew", action.renew);
}

template <class Codec> void fields(Codec& codec, codec::Of<RepairHost> auto& action) {
    codec("host", action.host);
    codec("rung", action.rung);
    codec.maybe("reason", action.reason);
    codec.maybe("boot_id", action.boot_id);
    codec.maybe("gpus", action.gpus);
    codec.maybe("fault", action.fault);
    codec.maybe("after", action.after);
}

template <class Codec> void fields(Codec& codec, codec::Of<FreeHost> auto& action) {
    codec("host", action.host);
    codec("jobs", action.jobs);
}

template <class Codec> void fields(Codec& codec, codec::Of<DownHost> auto& action) {
    codec("host", action.host);
    codec.maybe("reason", action.reason);
    codec.maybe("drain", action.drain);
    codec.maybe("generation", action.generation);
}

template <class Codec> void fields(Codec& codec, codec::Of<ResumeHost> auto& action) {
    codec("host", action.host);
}

template <class Codec> void fields(Codec& codec, codec::Of<RequeueJob> auto& action) {
    fields(codec, action.job);
    codec.maybe("exclude", action.exclude);
    codec.maybe("hold", action.hold);
    codec.maybe("ended", action.ended);
    codec.maybe("comment", action.comment);
    codec.maybe("had", action.had);
}

template <class Codec> void fields(Codec& codec, codec::Of<UpdateJob> auto& action) {
    fields(codec, action.job);
    codec.maybe("exclude", action.exclude);
    codec.maybe("comment", action.comment);
    codec.maybe("release", action.release);
    codec.maybe("had", action.had);
}

template <class Codec> void fields(Codec& codec, codec::Of<SubmitAgain> auto& action) {
    fields(codec, action.job);
    codec.maybe("exclude", action.exclude);
    codec.maybe("hold", action.hold);
    codec.maybe("comment", action.comment);
}

template <class Codec> void fields(Codec& codec, codec::Of<KeepOff> auto& action) {
    fields(codec, action.job);
    codec.maybe("exclude", action.exclude);
    codec.maybe("readmit", action.readmit);
}

template <class Codec> void fields(Codec& codec, codec::Of<NotifyJob> auto& action) {
    fields(codec, action.job);
    codec.maybe("reason", action.text);
}

template <class Codec> void fields(Codec& codec, codec::Of<PlaceJob> auto& action) {
    fields(codec, action.job);
    codec("hosts", action.hosts);
}

template <class Codec> void fields(Codec& codec, codec::Of<ParkJob> auto& action) {
    fields(codec, action.job);
    codec("queue", action.queue);
}

template <class Codec> void fields(Codec& codec, codec::Of<Action> auto& action) {
    codec("id", action.id);
    auto kind = kind_of(action);
    codec("kind", kind);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(action)>>)
        action.what = codec::empty_action(kind);
    std::visit([&](auto& what) { fields(codec, what); }, action.what);
}

template <class Codec> void fields(Codec& codec, codec::Of<Intent> auto& intent) {
    codec("action", intent.action);
    codec("progress", intent.progress);
    codec.maybe("next_try", intent.next_try);
    codec.maybe("tries", intent.tries);
    codec.maybe("seen", intent.seen);
    codec.maybe("found_bad", intent.found_bad);
}

template <class Codec> void fields(Codec& codec, codec::Of<AffectedJob> auto& job) {
    codec("id", job.id);
    codec.maybe("name", job.name);
    codec.maybe("owner", job.owner);
    codec("epoch", job.epoch);
    codec("started", job.started);
    bool recover = job.goal != JobGoal::stay, hold = job.goal == JobGoal::held,
         inside = job.goal == JobGoal::inside;
    codec("recover", recover);
    codec.maybe("hold", hold);
    codec.maybe("inside", inside);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(job)>>)
        job.goal = hold      ? JobGoal::held
                   : inside  ? JobGoal::inside
                   : recover ? JobGoal::elsewhere
                             : JobGoal::stay;
    codec.maybe("on", job.on);
    codec.maybe("left", job.left);
    codec.maybe("weighed", job.weighed);
    codec.maybe("asked", job.asked);
    codec.maybe("save_by", job.save_by);
    codec.maybe("last", job.last);
    codec.maybe("stopped", job.stopped);
    codec.maybe("launch", job.launch);
    codec.maybe("ordered", job.ordered);
    codec.maybe("settled", job.settled);
    codec.maybe("told_waiting", job.noted_waiting);
}

template <class Codec> void fields(Codec& codec, codec::Of<Withheld> auto& withheld) {
    codec("what", withheld.what);
    codec.maybe("job", withheld.job);
    codec("key", withheld.key);
    codec("why", withheld.why);
}

template <class Codec> void fields(Codec& codec, codec::Of<Incident> auto& incident) {
    codec("number", incident.number);
    codec("kind", incident.kind);
    codec("phase", incident.phase);
    codec("host", incident.host);
    codec("what", incident.what);
    codec("opened", incident.opened);
    codec("fault", incident.fault);
    codec.maybe("rules", incident.rules);
    codec.maybe("cause", incident.cause);
    codec.maybe("most_parts", incident.most_parts);
    codec.maybe("wait_until", incident.wait_until);
    codec.maybe("few_since", incident.few_since);
    codec.maybe("none_since", incident.none_since);
    codec.maybe("merged", incident.merged);
    codec.maybe("jobs", incident.jobs);
    codec.maybe("intents", incident.intents);
    codec("next_action", incident.next_action);
    codec.maybe("told", incident.drain_refusal);
    codec.maybe("withheld", incident.withheld);
    codec.maybe("fresh", incident.fresh);
    codec.maybe("learned", incident.learned);
    codec.maybe("decided", incident.decided);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostFault> auto& fault) {
    codec("at", fault.at);
    codec.maybe("what", fault.what);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostPort> auto& port) {
    codec("component", port.component);
    codec("rail", port.rail);
    codec.maybe("leaf", port.leaf);
    codec.maybe("peer", port.peer);
}

template <class Codec> void fields(Codec& codec, codec::Of<SwitchState> auto& one) {
    codec("tier", one.tier);
    codec.maybe("pod", one.pod);
    codec("links", one.links);
    codec.maybe("down", one.down);
}

template <class Codec> void fields(Codec& codec, codec::Of<Departure> auto& departure) {
    codec("at", departure.at);
    codec("boot_id", departure.boot_id);
    codec("idle", departure.idle);
    codec.maybe("incident", departure.incident);
    codec.maybe("back", departure.back);
}

template <class Codec> void fields(Codec& codec, codec::Of<KeptJob> auto& job) {
    codec("epoch", job.epoch);
    codec("uid", job.uid);
    codec("kept", job.kept);
    codec("since", job.since);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostState> auto& host) {
    codec.maybe("unit", host.unit);
    codec.maybe("pod", host.pod);
    codec.maybe("leaves", host.leaves);
    codec.maybe("ports", host.ports);
    codec.maybe("port_names", host.port_names);
    codec.maybe("node", host.node);
    codec.maybe("last_report", host.last_report);
    codec.maybe("boot_id", host.boot_id);
    codec.maybe("generation", host.generation);
    codec.maybe("findings", host.findings);
    codec.maybe("pardoned", host.overruled);
    codec.maybe("held_when_drained", host.held_when_drained);
    codec.maybe("explained", host.explained);
    codec.maybe("arrived", host.arrived);
    codec.maybe("not_watching", host.not_watching);
    codec.maybe("slurmd", host.slurmd);
    codec.maybe("looks", host.looks);
    codec.maybe("fabric", host.fabric);
    codec.maybe("links", host.links);
    codec.maybe("links_told", host.links_told);
    codec.maybe("dark_since", host.dark_since);
    codec.maybe("mute_since", host.unresponsive_since);
    codec.maybe("answers_none_since", host.mute_since);
    codec.maybe("lost", host.lost);
    codec.maybe("unsure", host.rm_confirmed_only);
    codec.maybe("together_until", host.together_until);
    codec.maybe("lost_at", host.lost_at);
    codec.maybe("drain_begun", host.drain_begun);
    codec.maybe("doubted", host.suspicion_dropped);
    codec.maybe("away_until", host.away_until);
    codec.maybe("alive_at", host.alive_at);
    if constexpr (std::same_as<Codec, codec::Taker>) { // only times, from an older release
        std::vector<base::Time> times;
        codec.maybe("faults", times);
        for (const auto& at : times)
            host.faults.push_back({at, {}});
    }
    codec.maybe("past_faults", host.faults);
    codec.maybe("kept", host.kept);
    codec.maybe("fault_at", host.fault_at);
    codec.maybe("broken_since", host.broken_since);
    codec.maybe("was_out", host.was_out);
    codec.maybe("departure", host.departure);
    codec.maybe("fault", host.fault);
    codec.maybe("repair", host.repair);
    codec.maybe("rungs_tried", host.rungs_tried);
    codec.maybe("returned", host.returned);
    codec.maybe("paces", host.paces);
    codec.maybe("checks", host.checks);
    codec.maybe("idle_check", host.idle_check);
}

template <class Codec> void fields(Codec& codec, codec::Of<RunState> auto& run) {
    codec("host", run.host);
    codec("launch", run.launch);
    codec("ranks", run.ranks);
    codec.maybe("spares", run.spares);
    codec.maybe("ended", run.ended);
    codec.maybe("gone", run.gone);
    codec.maybe("began", run.began);
}

template <class Codec> void fields(Codec& codec, codec::Of<PreflightState> auto& preflight) {
    codec("epoch", preflight.epoch);
    codec("host", preflight.host);
    codec("without", preflight.without);
    codec.maybe("why", preflight.why);
    codec.maybe("asks", preflight.asks);
    codec.maybe("requeued", preflight.requeued);
    codec.maybe("stays", preflight.stays);
    codec.maybe("times", preflight.times);
}

template <class Codec> void fields(Codec& codec, codec::Of<StepStart> auto& start) {
    codec("epoch", start.epoch);
    codec("launch", start.launch);
}

template <class Codec> void fields(Codec& codec, codec::Of<NcclState> auto& nccl) {
    codec("host", nccl.host);
    codec("at", nccl.at);
    codec("word", nccl.word);
}

template <class Codec> void fields(Codec& codec, codec::Of<CrashLoop> auto& crashes) {
    codec.maybe("futile", crashes.futile);
    codec.maybe("all", crashes.all);
    codec.maybe("progress", crashes.progress);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobState> auto& job) {
    codec("rm", job.rm);
    codec.maybe("speaks", job.connected);
    codec.maybe("commit", job.commit);
    codec.maybe("cost", job.cost);
    codec.maybe("safe_after", job.safe_after);
    codec.maybe("lost_host_s", job.lost_host_seconds);
    codec.maybe("interval", job.interval);
    codec.maybe("ran_on", job.ran_on);
    codec.maybe("ran_epoch", job.ran_epoch);
    codec.maybe("ran_since", job.ran_since);
    codec.maybe("left", job.left);
    codec.maybe("had", job.had);
    codec.maybe("shed", job.dropped_nodes);
    codec.maybe("run", job.run);
    codec.maybe("pace", job.pace);
    codec.maybe("nccl", job.nccl);
    codec.maybe("faulted", job.faulted);
    codec.maybe("stepped", job.stepped);
    codec.maybe("requeue_took", job.requeue_took);
    codec.maybe("preflight", job.preflight);
    codec.maybe("requeues", job.requeues);
    codec.maybe("crashes", job.crashes);
    codec.maybe("unlaunched", job.unlaunched);
    codec.maybe("requeued_epoch", job.requeued_epoch);
    codec.maybe("judged_epoch", job.judged_epoch);
    codec.maybe("withheld_epoch", job.withheld_epoch);
    codec.maybe("hurt_by", job.moved_off);
    codec.maybe("kept_off", job.excluded_by_us);
    codec.maybe("plan", job.plan);
    codec.maybe("plans", job.plans);
    codec.maybe("checked_start", job.checked_start);
}

template <class Codec> void fields(Codec& codec, codec::Of<FileTrust> auto& trust) {
    codec("unfit", trust.unfit);
    codec("since", trust.since);
    codec.maybe("believed", trust.trusted);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmPrivacy> auto& hides) {
    codec.maybe("jobs", hides.jobs);
    codec.maybe("nodes", hides.nodes);
    codec.maybe("events", hides.events);
    codec.maybe("by_label", hides.by_label);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmConfig> auto& config) {
    codec.maybe("gives_up", config.declares_down_after);
    codec.maybe("takes_flags", config.takes_flags);
    codec.maybe("chooses_nodes", config.chooses_nodes);
    codec.maybe("missing", config.missing);
    codec.maybe("hides", config.hides);
    codec.maybe("reboots", config.reboots);
}

template <class Codec> void fields(Codec& codec, codec::Of<PeerLook> auto& look) {
    codec("peer", look.peer);
    codec("stage", look.stage);
    codec("number", look.number);
    codec("asked", look.asked);
    codec.maybe("compared", look.compared);
    codec("saw", look.saw);
    codec.maybe("from", look.from);
}

template <class Codec> void fields(Codec& codec, codec::Of<PeerLooks> auto& looks) {
    codec("since", looks.since);
    codec("peers", looks.peers);
    codec("noted", looks.noted);
}

template <class Codec> void fields(Codec& codec, codec::Of<Crossing> auto& crossing) {
    codec("why", crossing.why);
    codec("since", crossing.since);
    codec("last", crossing.last);
}

template <class Codec> void fields(Codec& codec, codec::Of<Pause> auto& pause) {
    codec("user", pause.user);
    codec("reason", pause.reason);
    codec("since", pause.since);
    codec("until", pause.until);
    codec.maybe("hosts", pause.hosts);
}

template <class Codec> void fields(Codec& codec, codec::Of<Maintenance> auto& maintenance) {
    codec("window", maintenance.window);
    codec.maybe("hosts", maintenance.hosts);
}

// All but the many: hosts, jobs, incidents, switches and programs.
template <class Codec> void few_fields(Codec& codec, codec::Of<State> auto& state) {
    codec("next_incident", state.next_incident);
    codec("last_tick", state.last_tick);
    codec.maybe("grace_from", state.grace_from);
    codec("grace_until", state.grace_until);
    codec.maybe("files", state.files);
    codec("rm_answers", state.rm_answers);
    codec.maybe("rm_answers_since", state.rm_answers_since);
    codec.maybe("rm_read", state.rm_read);
    codec.maybe("swept", state.swept);
    codec.maybe("links", state.links, most_link_findings);
    codec.maybe("counters", state.counters);
    codec.maybe("links_judged", state.links_judged);
    codec.maybe("learned", state.learned);
    codec.maybe("pauses", state.pauses);
    codec.maybe("maintenance", state.maintenance);
    codec.maybe("crossings", state.crossings);
    codec.maybe("switch_restarts", state.switch_restarts);
    codec.maybe("looks", state.looks);
    codec.added("next_look", state.next_look);
    codec.maybe("no_idle_checks_before", state.no_idle_checks_before);
    codec.maybe("rm",
                state.rm_config); // an older release's "rm_config" is skipped: it is read again at a start
}

template <class Codec> void fields(Codec& codec, codec::Of<State> auto& state) {
    codec("hosts", state.hosts);
    codec("jobs", state.jobs);
    codec("incidents", state.incidents);
    codec.maybe("switches", state.switches);
    few_fields(codec, state);
    codec.maybe("programs", state.programs);
}

} // namespace restart
