// The parts above and below the fabric in a picture: its numbers, the meaning of signs, the jobs, and the
// findings. Internal to src/topo/draw.
#pragma once

#include "topo/draw/canvas.hpp"
#include "topo/draw/words.hpp"

namespace topo::draw {

// Each draws from (margin, top) down, `width` wide, and returns its lower end.
int draw_heading(Canvas& canvas, const Fabric& fabric, const Overlay& overlay, const Layout& layout, int top,
                 int width);
int draw_findings(Canvas& canvas, const Overlay& overlay, int top, int width);

// The numbered mark of a finding around a point: round for an error, a square for a warning. No number if the
// mark is smaller than 5, or the number has more than two digits.
void draw_mark(Canvas& canvas, Severity severity, std::size_t finding, double x, double y, double radius);

} // namespace topo::draw
