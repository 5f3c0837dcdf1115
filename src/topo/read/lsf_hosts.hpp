// LSF's lsb.hosts(5): compute units or, if there are none, host groups.
#pragma once

#include "base/expected.hpp"
#include "topo/read/outline.hpp"

#include <string_view>

namespace topo {

// With a ComputeUnit section, compute units are the units and the groups above them, and host groups only
// represent their hosts. Without it, host groups of hosts are units and groups of groups join them; groups
// that mix both, exclude hosts (~) or come from egroup (!) are ignored, with a note. '*' and "all" are
// matched against the Host section. Errors (Code::input) read "NAME:LINE: …" and give the token. Linear in
// the text and the names, except for wildcards, which are bounded.
base::Expected<Outline> parse_lsb_hosts(std::string_view text, std::string_view name);

} // namespace topo
