// A fabric as readable text: pods, units and rails as a tree, equal units folded.
#pragma once

#include "topo/draw/overlay.hpp"
#include "topo/fabric.hpp"

#include <string>

namespace topo {

struct ShowOptions {
    bool every_unit = false;          // do not fold; one line for each rail of each unit
    const Overlay* overlay = nullptr; // states are counted by unit, and jobs listed with their locations
};

std::string show(const Fabric& fabric, ShowOptions options = {});

// Numbers, pods and units with their hosts and leaves, in the format of `railtopo show --json`.
std::string show_json(const Fabric& fabric);

} // namespace topo
