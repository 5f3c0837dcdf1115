// The sentences of a placement: why here, and why not.
#pragma once

#include "base/error.hpp"
#include "sched/found.hpp"
#include "sched/tally.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sched {

// Of a placement that is not exact.
inline constexpr std::string_view not_exact =
    "the best place found within the budget of work: there may be a better one";

std::vector<std::string> why_here(const topo::Fabric& fabric, const Loads& loads, const Found& found);

// Code::unfit. The caller knows that the request does not fit.
base::Error why_not(const topo::Fabric& fabric, const Loads& loads, const Remarks& remarks = {});

} // namespace sched
