// JSON of NVIDIA UFM's REST interface: /ufmRest/resources/ports or /ufmRest/resources/links, also with
// ?cable_info=true, alone or as the members "ports" and "links" of one object (or "data", of paged replies).
//
// A port is identified by its name, GUID_NUMBER ("900a840300ac8c40_5"); HCAs by the GUID of their lowest
// port. Ports contain rates, states and LIDs; links only the width. Switches are recognized by a description
// that ends in ":PORT", as UFM writes it, or by a GUID with several ports.
//
// Source: NVIDIA UFM Enterprise REST API Guide 6.11 to 6.22, "Ports REST API", "Links REST API".
#pragma once

#include "base/expected.hpp"
#include "topo/read/raw_fabric.hpp"

#include <string_view>

namespace topo {

// Errors (Code::input) read "NAME: …" and give the place in the document. Linear time.
base::Expected<RawFabric> parse_ufm(std::string_view text, std::string_view name);

} // namespace topo
