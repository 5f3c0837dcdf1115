// Whether a gang fits at all: exact, and linear in the hosts.
//
// A unit with f candidates holds ⌊f/segment⌋ whole segments. A part of the fabric holds A segments and K
// spares exactly if it has every required host, its units hold A whole segments, it has A·segment + K
// candidates, and the required hosts outside the A segments are no more than the spares.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <optional>

namespace sched {

// The largest node count up to `most` that a request allows: whole segments plus the spares, and more than
// spares alone. nullopt: there is none. The caller checks the lower end of the range.
std::optional<std::uint32_t> nodes_at_most(const Request& request, std::uint32_t most);

// The most nodes from `least` to `most`, whole segments plus the spares, that fit within the request's span;
// nullopt: none. Does not use Loads::need().
std::optional<std::uint32_t> largest_that_fits(const Loads& loads, std::uint32_t least, std::uint32_t most);

// The smallest number of nodes that can include all required hosts: whole segments plus the spares. nullopt:
// none, as too many required hosts are where no segment fits.
std::optional<std::uint32_t> least_for_required(const Loads& loads);

} // namespace sched
