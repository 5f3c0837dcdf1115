// The fields of rates.hpp. Internal to restart/wire; include only from .cpp files.
#pragma once

#include "restart/wire/codec.hpp"
#include "restart/wire/rates.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<FailureStatus> auto& failures) {
    codec("mtbf_s", failures.mtbf);
    codec("low_s", failures.low);
    codec("high_s", failures.high);
    codec.maybe("dispersion", failures.dispersion);
    codec("faults", failures.faults);
    codec("host_hours", failures.host_hours);
    codec("shared_faults", failures.shared_faults);
    codec("prior_s", failures.prior);
    codec("prior_faults", failures.prior_faults);
}

template <class Codec> void fields(Codec& codec, codec::Of<TimesStatus> auto& times) {
    codec("count", times.count);
    codec("mean_s", times.mean);
    codec("median_s", times.median);
    codec("p90_s", times.p90);
}

template <class Codec> void fields(Codec& codec, codec::Of<RepairStatus> auto& repairs) {
    codec("mean_s", repairs.mean);
    codec("seen", repairs.seen);
    codec("ongoing", repairs.ongoing);
    codec("prior_s", repairs.prior);
}

template <class Codec> void fields(Codec& codec, codec::Of<SpareStatus> auto& spares) {
    codec("hosts", spares.hosts);
    codec("floor", spares.floor);
    codec("configured", spares.configured);
    codec("risk", spares.risk);
    codec("learned", spares.learned);
}

template <class Codec> void fields(Codec& codec, codec::Of<FormulaStatus> auto& formula) {
    codec("interval_s", formula.interval);
    codec("efficiency", formula.efficiency);
}

template <class Codec> void fields(Codec& codec, codec::Of<ProgramStatus> auto& program) {
    codec("time_s", program.time);
    codec("measured", program.count);
    codec("restarts", program.again);
    codec("name", program.name);
}

template <class Codec> void fields(Codec& codec, codec::Of<ProgramsStatus> auto& programs) {
    codec("configured_s", programs.configured);
    codec("names", programs.names);
    codec("restarts", programs.again);
    codec("first_starts", programs.first);
}

template <class Codec> void fields(Codec& codec, codec::Of<IntervalStatus> auto& choice) {
    codec("id", choice.id);
    codec("name", choice.name);
    codec("hosts", choice.hosts);
    codec("host_mtbf_s", choice.host_mtbf);
    codec("mtbf_s", choice.mtbf);
    codec("cost_s", choice.cost_s);
    codec("beside_s", choice.beside_s);
    codec("detection_s", choice.detection);
    codec("restart_s", choice.restart);
    codec.added("program", choice.program);
    codec("exact", choice.exact);
    codec("young", choice.young);
    codec("daly", choice.daly);
    codec("interval_s", choice.interval);
    codec("bound", choice.bound);
}

template <class Codec> void fields(Codec& codec, codec::Of<Rates> auto& rates) {
    codec("time", rates.time);
    codec("failures", rates.failures);
    codec("repairs", rates.repairs);
    codec("detections", rates.detections);
    codec("restarts", rates.restarts);
    codec.added("programs", rates.programs);
    codec("spares", rates.spares);
    codec("jobs", rates.jobs);
}

template <class Codec> void fields(Codec& codec, codec::Of<ReturnStatus> auto& repair) {
    codec("fault", repair.fault);
    codec("stage", repair.stage);
    codec("rung", repair.rung);
    codec("ladder", repair.ladder);
    codec("next", repair.next);
    codec("attempts", repair.attempts);
    codec("most_attempts", repair.most_attempts);
    codec("since", repair.since);
    codec.maybe("clean_since", repair.clean_since);
    codec.maybe("until", repair.until);
}

template <class Codec> void fields(Codec& codec, codec::Of<HostFaultStatus> auto& fault) {
    codec("time", fault.time);
    codec("what", fault.what);
}

template <class Codec> void fields(Codec& codec, codec::Of<LemonStatus> auto& host) {
    codec("name", host.name);
    codec("score", host.score);
    codec("faults", host.faults);
    codec("in_use", host.in_use);
    codec.maybe("repair", host.repair);
}

template <class Codec> void fields(Codec& codec, codec::Of<LossStatus> auto& job) {
    codec("id", job.id);
    codec("name", job.name);
    codec("uid", job.uid);
    codec("hosts", job.hosts);
    codec("requeues", job.requeues);
    codec("host_hours", job.host_hours);
}

template <class Codec> void fields(Codec& codec, codec::Of<Top> auto& top) {
    codec("time", top.time);
    codec("half_life_s", top.half_life);
    codec("hosts", top.hosts);
    codec("jobs", top.jobs);
}

} // namespace restart
