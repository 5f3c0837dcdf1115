// Text of iblinkinfo of infiniband-diags: a record a node, its ports below it, or (-l) a line a port; with
// --switches-only the HCAs are those that the switches name. Ports name their peers by LID and port, with -l
// by GUID.
//     Switch: 0x9803000000001000 leaf1:
//           2    1[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>       1    1[  ] "n001 mlx5_0" ( )
//
// An HCA is known by the GUID of its lowest port, as in `ibnetdiscover -p`: node GUIDs are not in the text.
// Where a fabric has no subnet manager all LIDs are 0: then the descriptions and ports of both ends decide.
//
// Source: infiniband-diags/iblinkinfo.c of rdma-core 44 and 50, and OFED 1.4 ("Switch 0x… NAME:", no colon).
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// A text that ends within a line was cut: said in RawFabric::missing, as are ports whose peer did not answer
// or cannot be told from another. Errors (Code::input) say "NAME:LINE: …" and the token. Linear time but for
// ports without LIDs, where it is linear in the ports that one description has.
base::Expected<RawFabric> parse_iblinkinfo(std::string_view text, std::string_view name);

} // namespace topo
