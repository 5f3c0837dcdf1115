// The sentences about a placement: why there, and why not.
#pragma once

#include "base/error.hpp"
#include "sched/say/tally.hpp"
#include "sched/search/bounds.hpp"
#include "sched/search/found.hpp"
#include "topo/fabric.hpp"

#include <string>
#include <vector>

namespace sched {

// For a placement that is not exact: how much better one that was not examined could be.
std::string not_exact(const Found& found, const Fewest& fewest);

std::vector<std::string> why_here(const topo::Fabric& fabric, const Loads& loads, const Found& found);

// Code::unfit. The caller knows that the request does not fit.
base::Error why_not(const topo::Fabric& fabric, const Loads& loads, const Remarks& remarks = {});

} // namespace sched
