// Deviations from a cabling plan: certain, whereas check() can only compare siblings.
#pragma once

#include "topo/check/check.hpp"

namespace topo {

// Deviations of `fabric` from `plan` (read/plan_file.hpp), and findings of check() about what is not in a
// plan: names, rates, GPUs. Both must be derived. One fault gives one finding; so does a host or switch in
// another's place. In the order of check(). O(n log n).
std::vector<Finding> check_against(const Fabric& plan, const Fabric& fabric);

} // namespace topo
