// The request of a waiting gang at a given moment. Pure.
#pragma once

#include "sched/lsf/dispatch.hpp"

#include <algorithm>

namespace sched::lsf {

// A moment before the gang became eligible counts as that one; far in the future every wish has ended.
inline Request asked(const WaitingGang& gang, const Options& options, base::Time when) {
    auto request = gang.request;
    const auto since = std::max(gang.eligible, base::Time{});
    apply_hints(gang.hints, std::max(when, since) - since, request);
    request.shared = options.share_hosts && gang.slots != 0;
    request.spare_floor = gang.restart ? 0 : options.spare_floor;
    return request;
}

} // namespace sched::lsf
