// The protocol's fields and bounds, for report.cpp and for the daemon's state, which keeps some of the same
// structs. Internal to restart/core; include only from .cpp files.
#pragma once

#include "base/host_state.hpp"
#include "restart/wire/codec.hpp"
#include "restart/wire/pace_fields.hpp"
#include "restart/wire/report.hpp"

#include <array>

namespace restart {

template <> struct codec::Names<base::HostState> {
    static constexpr std::array<std::string_view, 5> names{"free", "mixed", "busy", "drained", "down"};
};
template <> struct codec::Names<base::Knocked> {
    static constexpr std::array<std::string_view, 5> names{"unknown", "unreached", "refused", "mute",
                                                           "answers"};
};
template <> struct codec::Names<Kept> {
    static constexpr std::array<std::string_view, 3> names{"no", "here", "ended"};
};
template <> struct codec::Names<CheckVerdict> {
    static constexpr std::array<std::string_view, 5> names{"sound", "measured", "warning", "bad", "not run"};
};
template <> struct codec::Names<Severity> {
    static constexpr std::array<std::string_view, 4> names{"info", "warn", "evict", "fatal"};
};

namespace codec {
// Here because a codec looks here for the fields of a struct from outside restart.
template <class Codec> void fields(Codec& codec, Of<base::SlurmdRecord> auto& slurmd) {
    codec("plugins", slurmd.plugins, 16);
}
} // namespace codec

template <class Codec> void fields(Codec& codec, codec::Of<Finding> auto& finding) {
    codec("rule", finding.rule, 64);
    codec("component", finding.component, 64);
    codec("severity", finding.severity);
    codec("since", finding.since);
    codec("evidence", finding.evidence, 512);
    codec.maybe("fault", finding.fault, 32);
}

template <class Codec> void fields(Codec& codec, codec::Of<Commit> auto& commit) {
    codec("step", commit.step);
    codec("path", commit.path, 4095);
    codec("committed", commit.committed);
    codec("cost_s", commit.cost_s);
    codec("bytes", commit.bytes);
    codec.maybe("safe_s", commit.safe_s);
}

// Folded: some thousands of hosts whose names do not fold at all. A line of a job must hold two.
inline constexpr std::size_t longest_host_list = 12 << 10;

template <class Codec> void fields(Codec& codec, codec::Of<JobRun> auto& run) {
    codec("launch", run.launch);
    codec("hosts", run.hosts, longest_host_list);
    codec.maybe("spares", run.spares, longest_host_list);
    codec.maybe("ended", run.ended);
}

template <class Codec> void fields(Codec& codec, codec::Of<RunOrder> auto& order) {
    codec("launch", order.launch);
    codec("hosts", order.hosts, longest_host_list);
    codec("incident", order.incident, 64);
    codec.maybe("lost", order.lost);
}

template <class Codec> void fields(Codec& codec, codec::Of<NcclWord> auto& word) {
    codec("asked", word.asked);
    codec.maybe("troubles", word.troubles, most_nccl_troubles);
    codec.maybe("here", word.here, most_ras_signs);
}

template <class Codec> void fields(Codec& codec, codec::Of<ProgramFault> auto& fault) {
    codec("gpu", fault.gpu, 64);
    codec("xid", fault.xid);
    codec("process", fault.process);
    codec.maybe("text", fault.text, longest_fault);
}

// A line of a job must hold a preflight.
template <class Codec> void fields(Codec& codec, codec::Of<CheckWord> auto& word) {
    codec.maybe("host", word.host, 64);
    codec("check", word.check, 64);
    codec("component", word.component, 64);
    codec("verdict", word.verdict);
    codec.maybe("value", word.value);
    codec.maybe("unit", word.unit, 16);
    codec.maybe("expected", word.expected);
    codec.maybe("says", word.says, 160);
}

template <class Codec> void fields(Codec& codec, codec::Of<Preflight> auto& preflight) {
    codec.maybe("without", preflight.without, most_preflight_hosts);
    codec.maybe("requeue", preflight.requeue);
    codec.maybe("words", preflight.words, most_preflight_words);
    codec.maybe("level", preflight.level);
}

template <class Codec> void fields(Codec& codec, codec::Of<PreflightAdvice> auto& advice) {
    codec.maybe("requeued", advice.requeued);
    codec.maybe("stays", advice.stays, 200);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobReport> auto& job) {
    codec("id", job.id);
    codec("epoch", job.epoch);
    codec("uid", job.uid);
    codec.maybe("ckpt", job.ckpt);
    codec.maybe("run", job.run);
    codec.maybe("nccl", job.nccl);
    codec.maybe("ranks", job.ranks, most_paced_ranks);
    codec.maybe("stepped_s", job.stepped_s);
    codec.maybe("kept", job.kept);
    codec.maybe("preflight", job.preflight);
    codec.maybe("fault", job.fault);
}

template <class Codec> void fields(Codec& codec, codec::Of<LookRequest> auto& look) {
    codec("number", look.number);
    codec("host", look.host, 64);
    codec("address", look.address, 255);
    codec("port", look.port);
}

template <class Codec> void fields(Codec& codec, codec::Of<Sight> auto& sight) {
    codec("number", sight.number);
    codec("host", sight.host, 64);
    codec("saw", sight.saw);
}

template <class Codec> void fields(Codec& codec, codec::Of<Witness> auto& witness) {
    codec("host", witness.host, 64);
    codec("address", witness.address, 255);
    codec("port", witness.port);
}

template <class Codec> void fields(Codec& codec, codec::Of<PortName> auto& name) {
    codec("port", name.port, 64);
    codec("listed", name.listed, 64);
}

template <class Codec> void fields(Codec& codec, codec::Of<Report> auto& report) {
    codec("host", report.host, 64);
    codec("boot_id", report.boot_id, 64);
    codec.maybe("not_watching", report.not_watching, 32);
    codec.maybe("fabric", report.fabric, 32);
    codec.maybe("port_names", report.port_names, most_port_names);
    codec.maybe("slurmd", report.slurmd);
    codec("findings", report.findings, 256);
    codec.maybe("jobs", report.jobs, 1024);
    codec.maybe("leaving", report.leaving);
    codec.maybe("looks", report.looks);
    codec.maybe("sights", report.sights, most_looks);
    codec.maybe("tells", report.tells);
    codec.maybe("pace", report.pace);
    codec.maybe("wants_witnesses", report.wants_witnesses);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobReply> auto& job) {
    codec("id", job.id);
    codec("epoch", job.epoch);
    codec("interval_s", job.interval_s);
    codec("save_by", job.save_by);
    codec("incident", job.incident, 64);
    codec.maybe("order", job.order);
    codec.maybe("suspected", job.suspected);
    codec.maybe("preflight", job.preflight);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobEnd> auto& end) {
    codec("id", end.id);
    codec("epoch", end.epoch);
    codec("why", end.why, 200);
}

template <class Codec> void fields(Codec& codec, codec::Of<Reply> auto& reply) {
    codec("jobs", reply.jobs, 1024);
    codec.maybe("looks", reply.looks, most_looks);
    codec.maybe("tell", reply.tell);
    codec.maybe("ends", reply.ends, 1024);
    codec.maybe("witnesses", reply.witnesses, most_witnesses);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostLinks> auto& links) {
    codec("links_up", links.links_up);
    codec("links_total", links.links_total);
}

template <class Codec> void fields(Codec& codec, codec::Of<DownLink> auto& link) {
    codec("a", link.a, 128);
    codec("a_port", link.a_port, 64);
    codec("b", link.b, 128);
    codec("b_port", link.b_port, 64);
}

template <class Codec> void fields(Codec& codec, codec::Of<LinkFinding> auto& finding) {
    codec("rule", finding.rule, 64);
    codec("severity", finding.severity);
    codec("since", finding.since);
    codec("evidence", finding.evidence, 512);
    codec("a", finding.a, 128);
    codec("a_port", finding.a_port, 64);
    codec.maybe("b", finding.b, 128);
    codec.maybe("b_port", finding.b_port, 64);
    codec.added("rail", finding.rail);
    codec.maybe("unit", finding.unit, 64);
    codec.maybe("pod", finding.pod, 64);
    codec.maybe("hosts", finding.hosts, 1024);
}

template <class Codec> void fields(Codec& codec, codec::Of<CounterCoverage> auto& counters) {
    codec("ports", counters.ports);
    codec("answered", counters.answered);
    codec("took_s", counters.took_s);
}

template <class Codec> void fields(Codec& codec, codec::Of<FabricReport> auto& report) {
    codec("hosts", report.hosts, 100'000);
    codec("hosts_seen", report.hosts_seen);
    codec("complete", report.complete);
    codec.maybe("changes", report.changes);
    codec.maybe("age_s", report.age_s);
    codec.maybe("links_down", report.links_down, most_down_links);
    codec.maybe("findings", report.findings, most_link_findings);
    codec.maybe("counters", report.counters);
}

} // namespace restart
