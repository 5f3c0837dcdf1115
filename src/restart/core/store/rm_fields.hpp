// The fields of a resource manager's nodes and of parts of its jobs. Internal to restart/core; include only
// from .cpp files.
#pragma once

#include "restart/core/facts/names.hpp"
#include "restart/core/facts/rm.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<RmNode> auto& node) {
    codec("name", node.name);
    codec("state", node.state);
    codec.maybe("down", node.down);
    codec.maybe("drain", node.drain);
    codec.maybe("not_responding", node.not_responding);
    codec.maybe("away", node.away);
    codec.maybe("rebooting", node.rebooting);
    codec.maybe("occupied", node.occupied);
    codec.maybe("maintenance", node.maintenance);
    codec.maybe("automatic", node.automatic);
    codec.maybe("use", node.use);
    codec.maybe("reason", node.reason);
    codec.maybe("set_by", node.set_by);
    codec.maybe("address", node.address);
    codec.maybe("port", node.port);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmComponent> auto& component) {
    codec("id", component.id);
    codec("name", component.name);
    codec.maybe("nodes", component.nodes);
}

template <class Codec> void fields(Codec& codec, codec::Of<RmFailure> auto& failure) {
    codec("code", failure.code);
    codec("ended", failure.ended);
    codec.maybe("nodes", failure.nodes);
    codec.maybe("signalled", failure.signalled);
    codec.maybe("step_failed", failure.step_failed);
    codec.maybe("unknown", failure.unknown);
}

template <class Codec> void fields(Codec& codec, codec::Of<Forgotten> auto& forgotten) {
    codec.maybe("why_not", forgotten.why_not);
    codec.maybe("asking", forgotten.asking);
}

template <class Codec> void fields(Codec& codec, codec::Of<FormerStart> auto& start) {
    codec("job", start.job);
    codec("epoch", start.epoch);
}

} // namespace restart
