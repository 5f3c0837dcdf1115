// The cables and transceivers in the ports, from sources that report them.
#pragma once

#include "topo/read/raw_fabric.hpp"

#include <optional>
#include <string_view>

namespace topo {

// Stores one attribute of a module under the source's name: "PN", "Temperature", "RX1Power", "serial_number".
// '_', blanks and case are ignored in names. Unknown names, "N/A" and invalid values are ignored.
//     lengths       "3 m", "50 cm", "2 km"; a bare number is in metres
//     optical power "-1.23 dBm", "0.75 mW"; a bare number is in 0.1 microwatt, the modules' unit
void tell_module(Module& module, std::string_view what, std::string_view value);

// Whether any attribute was stored.
bool says_anything(const Module& module);

// Adds them to the links of `fabric`, which was assembled from `raw`. Linear time.
void attach_modules(Fabric& fabric, const RawFabric& raw);

} // namespace topo
