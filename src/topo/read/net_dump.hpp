// ibdiagnet2.net_dump, written by ibdiagnet: each switch, followed by a line per port. HCAs are those named
// by the switches, each identified by the GUID of its lowest port.
//     "MF0;leaf1:MQM9700/U1", Mellanox, 0x9803000000001000, LID 2
//       #    : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid      : N#  : NLID :
//       Neighbor Description
//      1/1/1 : 1   : ACT : LINK UP : 5   : 4x  : 100 : …        : NO-RTR : 0x946dae0000010011 : 1   : 1    :
//      "n001 mlx5_0"
// The columns depend on the release; they are identified by the heading. A neighbour's port is a number or,
// for a switch, the label at the start of its own line ("1/1/1", "sw1p1").
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// A text that ends within a line is truncated: reported in RawFabric::missing, as are neighbours that are not
// listed. Errors (Code::input) read "NAME:LINE: …" and give the token. Linear time.
base::Expected<RawFabric> parse_net_dump(std::string_view text, std::string_view name);

} // namespace topo
