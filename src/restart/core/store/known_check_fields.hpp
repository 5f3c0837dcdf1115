// The fields of what is known about checks, for the state. Include only from .cpp files.
#pragma once

#include "restart/core/facts/known_check.hpp"
#include "restart/wire/report_fields.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<CheckReading> auto& reading) {
    codec("at", reading.at);
    codec("verdict", reading.verdict);
    codec.maybe("value", reading.value);
    codec.maybe("expected", reading.expected);
    codec.maybe("says", reading.says);
    codec.maybe("job", reading.job);
    codec.maybe("epoch", reading.epoch);
    codec.maybe("uid", reading.uid);
    codec.maybe("by_us", reading.by_us);
    codec.maybe("level", reading.level);
}

template <class Codec> void fields(Codec& codec, codec::Of<KnownCheck> auto& known) {
    codec("check", known.check);
    codec("component", known.component);
    codec.maybe("unit", known.unit);
    codec("readings", known.readings);
}

} // namespace restart
