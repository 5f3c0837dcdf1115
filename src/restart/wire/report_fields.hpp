// The protocol's fields and bounds, for report.cpp and for the daemon's state, which keeps some of the same
// structs. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/wire/codec.hpp"
#include "restart/wire/report.hpp"

#include <array>

namespace restart {

template <> struct codec::Names<Severity> {
    static constexpr std::array<std::string_view, 4> names{"info", "warn", "evict", "fatal"};
};

template <class Codec> void fields(Codec& codec, codec::Of<Finding> auto& finding) {
    codec("rule", finding.rule, 64);
    codec("component", finding.component, 64);
    codec("severity", finding.severity);
    codec("since", finding.since);
    codec("evidence", finding.evidence, 512);
}

template <class Codec> void fields(Codec& codec, codec::Of<Commit> auto& commit) {
    codec("step", commit.step);
    codec("path", commit.path, 4095);
    codec("committed", commit.committed);
    codec("cost_s", commit.cost_s);
    codec("bytes", commit.bytes);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobReport> auto& job) {
    codec("id", job.id);
    codec("epoch", job.epoch);
    codec("uid", job.uid);
    codec.maybe("ckpt", job.ckpt);
}

template <class Codec> void fields(Codec& codec, codec::Of<Report> auto& report) {
    codec("host", report.host, 64);
    codec("boot_id", report.boot_id, 64);
    codec.maybe("not_watching", report.not_watching, 32);
    codec.maybe("fabric", report.fabric, 32);
    codec("findings", report.findings, 256);
    codec.maybe("jobs", report.jobs, 1024);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobReply> auto& job) {
    codec("id", job.id);
    codec("epoch", job.epoch);
    codec("interval_s", job.interval_s);
    codec("save_by", job.save_by);
    codec("incident", job.incident, 64);
}

template <class Codec> void fields(Codec& codec, codec::Of<Reply> auto& reply) {
    codec("jobs", reply.jobs, 1024);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostLinks> auto& links) {
    codec("links_up", links.links_up);
    codec("links_total", links.links_total);
}

template <class Codec> void fields(Codec& codec, codec::Of<FabricReport> auto& report) {
    codec("hosts", report.hosts, 100'000);
    codec("hosts_seen", report.hosts_seen);
    codec("complete", report.complete);
}

} // namespace restart
