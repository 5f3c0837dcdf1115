// What is plugged into the ports: cables and transceivers, from sources that tell of them.
#pragma once

#include "topo/read/raw_fabric.hpp"

#include <optional>
#include <string_view>

namespace topo {

// One thing that a source says about a module, by the source's name for it: "PN", "Temperature", "RX1Power",
// "serial_number". Names are the same with and without '_', blanks and capitals. What is not known by that
// name, "N/A" and what cannot be understood is passed over.
//     lengths       "3 m", "50 cm", "2 km"; a bare number is in metres
//     optical power "-1.23 dBm", "0.75 mW"; a bare number is in 0.1 microwatt, as the modules count
void tell_module(Module& module, std::string_view what, std::string_view value);

// Something was told of it.
bool says_anything(const Module& module);

// Puts them at the links of `fabric`, which was assembled of `raw`. Linear time.
void attach_modules(Fabric& fabric, const RawFabric& raw);

} // namespace topo
