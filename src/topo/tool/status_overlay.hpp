// What restartd knows, laid over a picture of the fabric.
#pragma once

#include "base/expected.hpp"
#include "topo/draw/overlay.hpp"

#include <string_view>

namespace topo::tool {

// Lays what `railctl status --json` prints over the fabric: states of hosts, jobs that hold hosts, and
// findings. Errors (Code::input): `name` with the field that is missing or wrong.
base::Expected<void> add_status(Overlay& overlay, const Fabric& fabric, std::string_view text,
                                std::string_view name);

} // namespace topo::tool
