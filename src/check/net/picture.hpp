// What a tournament measured as a picture: SVG 1.1 that needs no script, no font and no other file. Pure.
#pragma once

#include "check/net/verdict.hpp"

#include <string>
#include <vector>

namespace check::net {

// Above so many hosts the pairs of a rail are a grey cloud, and only what each end is good for is drawn.
inline constexpr std::size_t most_hosts_in_pairs = 128;

// First a row for each rail and a column for each host, filled by the share of the rail's level that the end
// is good for; then for each rail a square of all pairs that were measured. Hosts stand by units, with a gap
// between two of them; `units`: of each host, by name; empty: unknown. What is named is framed, and listed
// below; shares are told by colours of another darkness each (of Okabe and Ito), what does not work by a
// cross; what was not measured stays empty. Every end has a <title>. The same input always gives the same
// bytes.
std::string draw_svg(const Gathered& gathered, const Verdict& verdict, const std::vector<std::string>& units);

} // namespace check::net
