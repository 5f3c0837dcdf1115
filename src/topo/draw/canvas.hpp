// SVG elements as text, escaped. Internal to src/topo/draw.
#pragma once

#include "topo/draw/layout.hpp"

#include <string>
#include <string_view>

namespace topo::draw {

// As content of an element or value of an attribute: markup is escaped; what XML 1.0 forbids (control
// characters, invalid UTF-8) becomes U+FFFD.
std::string escaped(std::string_view text);

// Appends elements in drawing order. `style` is the value of class; coordinates are rounded to a tenth.
class Canvas {
public:
    void open(std::string_view style = {});
    void close();
    void title(std::string_view text); // the tooltip of the enclosing element
    // An element with its own title, or none if `hover` is empty.
    void rect(Box box, std::string_view style, int radius = 0, std::string_view hover = {});
    void path(std::string_view data, std::string_view style, std::string_view hover = {});
    void line(double x1, double y1, double x2, double y2, std::string_view style,
              std::string_view hover = {});
    void circle(double x, double y, double r, std::string_view style);
    void square(double x, double y, double half, std::string_view style); // around a point
    enum class Anchor { start, middle, end };
    void text(double x, double y, int size, std::string_view style, std::string_view text,
              Anchor anchor = Anchor::start);
    void raw(std::string_view markup) { out_ += markup; }

    std::string take() { return std::move(out_); }

private:
    void finish(std::string_view tag, std::string_view hover);
    std::string out_;
};

} // namespace topo::draw
