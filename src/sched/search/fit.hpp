// Whether a gang fits at all: exact, and linear in the hosts.
//
// Of a unit with f candidates, ⌊f/segment⌋ segments lie whole in it. A part of the fabric holds A segments
// and K spares exactly when it has every required host, A whole segments in all its units, A·segment + K
// candidates, and when the required hosts that the A segments leave out are no more than the spares.
#pragma once

#include "sched/search/loads.hpp"

#include <cstdint>
#include <optional>

namespace sched {

// The largest node count of a request's range that is not above `most`: whole segments beside the spares, and
// not spares alone. nullopt: there is none. The caller checks the range's lower end.
std::optional<std::uint32_t> nodes_at_most(const Request& request, std::uint32_t most);

// The most nodes, `least` to `most`, whole segments beside the spares, that fit within the request's span;
// nullopt: none do. Does not use Loads::need().
std::optional<std::uint32_t> largest_that_fits(const Loads& loads, std::uint32_t least, std::uint32_t most);

// The fewest nodes with which all required hosts can be in: whole segments beside the spares. nullopt: with
// any number of nodes, too many required hosts are where no segment fits.
std::optional<std::uint32_t> least_for_required(const Loads& loads);

} // namespace sched
