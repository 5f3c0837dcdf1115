// ibdiagnet2.net_dump, which ibdiagnet writes: each switch, and a line a port below it. HCAs are those that
// the switches name, each known by the GUID of its lowest port.
//     "MF0;leaf1:MQM9700/U1", Mellanox, 0x9803000000001000, LID 2
//       #    : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid      : N#  : NLID :
//       Neighbor Description
//      1/1/1 : 1   : ACT : LINK UP : 5   : 4x  : 100 : …        : NO-RTR : 0x946dae0000010011 : 1   : 1    :
//      "n001 mlx5_0"
// Releases differ in their columns; the names in the heading say which is which. A neighbour's port is a
// number or, of a switch, the label that its own line has in front ("1/1/1", "sw1p1").
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// A text that ends within a line was cut: said in RawFabric::missing, as are neighbours that are not listed.
// Errors (Code::input) say "NAME:LINE: …" and the token. Linear time.
base::Expected<RawFabric> parse_net_dump(std::string_view text, std::string_view name);

} // namespace topo
