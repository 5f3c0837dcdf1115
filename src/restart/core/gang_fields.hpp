// The fields of a gang's plan. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/core/gang_plan.hpp"
#include "restart/core/names.hpp"

namespace restart {

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
