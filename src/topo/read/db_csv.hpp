// ibdiagnet2.db_csv, which ibdiagnet writes: sections of comma-separated values, each with a heading, between
// START_NAME and END_NAME. Read are NODES and LINKS (both required), PORTS (states, rates, LIDs, port GUIDs)
// and CABLE_INFO (ibdiagnet --get_cable_info); the columns are found by their names; the set depends on the
// release.
//
// Source: ibdiag_fabric.h of ibutils2, which loads such files; sections of ibdiagnet 2.1 to 2.13.
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// A text that ends within a section is truncated: reported in RawFabric::missing. Errors (Code::input) read
// "NAME:LINE: …" and give the cell. Linear time.
base::Expected<RawFabric> parse_db_csv(std::string_view text, std::string_view name);

} // namespace topo
