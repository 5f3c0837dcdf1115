// The fields of what is learned, for the state's codec. Internal to restart/core; include only from .cpp
// files and state_fields.hpp.
#pragma once

#include "restart/core/estimate/rates.hpp"
#include "restart/core/estimate/starts.hpp"
#include "restart/wire/codec.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<LearnedPeriod> auto& period) {
    codec("number", period.number);
    codec("host_seconds", period.host_seconds);
    codec.maybe("faults", period.faults);
    codec.maybe("shared", period.shared);
}

template <class Codec> void fields(Codec& codec, codec::Of<RecentFault> auto& fault) {
    codec("host", fault.host);
    codec("at", fault.at);
    codec.maybe("shared", fault.shared);
}

template <class Codec> void fields(Codec& codec, codec::Of<ProgramStarts> auto& program) {
    codec.maybe("first", program.first);
    codec.maybe("again", program.again);
    codec("last", program.last);
}

template <class Codec> void fields(Codec& codec, codec::Of<Learned> auto& learned) {
    codec.maybe("periods", learned.periods);
    codec.maybe("recent", learned.recent);
    codec.maybe("counted", learned.counted);
    codec.maybe("shared_at", learned.shared_at);
    codec.maybe("repairs", learned.repairs);
    codec.maybe("detections", learned.detections);
    codec.maybe("restarts", learned.restarts);
}

} // namespace restart
