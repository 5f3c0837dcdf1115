// Output of iblinkinfo from infiniband-diags: a record per node with its ports, or (-l) a line per port; with
// --switches-only the HCAs are those named by the switches. Ports name their peers by LID and port, with -l
// by GUID.
//     Switch: 0x9803000000001000 leaf1:
//           2    1[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>       1    1[  ] "n001 mlx5_0" ( )
//
// An HCA is identified by the GUID of its lowest port, as in `ibnetdiscover -p`: node GUIDs are not in the
// text. In a fabric without a subnet manager all LIDs are 0: then the descriptions and ports of both ends
// decide.
//
// Source: infiniband-diags/iblinkinfo.c of rdma-core 44 and 50, and OFED 1.4 ("Switch 0x… NAME:", no colon).
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// A text that ends within a line is truncated: reported in RawFabric::missing, as are ports whose peer did
// not answer or is ambiguous. Errors (Code::input) read "NAME:LINE: …" and give the token. Linear time except
// for ports without LIDs, where it is linear in the ports with the same description.
base::Expected<RawFabric> parse_iblinkinfo(std::string_view text, std::string_view name);

} // namespace topo
