// The fields of status.hpp. Internal to restart/wire; include only from .cpp files.
#pragma once

#include "restart/wire/plan_fields.hpp"
#include "restart/wire/rates_fields.hpp"
#include "restart/wire/report_fields.hpp"
#include "restart/wire/status.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<AgentStatus> auto& agent) {
    codec.added("last_report", agent.last_report);
    codec.added("silent", agent.silent);
    codec.added("not_watching", agent.not_watching);
    codec.added("slurmd", agent.slurmd);
}

template <class Codec> void fields(Codec& codec, codec::Of<LinkStatus> auto& links) {
    codec("up", links.up);
    codec("total", links.total);
}

template <class Codec> void fields(Codec& codec, codec::Of<PeerStatus> auto& peer) {
    codec("host", peer.host);
    codec("saw", peer.saw);
    codec.maybe("at", peer.at);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostStatus> auto& host) {
    codec("name", host.name);
    codec.added("unit", host.unit);
    codec.added("state", host.state);
    codec.added("reason", host.reason);
    codec.added("set_by", host.set_by);
    codec.added("down", host.down);
    codec.added("drain", host.drain);
    codec.added("not_responding", host.not_responding);
    codec.added("use", host.use);
    codec.added("lost", host.lost);
    codec.added("agent", host.agent);
    codec.maybe("links", host.links);
    codec.maybe("peers", host.peers);
    codec.added("findings", host.findings);
    codec.added("incident", host.incident);
    codec.maybe("repair", host.repair);
}

template <class Codec> void fields(Codec& codec, codec::Of<ComponentStatus> auto& component) {
    codec("id", component.id);
    codec("name", component.name);
    codec("nodes", component.nodes);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobPaceStatus> auto& pace) {
    codec("verdict", pace.verdict);
    codec("judged", pace.judged);
    codec.added("suspect", pace.suspect);
    codec.maybe("host", pace.host);
    codec.added("gpu", pace.gpu);
    codec.added("rail", pace.rail);
    codec.maybe("port", pace.port);
    codec.maybe("leaf", pace.leaf);
    codec.added("score", pace.score);
    codec.added("confidence", pace.confidence);
    codec.maybe("evidence", pace.evidence);
    codec.maybe("since", pace.since);
    codec.maybe("missing", pace.missing);
    codec.maybe("gpus", pace.gpus);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobStatus> auto& job) {
    codec("id", job.id);
    codec.added("name", job.name);
    codec.added("interactive", job.interactive);
    codec.added("components", job.components);
    codec.added("uid", job.uid);
    codec.added("state", job.state);
    codec("nodes", job.nodes);
    codec.added("node_count", job.node_count);
    codec.added("epoch", job.epoch);
    codec.added("start", job.start);
    codec.added("restart", job.restart);
    codec.added("ckpt_dir", job.ckpt_dir);
    codec.added("excluded", job.excluded);
    codec.added("why_pending", job.why_pending);
    codec.added("speaks", job.speaks);
    codec.added("commit", job.commit);
    codec.added("cost_s", job.cost_s);
    codec.added("interval_s", job.interval);
    codec.added("requeues", job.requeues);
    codec.maybe("pace", job.pace);
    codec.maybe("nccl_host", job.nccl_host);
    codec.maybe("nccl", job.nccl);
}

template <class Codec> void fields(Codec& codec, codec::Of<CostTermStatus> auto& term) {
    codec("name", term.name);
    codec("node_hours", term.node_hours);
    codec("from", term.from);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobCostStatus> auto& cost) {
    codec("slowdown", cost.slowdown);
    codec("slowed_by", cost.slowed_by);
    codec("nodes", cost.nodes);
    codec("stays_s", cost.stays);
    codec("stays_from", cost.stays_from);
    codec("waiting", cost.waiting);
    codec("moving", cost.moving);
    codec("terms", cost.terms);
}

template <class Codec> void fields(Codec& codec, codec::Of<IncidentJobStatus> auto& job) {
    codec("id", job.id);
    codec.added("name", job.name);
    codec.added("epoch", job.epoch);
    codec.added("recover", job.recover);
    codec.added("left", job.left);
    codec.added("cost", job.cost);
    codec.added("save_by", job.save_by);
    codec.added("last", job.last);
    codec.added("stopped", job.stopped);
    codec.added("settled", job.settled);
}

template <class Codec> void fields(Codec& codec, codec::Of<ActionStatus> auto& action) {
    codec("id", action.id);
    codec("kind", action.kind);
    codec("text", action.text);
    codec("progress", action.progress);
    codec.added("tries", action.tries);
}

