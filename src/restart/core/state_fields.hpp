// The fields of State and of what it holds. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/core/names.hpp"
#include "restart/core/state.hpp"
#include "restart/wire/report_fields.hpp"

namespace restart {

inline constexpr std::uint32_t oldest_state_version = 1, state_version = 2;

template <class Codec> void fields(Codec& codec, codec::Of<RmNode> auto& node) {
    codec("name", node.name);
    codec("state", node.state);
    codec.maybe("down", node.down);
    codec.maybe("drain", node.drain);
    codec.maybe("not_responding", node.not_responding);
    codec.maybe("automatic", node.automatic);
    codec.maybe("reason", node.reason);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmComponent> auto& component) {
    codec("id", component.id);
    codec("name", component.name);
    codec.maybe("nodes", component.nodes);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmJob> auto& job) {
    codec("id", job.id);
    codec.maybe("name", job.name);
    codec("uid", job.uid);
    codec("phase", job.phase);
    codec.maybe("nodes", job.nodes);
    codec("node_count", job.node_count);
    codec("restarts", job.restarts);
    codec("start", job.start);
    codec.maybe("begin", job.begin);
    codec.maybe("interactive", job.interactive);
    codec.maybe("requeue", job.requeue);
    codec.maybe("restart", job.restart);
    codec.maybe("ckpt_dir", job.ckpt_dir);
    codec.maybe("excluded", job.excluded);
    codec.maybe("why", job.why);
    codec.maybe("components", job.components);
}

template <class Codec> void fields(Codec& codec, codec::Of<Action> auto& action) {
    codec("id", action.id);
    codec("kind", action.kind);
    codec.maybe("host", action.host);
    codec.maybe("reason", action.reason);
    codec.maybe("drain", action.drain);
    codec.maybe("job", action.job);
    codec.maybe("job_name", action.job_name);
    codec.maybe("epoch", action.epoch);
    codec.maybe("generation", action.generation);
    codec.maybe("exclude", action.exclude);
    codec.maybe("readmit", action.readmit);
    codec.maybe("hold", action.hold);
}

template <class Codec> void fields(Codec& codec, codec::Of<Intent> auto& intent) {
    codec("action", intent.action);
    codec("progress", intent.progress);
    codec.maybe("next_try", intent.next_try);
    codec.maybe("tries", intent.tries);
    codec.maybe("seen", intent.seen);
}

template <class Codec> void fields(Codec& codec, codec::Of<HurtJob> auto& job) {
    codec("id", job.id);
    codec.maybe("name", job.name);
    codec("epoch", job.epoch);
    codec("started", job.started);
    codec("recover", job.recover);
    codec.maybe("left", job.left);
    codec.maybe("observed", job.observed);
    codec.maybe("hold", job.hold);
    codec.maybe("asked", job.asked);
    codec.maybe("save_by", job.save_by);
    codec.maybe("last", job.last);
    codec.maybe("stopped", job.stopped);
    codec.maybe("settled", job.settled);
    codec.maybe("told_waiting", job.told_waiting);
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
    codec.maybe("jobs", incident.jobs);
    codec.maybe("intents", incident.intents);
    codec("next_action", incident.next_action);
    codec.maybe("told", incident.told);
    codec.maybe("observed", incident.observed);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostState> auto& host) {
    codec.maybe("unit", host.unit);
    codec.maybe("node", host.node);
    codec.maybe("last_report", host.last_report);
    codec.maybe("boot_id", host.boot_id);
    codec.maybe("generation", host.generation);
    codec.maybe("findings", host.findings);
    codec.maybe("pardoned", host.pardoned);
    codec.maybe("not_watching", host.not_watching);
    codec.maybe("fabric", host.fabric);
    codec.maybe("links", host.links);
    codec.maybe("dark_since", host.dark_since);
    codec.maybe("mute_since", host.mute_since);
    codec.maybe("lost", host.lost);
    codec.maybe("unsure", host.unsure);
    codec.maybe("doubted", host.doubted);
    codec.maybe("faults", host.faults);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobState> auto& job) {
    codec("rm", job.rm);
    codec.maybe("speaks", job.speaks);
    codec.maybe("commit", job.commit);
    codec.maybe("cost", job.cost);
    codec.maybe("interval", job.interval);
    codec.maybe("ran_on", job.ran_on);
    codec.maybe("ran_epoch", job.ran_epoch);
    codec.maybe("ran_since", job.ran_since);
    codec.maybe("left", job.left);
    codec.maybe("shed", job.shed);
    codec.maybe("requeues", job.requeues);
    codec.maybe("fruitless", job.fruitless);
    codec.maybe("requeued_epoch", job.requeued_epoch);
    codec.maybe("hurt_by", job.hurt_by);
    codec.maybe("kept_off", job.kept_off);
}

template <class Codec> void fields(Codec& codec, codec::Of<FileWord> auto& word) {
    codec("unfit", word.unfit);
    codec("since", word.since);
    codec.maybe("believed", word.believed);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmConfig> auto& config) {
    codec("slurmd_timeout", config.slurmd_timeout);
    codec.maybe("job_submit_plugins", config.job_submit_plugins);
    codec("select_type", config.select_type);
    codec("topology_plugin", config.topology_plugin);
}

// All but hosts, jobs and incidents, which are many.
template <class Codec> void few_fields(Codec& codec, codec::Of<State> auto& state) {
    codec("next_incident", state.next_incident);
    codec("last_tick", state.last_tick);
    codec.maybe("grace_from", state.grace_from);
    codec("grace_until", state.grace_until);
    codec.maybe("files", state.files);
    codec("rm_answers", state.rm_answers);
    codec.maybe("rm_read", state.rm_read);
    codec.maybe("swept", state.swept);
    codec.maybe("rm_config", state.rm_config);
}

template <class Codec> void fields(Codec& codec, codec::Of<State> auto& state) {
    codec("hosts", state.hosts);
    codec("jobs", state.jobs);
    codec("incidents", state.incidents);
    few_fields(codec, state);
}

} // namespace restart
