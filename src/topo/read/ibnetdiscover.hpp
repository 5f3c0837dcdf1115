// The output of `ibnetdiscover` (plain, -f, -g) and of `ibnetdiscover -p` from infiniband-diags:
// infiniband-diags/ibnetdiscover.c of rdma-core 44. ibsim's net files use the same language and are also
// accepted.
//
// The ports report contains no node GUIDs of HCAs: there an HCA is identified by its lowest port GUID, and
// consecutive ports with the same description are one HCA.
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// The form is detected from the text. Warnings printed by ibnetdiscover between the lines (a node that did
// not answer) are added to RawFabric::missing. Errors (Code::input) read "NAME:LINE: …" and give the token.
// One pass, time and memory linear in the text.
base::Expected<RawFabric> parse_ibnetdiscover(std::string_view text, std::string_view name);

} // namespace topo
