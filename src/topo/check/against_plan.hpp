// What is not as a cabling plan has it: certain, where check() can only judge by siblings.
#pragma once

#include "topo/check/check.hpp"

namespace topo {

// Deviations of `fabric` from `plan` (read/plan_file.hpp), and of check()'s findings those that no plan
// tells: names, rates, GPUs. Both must be derived. One fault gives one finding, a host or switch in another's
// place one. In the order of check(). O(n log n).
std::vector<Finding> check_against(const Fabric& plan, const Fabric& fabric);

} // namespace topo