template <class Codec> void fields(Codec& codec, codec::Of<IncidentStatus> auto& incident) {
    codec("id", incident.id);
    codec("kind", incident.kind);
    codec("phase", incident.phase);
    codec("host", incident.host);
    codec("what", incident.what);
    codec("opened", incident.opened);
    codec.added("fault", incident.fault);
    codec.added("jobs", incident.jobs);
    codec.added("actions", incident.actions);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmStatus> auto& rm) {
    codec("answers", rm.answers);
    codec.added("read", rm.read);
}

template <class Codec> void fields(Codec& codec, codec::Of<JournalStatus> auto& journal) {
    codec("file", journal.file);
    codec("error", journal.error);
}

template <class Codec> void fields(Codec& codec, codec::Of<PrimaryStatus> auto& primary) {
    codec("host", primary.host);
    codec("url", primary.url);
    codec("epoch", primary.epoch);
}

template <class Codec> void fields(Codec& codec, codec::Of<FabricStatus> auto& fabric) {
    codec("error", fabric.error);
}

template <class Codec> void fields(Codec& codec, codec::Of<WitnessStatus> auto& witnesses) {
    codec("hosts", witnesses.hosts);
    codec("agents", witnesses.agents);
    codec("gives_up_s", witnesses.gives_up);
    codec("swept_s", witnesses.swept);
    codec("slow", witnesses.slow);
    codec("sentences", witnesses.sentences);
}

template <class Codec> void fields(Codec& codec, codec::Of<InstallationStatus> auto& installation) {
    codec("missing", installation.missing);
}

template <class Codec> void fields(Codec& codec, codec::Of<BadLinkStatus> auto& link) {
    codec("finding", link.finding);
    codec.maybe("jobs", link.jobs);
}

template <> struct codec::Names<Passing> {
    static constexpr std::array<std::string_view, 4> names{"all", "some", "none", "other"};
};

template <class Codec> void fields(Codec& codec, codec::Of<UsedLinkStatus> auto& link) {
    codec("finding", link.finding);
    codec("hosts", link.hosts);
    codec("passing", link.passing);
    codec("says", link.says);
}

template <class Codec> void fields(Codec& codec, codec::Of<UsedLinksStatus> auto& links) {
    codec("judged_s", links.judged);
    codec("counters", links.counters);
    codec.maybe("unknown", links.unknown);
    codec("findings", links.findings);
    codec.maybe("down", links.down);
}

template <class Codec> void fields(Codec& codec, codec::Of<Status> auto& status) {
    codec.added("time", status.time);
    codec.added("observe_only", status.observe_only);
    codec.added("modes", status.modes);
    codec.added("resource_manager", status.resource_manager);
    codec.added("journal", status.journal);
    codec.maybe("primary", status.primary);
    codec.added("fabric", status.fabric);
    codec.added("witnesses", status.witnesses);
    codec.added("installation", status.installation);
    codec.added("drained_by_railyard", status.drained_by_railyard);
    codec("hosts", status.hosts);
    codec.added("unknown_hosts", status.unknown_hosts);
    codec("jobs", status.jobs);
    codec.added("incidents", status.incidents);
    codec.maybe("links", status.links);
    codec.maybe("counters", status.counters);
    codec.added("not_shown", status.not_shown);
}

template <class Codec> void fields(Codec& codec, codec::Of<TimelineEntry> auto& entry) {
    codec("time", entry.time);
    codec("kind", entry.kind);
    codec("incident", entry.incident);
    codec("host", entry.host);
    codec("job", entry.job);
    codec.added("job_name", entry.job_name);
    codec("text", entry.text);
}

template <class Codec> void fields(Codec& codec, codec::Of<EndedJobStatus> auto& ended) {
    codec("name", ended.name);
    codec("uid", ended.uid);
    codec("how", ended.how);
    codec("start", ended.start);
    codec("end", ended.end);
    codec("nodes", ended.nodes);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobExplanation> auto& explanation) {
    codec("time", explanation.time);
    codec("job", explanation.job);
    codec.maybe("ended", explanation.ended);
    codec.added("interval", explanation.interval);
    codec.added("program", explanation.program);
    codec.added("placement", explanation.placement);
    codec.maybe("links", explanation.links);
    codec("incidents", explanation.incidents);
    codec("timeline", explanation.timeline);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostExplanation> auto& explanation) {
    codec("time", explanation.time);
    codec("host", explanation.host);
    codec.maybe("links", explanation.links);
    codec("incidents", explanation.incidents);
    codec("timeline", explanation.timeline);
}

template <class Codec> void fields(Codec& codec, codec::Of<StoredAction> auto& action) {
    codec("id", action.id);
    codec("incident", action.incident);
    codec("kind", action.kind);
    codec("text", action.text);
    codec("state", action.state);
    codec("tries", action.tries);
    codec("created", action.created);
    codec("finished", action.finished);
    codec("error", action.error);
}

template <class Codec> void fields(Codec& codec, codec::Of<History> auto& history) {
    codec("timeline", history.timeline);
    codec("actions", history.actions);
}

} // namespace restart
