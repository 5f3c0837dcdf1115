// Whether a gang fits at all: exact, and linear in the hosts.
//
// Of a unit with f candidates, ⌊f/segment⌋ segments lie whole in it. A part of the fabric holds A segments
// and K spares exactly when it has every required host, A whole segments in all its units, A·segment + K
// candidates, and when the required hosts that the A segments leave out are no more than the spares.
#pragma once

#include "sched/loads.hpp"
#include "sched/search.hpp"

#include <cstdint>
#include <optional>

namespace sched {

// The most nodes, `least` to `most`, whole segments beside the spares, that fit within the request's span;
// nothing: none do. Loads::need() is not asked.
std::optional<std::uint32_t> largest_that_fits(const Loads& loads, std::uint32_t least, std::uint32_t most);

// The least nodes that let all required hosts be in: whole segments beside the spares. Nothing: however many
// nodes, too many of them lie where no segment fits.
std::optional<std::uint32_t> least_for_required(const Loads& loads);

} // namespace sched
