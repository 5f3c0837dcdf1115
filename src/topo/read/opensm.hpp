// opensm-subnet.lst: written by opensm into its dump directory at each sweep (always, or with -D 0x43
// together with the routes), and by ibdiagnet as ibdiagnet2.lst. One line per link and end: { CA Ports:01
// SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {n001 mlx5_0} LID:000A PN:01 }
//     { SW … } PHY=4x LOG=ACT SPD=50 (one line; Ports, LID and PN in hexadecimal; SPD in Gbit/s per lane)
//
// Source: opensm/osm_dump.c, dump_topology_node(), of opensm 3.3.23.
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// A text that ends within a line is truncated: reported in RawFabric::missing. Errors (Code::input) read
// "NAME:LINE: …" and give the token. One pass, time and memory linear in the text.
base::Expected<RawFabric> parse_opensm(std::string_view text, std::string_view name);

} // namespace topo
