// A fabric as a picture: SVG 1.1 without scripts, fonts or other files.
#pragma once

#include "topo/draw/overlay.hpp"
#include "topo/fabric.hpp"

#include <string>

namespace topo {

// Pods, units, leaves and hosts (draw/layout.hpp) with the overlay: a host's state and jobs in its cell, a
// tick for each of its links, a numbered mark for each finding, which is explained in the list below the
// picture. Every host, switch and link has a <title>; above 2,048 hosts healthy links are described at their
// leaf. Nothing is shown by colour alone (colours: Okabe and Ito, Color Universal Design, 2008). Light, or
// dark if the reader's system is. The same input always gives the same bytes.
std::string draw_svg(const Fabric& fabric, const Overlay& overlay);

} // namespace topo
