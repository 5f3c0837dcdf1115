// The fields of a host's idle check. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/core/facts/action.hpp"
#include "restart/core/facts/idle_check.hpp"
#include "restart/core/facts/names.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<IdleCheck> auto& check) {
    codec("stage", check.stage);
    codec("number", check.number);
    codec("since", check.since);
    codec.maybe("job", check.job);
    codec.maybe("uid", check.uid);
    codec.maybe("told", check.told);
    codec.maybe("cut_short", check.cut_short);
    codec.maybe("done", check.done);
    codec.maybe("not_before", check.not_before);
    codec.maybe("failures", check.failures);
}

template <class Codec> void fields(Codec& codec, codec::Of<CheckHost> auto& action) {
    codec("host", action.host);
    codec("level", action.level);
    codec.maybe("partition", action.partition);
    codec.maybe("account", action.account);
    codec.maybe("qos", action.qos);
}

template <class Codec> void fields(Codec& codec, codec::Of<IdleCheckPolicy> auto& policy) {
    codec("every", policy.every);
    codec("level", policy.level);
    codec("max_at_once", policy.max_at_once);
    codec.maybe("partition", policy.partition);
    codec.maybe("account", policy.account);
    codec.maybe("qos", policy.qos);
}

} // namespace restart
