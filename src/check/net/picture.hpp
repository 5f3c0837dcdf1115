// Draws the results of a tournament: SVG 1.1 that needs no script, no font and no other file. Pure.
#pragma once

#include "check/net/verdict.hpp"

#include <string>
#include <vector>

namespace check::net {

// With more hosts the pairs of a rail would be a grey cloud, and only the ends are drawn.
inline constexpr std::size_t most_hosts_in_pairs = 128;

// First a row for each rail and a column for each host, filled by the end's share of the rail's level; then
// for each rail a square of all measured pairs. Hosts are grouped by unit, with a gap between units; `units`:
// the unit's name of each host; empty: unknown. Named parts are framed, and listed below. Shares have colours
// that also differ in lightness (of Okabe and Ito), failures are a cross; what was not measured stays empty.
// Every end has a <title>. The same input always gives the same bytes.
std::string draw_svg(const Gathered& gathered, const Verdict& verdict, const std::vector<std::string>& units);

} // namespace check::net
