// Draws restartd's data over a picture of the fabric.
#pragma once

#include "base/expected.hpp"
#include "topo/draw/overlay.hpp"

#include <string_view>

namespace topo::tool {

// Adds the output of `railctl status --json`: states of hosts, jobs that hold hosts, and findings. Errors
// (Code::input): `name` with the missing or invalid field.
base::Expected<void> add_status(Overlay& overlay, const Fabric& fabric, std::string_view text,
                                std::string_view name);

} // namespace topo::tool
