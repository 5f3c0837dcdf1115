// The fields of the paces that restartd keeps. Internal to restart/core; include only from .cpp files.
#pragma once

#include "restart/core/straggle/paces.hpp"
#include "restart/wire/pace_fields.hpp"

#include <array>

namespace restart {

template <> struct codec::Names<StragglerVerdict> {
    static constexpr std::array<std::string_view, 3> names{"none", "found", "unknown"};
};

template <class Codec> void fields(Codec& codec, codec::Of<JobMarks> auto& marks) {
    codec("id", marks.id);
    codec("epoch", marks.epoch);
    codec("ranks", marks.ranks, most_paced_ranks);
    codec.maybe("ras", marks.ras, most_ras_signs);
}

template <class Codec> void fields(Codec& codec, codec::Of<StoredPace> auto& stored) {
    codec("came", stored.came);
    codec("pace", stored.pace);
    codec.maybe("marks", stored.marks);
}

template <class Codec> void fields(Codec& codec, codec::Of<Straggler> auto& straggler) {
    codec("host", straggler.host);
    codec.added("gpu", straggler.gpu);
    codec.maybe("port", straggler.port);
    codec.added("rail", straggler.rail);
    codec.maybe("leaf", straggler.leaf);
    codec("score", straggler.score);
    codec("confidence", straggler.confidence);
    codec.maybe("evidence", straggler.evidence);
}

template <class Codec> void fields(Codec& codec, codec::Of<JobPace> auto& pace) {
    codec("judged", pace.judged);
    codec("verdict", pace.verdict);
    codec.maybe("suspect", pace.suspect);
    codec.maybe("missing", pace.missing);
    codec.maybe("held_back", pace.held_back);
    codec.maybe("since", pace.since);
    codec.maybe("cleared", pace.cleared);
    codec.maybe("gpus", pace.gpus);
}

} // namespace restart
