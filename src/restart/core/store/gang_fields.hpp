// The fields of a gang's plan. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/core/facts/gang_plan.hpp"
#include "restart/core/facts/names.hpp"
#include "restart/core/facts/rm.hpp"

namespace restart {

// Where a gang is (RmJob).
template <class Codec> void gang_fields(Codec& codec, codec::Of<RmJob> auto& job) {
    codec.maybe("queue", job.queue);
    codec.maybe("home", job.home);
    codec.maybe("resumed", job.resumed);
    codec.maybe("held", job.held);
}

template <class Codec> void fields(Codec& codec, codec::Of<GangPlan> auto& plan) {
    codec("number", plan.number);
    codec("epoch", plan.epoch);
    codec("hosts", plan.hosts);
    codec("made", plan.made);
    codec("stage", plan.stage);
    codec.maybe("next_try", plan.next_try);
    codec.maybe("tries", plan.tries);
    codec.maybe("unsure", plan.unsure);
}

} // namespace restart
