// The fields of Event, of Policy and of what step() returns, as core/event_log writes them. Internal to
// restart/core; include only from .cpp files.
#pragma once

#include "restart/core/facts/event.hpp"
#include "restart/core/facts/note.hpp"
#include "restart/core/facts/policy.hpp"
#include "restart/core/store/state_fields.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<RmWords> auto& words) {
    codec("controller", words.controller);
    codec("tool", words.tool);
    codec("interactive", words.interactive);
    codec("no_flags", words.no_flags);
    codec("readers", words.readers);
    codec("administrators", words.administrators);
    codec("coordinators", words.coordinators);
    codec("private_jobs", words.private_jobs);
    codec("private_nodes", words.private_nodes);
    codec("private_events", words.private_events);
}

template <class Codec> void fields(Codec& codec, codec::Of<RepairPolicy> auto& repair) {
    codec("max_at_once", repair.max_at_once);
    codec("attempts", repair.attempts);
    codec("forget_after", repair.forget_after);
    codec("relapse", repair.relapse);
    codec("clean_window", repair.clean_window);
    codec("rung_limit", repair.rung_limit);
    codec("resets_gpus", repair.resets_gpus);
    codec("cycles_power", repair.cycles_power);
    codec.maybe("checks", repair.checks);
    codec("ladders", repair.ladders);
}

// All of them: the unit test counts.
template <class Codec> void fields(Codec& codec, codec::Of<Policy> auto& policy) {
    codec("observe_only", policy.observe_only);
    codec("max_drained_percent", policy.max_drained_percent);
    codec("max_drained_absolute", policy.max_drained_absolute);
    codec("max_drained_per_unit", policy.max_drained_per_unit);
    codec("max_drained_per_leaf", policy.max_drained_per_leaf);
    codec("max_drained_per_pod", policy.max_drained_per_pod);
    codec("max_drained_per_hour", policy.max_drained_per_hour);
    codec("report_interval", policy.report_interval);
    codec("silent", policy.silent);
    codec("witness_wait", policy.witness_wait);
    codec("group_wait", policy.group_wait);
    codec("lost_window", policy.lost_window);
    codec("max_lost_percent", policy.max_lost_percent);
    codec("max_lost_per_unit", policy.max_lost_per_unit);
    codec("racks", policy.racks);
    codec("switch_restart", policy.switch_restart);
    codec("mtbf_node", policy.mtbf_node);
    codec("repair_time", policy.repair_time);
    codec("lemon_half_life", policy.lemon_half_life);
    codec("prior_faults", policy.prior_faults);
    codec("min_interval", policy.min_interval);
    codec("max_interval", policy.max_interval);
    codec("save_factor", policy.save_factor);
    codec("save_min", policy.save_min);
    codec("save_max", policy.save_max);
    codec("max_requeues", policy.max_requeues);
    codec("no_progress", policy.no_progress);
    codec("horizon", policy.horizon);
    codec("requeue_time", policy.requeue_time);
    codec("restart_time", policy.restart_time);
    codec.maybe("repair", policy.repair);                   // not in events of an older release
    codec.added("straggler_every", policy.straggler_every); // not in those of an older release
    codec.added("straggler_least", policy.straggler_least);
    codec.added("straggler_confidence", policy.straggler_confidence);
    codec.maybe("idle_checks", policy.idle_checks); // not in those of an older release
    codec.added("start_within", policy.start_within);
    codec.added("cut_off_after", policy.cut_off_after);
    codec("retry_most", policy.retry_most);
    codec("words", policy.words);
}

template <> struct codec::Names<Life> {
    static constexpr std::array<std::string_view, 3> names{"unknown", "answers", "mute"};
};
template <> struct codec::Names<base::Code> {
    static constexpr std::array<std::string_view, 8> names{"usage",  "input",       "not_found", "unfit",
                                                           "denied", "unavailable", "io",        "internal"};
};
namespace codec {
template <class Codec> void fields(Codec& codec, Of<base::Error> auto& error) {
    codec("code", error.code);
    codec("text", error.text);
}
} // namespace codec

template <class Codec> void fields(Codec& codec, codec::Of<Note> auto& note) {
    codec("time", note.time);
    codec("kind", note.kind);
    codec.maybe("incident", note.incident);
    codec.maybe("host", note.host);
    codec.maybe("job", note.job);
    codec("text", note.text);
    codec.maybe("owner", note.owner);
}

// The events that are written in full.
template <class Codec> void fields(Codec&, codec::Of<Started> auto&) {}
template <class Codec> void fields(Codec& codec, codec::Of<FabricLoaded> auto& event) {
    codec("units", event.units);
    codec.maybe("pods", event.pods);
    codec.maybe("leaves", event.leaves);
    codec.maybe("ports", event.ports);
    codec.maybe("switches", event.switches);
}
template <class Codec> void fields(Codec& codec, codec::Of<RmUnavailable> auto& event) {
    codec("why", event.why);
}
template <class Codec> void fields(Codec& codec, codec::Of<ActionDone> auto& event) {
    codec("action", event.action);
    codec("error", event.error);
    codec.maybe("obsolete", event.obsolete);
    codec.maybe("said", event.said);
}
template <class Codec> void fields(Codec& codec, codec::Of<OperatorDrain> auto& event) {
    codec("host", event.host);
    codec("reason", event.reason);
    codec("user", event.user);
}
template <class Codec> void fields(Codec& codec, codec::Of<OperatorResume> auto& event) {
    codec("host", event.host);
    codec("user", event.user);
}
template <class Codec> void fields(Codec& codec, codec::Of<HostAsked> auto& event) {
    codec("host", event.host);
    codec("life", event.life);
}
template <class Codec> void fields(Codec& codec, codec::Of<OperatorPause> auto& event) {
    codec.maybe("hosts", event.hosts);
    codec("lasts", event.lasts);
    codec("reason", event.reason);
    codec("user", event.user);
}
template <class Codec> void fields(Codec& codec, codec::Of<OperatorGo> auto& event) {
    codec.maybe("hosts", event.hosts);
    codec("user", event.user);
}
template <class Codec> void fields(Codec& codec, codec::Of<MaintenanceWindows> auto& event) {
    codec.maybe("open", event.open);
}
template <class Codec> void fields(Codec& codec, codec::Of<PlannedGang> auto& gang) {
    codec("id", gang.id);
    codec.maybe("epoch", gang.epoch);
    codec("hosts", gang.hosts);
}
template <class Codec> void fields(Codec& codec, codec::Of<GangsPlanned> auto& event) {
    codec("gangs", event.gangs);
}

} // namespace restart
