// The text of `ibnetdiscover` (plain, -f, -g) and of `ibnetdiscover -p`, as infiniband-diags print it:
// infiniband-diags/ibnetdiscover.c of rdma-core 44. ibsim's net files are the same language and are read too.
//
// The ports report has no node GUIDs of HCAs: there an HCA's lowest port GUID stands for it, and ports with
// one description next to each other are one HCA.
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// Which of the two forms it is shows from the text. Warnings that ibnetdiscover printed between the lines (a
// node that did not answer) go to RawFabric::missing. Errors (Code::input) say "NAME:LINE: …" and the token.
// One pass, time and memory linear in the text.
base::Expected<RawFabric> parse_ibnetdiscover(std::string_view text, std::string_view name);

} // namespace topo
