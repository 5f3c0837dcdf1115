// Segments and spares by one measure: counted as hosts, or as segments, whichever are scarcer. What is best
// for one of them alone, and also holds the other, is best for the gang. Internal to src/sched.
#pragma once

#include "sched/search/budget.hpp"
#include "sched/search/found.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sched {

// The best choice of a tier, at least an island, for a gang of loads.segmented() that is not idle_bound().
// `ordinary`: the search for that many hosts, which ignores segments; `deal` distributes the gang over units
// that hold it. nullopt: neither measure decides, for example if hosts are required. Costs two searches of
// one size.
std::optional<Found>
search_by_one_measure(const Loads& loads, Tier tier, Budget& budget,
                      const std::function<std::optional<Found>(Budget&)>& ordinary,
                      const std::function<Found(const std::vector<std::uint32_t>& units)>& deal);

} // namespace sched
