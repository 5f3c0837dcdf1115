// The fields of a host's repair. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/core/facts/names.hpp"
#include "restart/core/facts/repair_state.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<Repair> auto& repair) {
    codec("incident", repair.incident);
    codec("fault", repair.fault);
    codec.maybe("at", repair.at);
    codec("stage", repair.stage);
    codec.maybe("healed", repair.healed);
    codec("begun", repair.begun);
    codec.maybe("boot_id", repair.boot_id);
    codec.maybe("clean_since", repair.clean_since);
    codec.maybe("faulty_since", repair.faulty_since);
    codec.maybe("passed", repair.passed);
    codec.maybe("failed", repair.failed);
    codec.maybe("untried", repair.untried);
}

template <class Codec> void fields(Codec& codec, codec::Of<Returned> auto& returned) {
    codec("fault", returned.fault);
    codec.maybe("at", returned.at);
    codec("when", returned.when);
}

} // namespace restart
