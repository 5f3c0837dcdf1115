// LSF's lsb.hosts(5): compute units, or, where there are none, host groups.
#pragma once

#include "base/expected.hpp"
#include "topo/read/outline.hpp"

#include <string_view>

namespace topo {

// With a ComputeUnit section, compute units are the units and what joins them, and host groups only stand for
// their hosts. Without, host groups of hosts are units and groups of groups join them; groups that mix both,
// leave hosts out (~) or come from egroup (!) are ignored, and a note says so. '*' and "all" are matched
// against the Host section. Errors (Code::input) say "NAME:LINE: …" and the token. Linear in the text and the
// names, but for wildcards, which are bounded.
base::Expected<Outline> parse_lsb_hosts(std::string_view text, std::string_view name);

} // namespace topo
